//! A buffer cut into blocks that stand in the order of the ranks.

use std::ops::Range;

use super::call::Call;
use crate::{Rank, Result, Work, WorkKind};

/// Equal blocks, one a rank; the last ones may be shorter or empty.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    count: usize,
    block_bytes: usize,
    total_bytes: usize,
}

impl Blocks {
    /// `total_bytes` in `count` blocks, as equal as whole bytes allow.
    pub(super) fn new(count: usize, total_bytes: usize) -> Self {
        Blocks { count, block_bytes: total_bytes.div_ceil(count), total_bytes }
    }

    pub(super) fn block_bytes(self) -> usize {
        self.block_bytes
    }

    /// Where `blocks` stand, as bytes.
    pub(super) fn bytes(self, blocks: Range<usize>) -> Range<usize> {
        let place = |block: usize| (block * self.block_bytes).min(self.total_bytes);
        place(blocks.start)..place(blocks.end)
    }

    /// Where `length` blocks from `first` on stand, around the end: one range, or two of which the second begins at 0.
    pub(super) fn around(self, first: usize, length: usize) -> (Range<usize>, Range<usize>) {
        let first = first % self.count;
        let end = first + length;
        let wrapped = end.saturating_sub(self.count);
        (self.bytes(first..end.min(self.count)), self.bytes(0..wrapped))
    }
}

/// Two disjoint parts of one buffer: one to send, one to receive into.
pub(super) fn two_parts(
    buffer: &mut [u8],
    send: Range<usize>,
    receive: Range<usize>,
) -> (&[u8], &mut [u8]) {
    if send.end <= receive.start {
        let (low, high) = buffer.split_at_mut(receive.start);
        (&low[send], &mut high[..receive.len()])
    } else {
        let (low, high) = buffer.split_at_mut(send.start);
        (&high[..send.len()], &mut low[receive])
    }
}

/// Copies both ranges, one behind the other, into a buffer of their own.
pub(super) fn packed<R: Rank + ?Sized>(
    machine: &mut R,
    buffer: &[u8],
    (first, second): &(Range<usize>, Range<usize>),
) -> Vec<u8> {
    charge_copy(machine, first.len() + second.len());
    [&buffer[first.clone()], &buffer[second.clone()]].concat()
}

/// Copies `data` back into both ranges.
pub(super) fn unpack<R: Rank + ?Sized>(
    machine: &mut R,
    data: &[u8],
    buffer: &mut [u8],
    (first, second): (Range<usize>, Range<usize>),
) {
    charge_copy(machine, data.len());
    let (start, rest) = data.split_at(first.len());
    buffer[first].copy_from_slice(start);
    buffer[second].copy_from_slice(rest);
}

/// Lets a simulated machine know of a copy. The copy itself takes place in any case, outside of the charge: what a
/// collective brings may steer the program.
pub(super) fn charge_copy<R: Rank + ?Sized>(machine: &mut R, bytes: usize) {
    machine.compute(Work::new(WorkKind::CopyBytes, bytes as u64), &mut || {});
}

/// The same for `count` copies of `bytes` bytes each, to or from places that lie apart.
pub(super) fn charge_copies<R: Rank + ?Sized>(machine: &mut R, count: usize, bytes: usize) {
    let copy = Work::new(WorkKind::CopyBytes, bytes as u64);
    machine.compute(copy.repeated(count as u64), &mut || {});
}

/// The size of the subtree of `place` in the binomial tree over places 0 to `size - 1`, as a power of two: the tree's
/// own end may cut it short. The parent of `place` stands that much lower, a child a smaller power of two higher.
pub(super) fn subtree(place: usize, size: usize) -> usize {
    if place == 0 { size.next_power_of_two() } else { 1 << place.trailing_zeros() }
}

/// The children of `place`, those with the largest subtrees first, each with the places of its subtree.
pub(super) fn children(place: usize, size: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let levels = subtree(place, size).trailing_zeros();
    (0..levels)
        .rev()
        .map(move |level| place + (1 << level)..(place + (2 << level)).min(size))
        .filter(move |places| places.start < size)
}

/// Sends one run of blocks, around the end of the buffer if need be.
pub(super) fn send_around<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    to: usize,
    buffer: &[u8],
    ranges: (Range<usize>, Range<usize>),
) -> Result<()> {
    if ranges.1.is_empty() {
        return call.send(machine, to, &buffer[ranges.0]);
    }
    let data = packed(machine, buffer, &ranges);
    call.send(machine, to, &data)
}

/// Receives one run of blocks, around the end of the buffer if need be.
pub(super) fn receive_around<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    from: usize,
    buffer: &mut [u8],
    ranges: (Range<usize>, Range<usize>),
) -> Result<()> {
    if ranges.1.is_empty() {
        return call.receive(machine, from, &mut buffer[ranges.0]);
    }
    let mut data = vec![0; ranges.0.len() + ranges.1.len()];
    call.receive(machine, from, &mut data)?;
    unpack(machine, &data, buffer, ranges);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_around_the_end_are_two_ranges() {
        let blocks = Blocks::new(4, 10);
        assert_eq!(blocks.bytes(0..4), 0..10);
        assert_eq!(blocks.bytes(3..4), 9..10);
        assert_eq!(blocks.around(3, 2), (9..10, 0..3));
        assert_eq!(blocks.around(5, 2), (3..9, 0..0));
    }

    #[test]
    fn every_place_but_the_root_has_one_parent() {
        for size in 1..40 {
            let mut parents = vec![0; size];
            for place in 0..size {
                for places in children(place, size) {
                    parents[places.start] += 1;
                    assert_eq!(places.start - subtree(places.start, size), place);
                    let end = (places.start + subtree(places.start, size)).min(size);
                    assert_eq!(places.end, end, "the subtree of {} of {size}", places.start);
                }
            }
            assert!(parents[0] == 0 && parents[1..].iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn two_parts_of_a_buffer_in_either_order() {
        let mut buffer = [0, 1, 2, 3, 4, 5];
        let (send, receive) = two_parts(&mut buffer, 4..6, 1..3);
        assert_eq!((send, &*receive), (&[4, 5][..], &[1, 2][..]));
        let (send, receive) = two_parts(&mut buffer, 0..0, 0..6);
        assert_eq!((send.len(), receive.len()), (0, 6));
        let (send, receive) = two_parts(&mut buffer, 0..6, 0..0);
        assert_eq!((send.len(), receive.len()), (6, 0));
    }
}
