//! How members combine the parts of a step.
//!
//! Elements are combined from the last member's to the first's, the lower always on the left. So the result
//! is the same whoever computes it, and right for operations that do not commute.

use std::ops::Range;

use contract::{Apply, Combine, Result};

use super::agreement::Awaited;
use super::pieces::copy;
use super::{Host, Memory, Team};
use crate::board::SLOTS;
use crate::ring::LINE_BYTES;

/// From this length of a piece on the members combine it in chunks, each of which one member claims. Below,
/// each does all of it for itself.
const REDUCE_CHUNKS_FROM_BYTES: usize = 2 << 10;
/// What a member claims at once. It stays in the nearest cache while all members' parts are combined.
const CHUNK_BYTES: usize = 8 << 10;

/// The length of a chunk of whole elements, each of which fits one ([`Combine::LONGEST_ELEMENT`]).
pub(super) fn chunk_bytes(combine: &Combine<'_>) -> usize {
    CHUNK_BYTES / combine.element_bytes * combine.element_bytes
}

/// One of several parts of `bytes` bytes, whole elements each.
///
/// A part has whole lines, where elements fill them. Then nobody writes to a line that another reads.
pub(super) fn part_of(
    index: usize,
    parts: usize,
    bytes: usize,
    element_bytes: usize,
) -> Range<usize> {
    let unit = if LINE_BYTES.is_multiple_of(element_bytes) { LINE_BYTES } else { element_bytes };
    let start = |index: usize| match index == parts {
        true => bytes,
        false => bytes / parts * index / unit * unit,
    };
    start(index)..start(index + 1)
}

impl Team {
    /// Whether the members combine a piece of that length in chunks. Two members that have a processor each
    /// would only wait for each other.
    pub(super) fn combines_in_chunks(&self, bytes: usize) -> bool {
        bytes >= REDUCE_CHUNKS_FROM_BYTES && (self.size() > 2 || self.oversubscribed)
    }

    /// Where this rank reads its own part: in the caller's memory, unless the result goes there. To read what
    /// was just put waits until that line is this core's again. See
    /// docs/measurements.md#a-ranks-own-part-of-a-reduction.
    pub(super) fn own_part(
        &self,
        epoch: u32,
        bytes: usize,
        memory: Memory,
        start: usize,
    ) -> *const u8 {
        if memory.send == memory.receive {
            return self.place(self.me, epoch, bytes);
        }
        memory.send.wrapping_add(start)
    }

    /// Combines all parts of the step into `to`, which has room for `bytes` bytes. This rank's part is at `own`.
    pub(super) fn combine_all(
        &self,
        epoch: u32,
        bytes: usize,
        chunk_bytes: usize,
        (own, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let last = self.size() - 1;
        let parts = |member: usize| match member == self.me {
            true => own,
            false => self.place(member, epoch, bytes).cast_const(),
        };
        for start in (0..bytes).step_by(chunk_bytes) {
            let here = chunk_bytes.min(bytes - start);
            // SAFETY: every member has put `bytes` bytes, and leaves them until all have ended the step. Our
            // own are there for as long as the call lasts.
            unsafe {
                let to = to.add(start);
                let mut right = parts(last).add(start);
                for member in (0..last).rev() {
                    apply(parts(member).add(start), right, to, here);
                    right = to.cast_const();
                }
                if last == 0 {
                    copy(right, to, here);
                }
            }
        }
    }

    /// Claims chunks of the step's parts as long as there are any, and combines each in the last member's slot.
    pub(super) fn combine_chunks<H: Host>(
        &self,
        host: &mut H,
        epoch: u32,
        bytes: usize,
        chunk_bytes: usize,
        apply: &mut Apply<'_>,
    ) {
        let counters = &self.board(0).counters[epoch as usize % SLOTS];
        let (last, chunks) = (self.size() - 1, bytes.div_ceil(chunk_bytes) as u32);
        while let Some(claimed) = counters.claimed.count_below(epoch, chunks) {
            let start = (claimed as usize - 1) * chunk_bytes;
            let here = chunk_bytes.min(bytes - start);
            for member in (0..last).rev() {
                let (left, right) =
                    (self.place(member, epoch, bytes), self.place(last, epoch, bytes));
                // SAFETY: the chunk is ours alone, and every member has put `bytes` bytes.
                unsafe { apply(left.add(start), right.add(start), right.add(start), here) };
            }
            if counters.done.count(epoch) == chunks && self.oversubscribed {
                self.wake_others(host);
            }
        }
    }

    /// Waits until all chunks are combined, and copies the result to `to`.
    pub(super) fn take_combined<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        bytes: usize,
        chunk_bytes: usize,
        to: *mut u8,
    ) -> Result<()> {
        let chunks = bytes.div_ceil(chunk_bytes) as u32;
        self.wait_for(host, epoch, Awaited::Nobody, |team| {
            team.board(0).counters[epoch as usize % SLOTS].done.is(epoch, chunks)
        })?;
        // SAFETY: the result lies in the last member's slot, which stays until this step has ended; `to` has
        // room for it.
        unsafe { copy(self.place(self.size() - 1, epoch, bytes), to, bytes) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_elements_and_cover_all_once() {
        // 100 elements of 12 bytes for three: 400 bytes each, of which 396 are whole elements; 800 hold 792.
        let of_three = |index| part_of(index, 3, 1200, 12);
        assert_eq!([of_three(0), of_three(1), of_three(2)], [0..396, 396..792, 792..1200]);
        // Of elements that fill lines whole lines: 500 hold 448.
        assert_eq!([part_of(0, 2, 1000, 8), part_of(1, 2, 1000, 8)], [0..448, 448..1000]);
        assert_eq!(part_of(0, 1, 1000, 8), 0..1000);
    }
}
