//! The memory of data, as ranges of addresses: a datatype with gaps occupies only its pieces.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::abi::*;
use crate::data::{Data, Part, size_of};
use crate::mpi;

/// Longest datatype with known pieces, and maximum number of pieces of an operation. Longer ones are not checked: types
/// of absolute addresses may span the whole memory.
const SPAN_MAX_BYTES: i64 = 64 << 20;
const PIECES_MAX: usize = 1 << 18;

/// Lowest address of data. Nothing is ever mapped below it.
const LEAST_ADDRESS: usize = 4096;

/// Address of elements of which only offsets are needed, far from both ends of the memory.
const ELEMENTS_AT: usize = 1 << 62;

/// Length of the blocks in which memory is read.
const BLOCK_BYTES: usize = 64 << 10;

/// Length of a page. Pieces with a smaller gap between them are read together, because an unmapped page between them
/// would be a longer gap.
const PAGE_BYTES: usize = 4096;

/// Memory, as ranges that are sorted and do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    ranges: Vec<Range<usize>>,
}

impl Region {
    pub(crate) fn new(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        Region { ranges }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the first address.
    pub(crate) fn start(&self) -> usize {
        self.ranges.first().map_or(0, |range| range.start)
    }

    /// Returns the address after the last byte.
    pub(crate) fn end(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Returns the first address that two regions have in common, and the number of common bytes.
    pub(crate) fn common(&self, other: &Region) -> Option<(usize, usize)> {
        let (mut own, mut others) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut found: Option<(usize, usize)> = None;
        while let (Some(one), Some(two)) = (own.peek(), others.peek()) {
            let (start, end) = (one.start.max(two.start), one.end.min(two.end));
            if start < end {
                let (first, bytes) = found.unwrap_or((start, 0));
                found = Some((first, bytes + end - start));
            }
            if one.end <= two.end {
                own.next();
            } else {
                others.next();
            }
        }
        found
    }

    /// Passes its bytes on in blocks. Returns false if some could not be read because the program has freed them.
    pub(crate) fn read(&self, mut each: impl FnMut(&[u8])) -> bool {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for range in &self.ranges {
            for start in range.clone().step_by(BLOCK_BYTES) {
                let piece = start..range.end.min(start + BLOCK_BYTES);
                let fits = pieces.first().zip(pieces.last()).is_none_or(|(first, last)| {
                    piece.end - first.start <= BLOCK_BYTES && piece.start - last.end < PAGE_BYTES
                });
                if !fits && !read_pieces(&mut pieces, &mut block, &mut each) {
                    return false;
                }
                pieces.push(piece);
            }
        }
        read_pieces(&mut pieces, &mut block, &mut each)
    }

    /// Returns a checksum of the bytes: FNV-1a over words, then over the remaining bytes of each block. Returns `None`
    /// if they cannot be read.
    pub(crate) fn sum(&self) -> Option<u64> {
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        let is_read = self.read(|bytes| {
            let (words, rest) = bytes.as_chunks::<8>();
            let words = words.iter().map(|word| u64::from_ne_bytes(*word));
            let all = words.chain(rest.iter().map(|&byte| u64::from(byte)));
            sum = all.fold(sum, |sum, next| (sum ^ next).wrapping_mul(0x0100_0000_01b3));
        });
        is_read.then_some(sum)
    }
}

/// Reads from the first of some pieces to the last, and passes each on.
fn read_pieces(
    pieces: &mut Vec<Range<usize>>,
    block: &mut Vec<u8>,
    each: &mut impl FnMut(&[u8]),
) -> bool {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return true };
    let start = first.start;
    block.resize(last.end - start, 0);
    if !copy(start, block) {
        return false;
    }
    for piece in pieces.drain(..) {
        each(&block[piece.start - start..piece.end - start]);
    }
    true
}

/// Copies memory of this process through the system, which reports unmapped memory: a program that frees memory too
/// early must not crash here.
fn copy(from: usize, to: &mut [u8]) -> bool {
    // Relaxed: its partner is the store below.
    if IS_FORBIDDEN.load(Ordering::Relaxed) {
        return false;
    }
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: from as *mut _, iov_len: to.len() };
    // SAFETY: the system writes to `to`, which is live and has the given length, and checks the other address.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    let error = std::io::Error::last_os_error().raw_os_error();
    // Some containers forbid that call. Contents are not checked there, because a plain copy could end the program.
    if matches!(error, Some(libc::ENOSYS | libc::EPERM)) && copied < 0 {
        // Relaxed: it only avoids calls that would fail too.
        IS_FORBIDDEN.store(true, Ordering::Relaxed);
    }
    copied == to.len() as isize
}

