//! Whether the memory of posted operations is used by others, or changed, before they end.

use std::ffi::c_void;

use profile::FindingKind;
use profile::layout::{finding, head, start};

use crate::abi::*;
use crate::data::{Data, size_of};
use crate::mapped::Mapped;
use crate::mpi;

/// The memory of an operation that has not ended.
#[derive(Clone, Copy)]
struct Posted {
    request: Request,
    start: usize,
    end: usize,
    site: u16,
    is_send: bool,
    /// Whether the handle is no other operation's. A library may have one handle for all sends that were over when they
    /// began; then it cannot be told which of them a call ends, and nothing is said of any.
    is_certain: bool,
    /// The checksum of a send's data when it was posted.
    sum: u64,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Checks {
    posted: Vec<Posted>,
}

impl Checks {
    /// An operation was posted at a place: its memory must not be in use by another. Only contiguous memory is checked.
    pub(crate) fn posted(
        &mut self,
        mapped: &mut Mapped,
        request: Request,
        data: Data,
        (site, is_send): (u16, bool),
    ) {
        let Some(bytes) = bytes_without_gaps(&data).filter(|_| request != REQUEST_NULL) else {
            return;
        };
        let start = data.start as usize;
        let sum = if is_send { sum(data.start, bytes) } else { 0 };
        let mut is_certain = true;
        for old in self.posted.iter_mut().filter(|old| old.request == request) {
            (old.is_certain, is_certain) = (false, false);
        }
        let end = start + bytes;
        let new = Posted { request, start, end, site, is_send, is_certain, sum };
        let overlaps = |old: &&Posted| {
            old.is_certain
                && new.is_certain
                && old.start < new.end
                && new.start < old.end
                && !(old.is_send && new.is_send)
        };
        if let Some(old) = self.posted.iter().find(overlaps) {
            let kind = match (new.is_send, old.is_send) {
                (true, _) => FindingKind::SendOverReceive,
                (_, true) => FindingKind::ReceiveOverSend,
                _ => FindingKind::ReceivesOverlap,
            };
            let first = new.start.max(old.start);
            let bytes = new.end.min(old.end) - first;
            tell(mapped, kind, (site, old.site), first, bytes);
        }
        self.posted.push(new);
    }

    /// An operation has ended in a call at a place.
    pub(crate) fn ended(&mut self, mapped: &mut Mapped, request: Request, site: u16) {
        let Some(at) = self.posted.iter().position(|one| one.request == request) else { return };
        let old = self.posted.remove(at);
        let Posted { start, end, site: posted_at, sum: before, .. } = old;
        if old.is_send && old.is_certain && sum(start as *const c_void, end - start) != before {
            tell(mapped, FindingKind::SendChanged, (site, posted_at), start, end - start);
        }
    }

    /// Nothing is known of an operation any more.
    pub(crate) fn forget(&mut self, request: Request) {
        self.posted.retain(|one| one.request != request);
    }
}

/// The bytes of data that lie without gaps from their address on; nothing of others, and of none.
fn bytes_without_gaps(data: &Data) -> Option<usize> {
    let size = size_of(data.datatype);
    let (mut low, mut extent) = (0, 0);
    if data.datatype >= DATATYPES_END {
        mpi::type_true_extent(data.datatype, &mut low, &mut extent);
        if low != 0 || extent as u64 != size {
            return None;
        }
    }
    let bytes = usize::try_from(data.count).ok()?.checked_mul(size as usize)?;
    (bytes > 0 && data.start as usize > IN_PLACE).then_some(bytes)
}

/// A number that changes with the data: FNV-1a over words, then over the bytes that are left.
fn sum(start: *const c_void, bytes: usize) -> u64 {
    // SAFETY: the program has given this memory to an operation that has not returned it, or has returned it just now.
    let data = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), bytes) };
    let (words, rest) = data.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word));
    let all = words.chain(rest.iter().map(|&byte| u64::from(byte)));
    all.fold(0xcbf2_9ce4_8422_2325, |sum, next| (sum ^ next).wrapping_mul(0x0100_0000_01b3))
}

/// Notes a mistake, or that it was made again.
fn tell(
    mapped: &mut Mapped,
    kind: FindingKind,
    (site, other): (u16, u16),
    at: usize,
    bytes: usize,
) {
    let count = mapped.read(head::FINDINGS) as usize;
    let entry = |index: usize| start::FINDINGS + index * finding::WORDS;
    for index in 0..count {
        let same = |word: usize, value: u64| mapped.read(entry(index) + word) == value;
        if same(finding::KIND, kind as u64)
            && same(finding::SITE, site.into())
            && same(finding::OTHER, other.into())
        {
            return mapped.add(entry(index) + finding::TIMES, 1);
        }
    }
    if count == finding::MOST {
        return;
    }
    let words = [kind as u64, site.into(), other.into(), at as u64, bytes as u64, 1];
    for (index, word) in words.into_iter().enumerate() {
        mapped.write(entry(count) + index, word);
    }
    mapped.write(head::FINDINGS, count as u64 + 1);
}