/// True if the system has refused to copy this process's own memory.
static IS_FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// The pieces of datatypes, by their handles.
#[derive(Default)]
pub(crate) struct TypeMaps {
    maps: HashMap<Datatype, Option<Rc<TypeMap>>>,
}

/// The pieces of an element: offsets and lengths, in the order of offsets; and the distance between elements.
#[derive(Debug, PartialEq, Eq)]
struct TypeMap {
    pieces: Vec<(i64, i64)>,
    extent: i64,
}

impl TypeMaps {
    /// Removes a handle, because it may be reused for another type.
    pub(crate) fn remove(&mut self, datatype: Datatype) {
        self.maps.remove(&datatype);
    }

    /// Returns the memory of data, in a communicator in which this rank exchanges data with `members` ranks. Returns
    /// `None` if there are too many pieces.
    ///
    /// # Safety
    /// The arrays of counts and displacements have a number for each.
    pub(crate) unsafe fn region(&mut self, data: &Data, members: u32) -> Option<Region> {
        let mut ranges = Vec::new();
        let mut is_known = true;
        data.each_part(members, |part| is_known &= self.add(&mut ranges, part).is_some());
        is_known.then(|| Region::new(ranges))
    }

    /// Returns the offsets and lengths of the pieces of elements, from their address. Returns `None` if there are too many.
    pub(crate) fn offsets(&mut self, count: i64, datatype: Datatype) -> Option<Vec<(i64, usize)>> {
        let mut ranges = Vec::new();
        let start = ELEMENTS_AT as *const c_void;
        let part = Part { start, count, datatype, displacement: 0, in_elements: false };
        self.add(&mut ranges, part)?;
        let region = Region::new(ranges);
        let offset = |range: &Range<usize>| (range.start as i64 - ELEMENTS_AT as i64, range.len());
        Some(region.ranges.iter().map(offset).collect())
    }

    /// Adds the ranges of a part. Returns `None` if it has too many pieces.
    fn add(&mut self, ranges: &mut Vec<Range<usize>>, part: Part) -> Option<()> {
        let count = usize::try_from(part.count).ok()?;
        if count == 0 || part.start as usize == IN_PLACE || size_of(part.datatype) == 0 {
            return Some(());
        }
        let map = self.maps.entry(part.datatype).or_insert_with_key(|&one| TypeMap::find(one));
        let map = map.clone()?;
        let scale = if part.in_elements { map.extent } else { 1 };
        let start = (part.start as i64).wrapping_add(part.displacement.wrapping_mul(scale));
        map.add(ranges, start, count)
    }
}

impl TypeMap {
    /// Finds the pieces by means of the library: it unpacks an element of ones into zeros.
    fn find(datatype: Datatype) -> Option<Rc<Self>> {
        let (mut low, mut span, mut least, mut extent) = (0, 0, 0, 0);
        mpi::type_true_extent(datatype, &mut low, &mut span);
        mpi::type_extent(datatype, &mut least, &mut extent);
        let size = size_of(datatype) as i64;
        let is_long = span.max(size) > SPAN_MAX_BYTES;
        if size == span && (is_long || datatype < DATATYPES_END) {
            return Some(Rc::new(TypeMap { pieces: vec![(low, span)], extent }));
        }
        if is_long || span < 0 {
            return None;
        }
        let packed = vec![u8::MAX; size as usize];
        let mut element = vec![0_u8; span as usize];
        let origin = element.as_mut_ptr().wrapping_offset(-low as isize);
        let (mut position, from) = (0, packed.as_ptr().cast());
        let code = mpi::unpack(from, size, &mut position, origin.cast(), 1, datatype, COMM_SELF);
        (code == SUCCESS).then(|| Rc::new(TypeMap { pieces: pieces(&element, low), extent }))
    }

    fn add(&self, ranges: &mut Vec<Range<usize>>, start: i64, count: usize) -> Option<()> {
        let mut push = |offset: i64, length: i64| {
            let start = usize::try_from(start.checked_add(offset)?).ok()?;
            let range = start..start.checked_add(usize::try_from(length).ok()?)?;
            (range.start >= LEAST_ADDRESS).then(|| ranges.push(range))
        };
        if let [(offset, length)] = self.pieces[..]
            && length == self.extent
        {
            return push(offset, length.checked_mul(i64::try_from(count).ok()?)?);
        }
        if count.checked_mul(self.pieces.len())? > PIECES_MAX {
            return None;
        }
        for element in 0..count as i64 {
            let from = element.checked_mul(self.extent)?;
            for &(offset, length) in &self.pieces {
                push(from + offset, length)?;
            }
        }
        Some(())
    }
}

/// Returns the runs of bytes that are not zero: their offsets, from `low` on, and lengths.
fn pieces(element: &[u8], low: i64) -> Vec<(i64, i64)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for run in element.chunk_by(|one, next| (*one == 0) == (*next == 0)) {
        if run[0] != 0 {
            pieces.push((low + at, run.len() as i64));
        }
        at += run.len() as i64;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(ranges: &[(usize, usize)]) -> Region {
        Region::new(ranges.iter().map(|&(start, end)| start..end).collect())
    }

    #[test]
    fn ranges_that_touch_are_one_and_empty_ones_are_none() {
        let found = region(&[(20, 30), (5, 5), (10, 20), (40, 50), (42, 45)]);
        assert_eq!(found.ranges, [10..30, 40..50]);
        assert_eq!((found.start(), found.bytes()), (10, 30));
    }

    /// Interleaved columns have nothing in common; shifted by half a piece, they share half of each.
    #[test]
    fn regions_have_those_bytes_in_common_that_lie_in_pieces_of_both() {
        let columns = |at: usize| region(&[(at, at + 4), (at + 8, at + 12), (at + 16, at + 20)]);
        assert_eq!(columns(100).common(&columns(104)), None);
        assert_eq!(columns(100).common(&columns(102)), Some((102, 6)));
        assert_eq!(columns(100).common(&columns(100)), Some((100, 12)));
        assert_eq!(columns(100).common(&region(&[(0, 500)])), Some((100, 12)));
        assert_eq!(columns(100).common(&Region::default()), None);
    }

    #[test]
    fn runs_of_an_element_are_its_pieces() {
        assert_eq!(pieces(&[255, 255, 0, 0, 255, 0], -8), [(-8, 2), (-4, 1)]);
        assert_eq!(pieces(&[], 0), []);
    }

    /// Elements of two pieces at 0 and 8 that are 16 bytes apart.
    #[test]
    fn elements_follow_one_another_by_their_extent() {
        let map = TypeMap { pieces: vec![(0, 4), (8, 2)], extent: 16 };
        let mut ranges = Vec::new();
        map.add(&mut ranges, 5000, 2).unwrap();
        assert_eq!(ranges, [5000..5004, 5008..5010, 5016..5020, 5024..5026]);
        assert_eq!(map.add(&mut ranges, 5000, PIECES_MAX), None);
        assert_eq!(map.add(&mut ranges, 0, 1), None, "an address that is none");
        let dense = TypeMap { pieces: vec![(0, 8)], extent: 8 };
        let mut ranges = Vec::new();
        dense.add(&mut ranges, 5000, PIECES_MAX).unwrap();
        assert_eq!(Region::new(ranges), region(&[(5000, 5000 + 8 * PIECES_MAX)]));
    }

    #[test]
    fn memory_is_read_piece_by_piece_however_long_and_what_is_freed_is_noticed() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|index| index as u8).collect();
        let at = bytes.as_ptr() as usize;
        // Two close pieces, one more than a page away, and one longer than two blocks.
        let chosen = [0..10, 20..30, 9000..9010, 20_000..20_000 + 2 * BLOCK_BYTES + 7];
        let all = region(&chosen.clone().map(|one| (at + one.start, at + one.end)));
        let mut found = Vec::new();
        assert!(all.read(|block| found.extend_from_slice(block)));
        let expected: Vec<u8> = chosen.into_iter().flat_map(|one| bytes[one].to_vec()).collect();
        assert_eq!(found, expected);
        assert_eq!(all.sum(), all.sum());
        assert_eq!(region(&[(LEAST_ADDRESS, LEAST_ADDRESS + 8)]).sum(), None);
    }
}
