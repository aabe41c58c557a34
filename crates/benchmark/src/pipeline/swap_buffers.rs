//! Blocks that stay on their rank: sender and receiver swap buffers, and nothing is copied.
//!
//! A receiver that waits for a block of its own rank puts its empty buffer here. The sender leaves the full buffer and
//! takes the empty one. An empty buffer represents a data request.

use std::collections::VecDeque;

use contract::Buffer;

use super::pending::{Arrival, Arrived, BufferPlace, Purpose};

/// A buffer that waits to be swapped for a full one, with its receiver's slot and piece.
struct Open {
    slot: usize,
    piece: usize,
    empty: Buffer,
}

/// The buffers to be swapped on one rank.
pub(super) struct BufferSwaps {
    /// Waiting buffers by the level that receives.
    open: Vec<VecDeque<Open>>,
    /// Swaps that were not yet reported to either side.
    done: VecDeque<(usize, Purpose, Buffer)>,
}

impl BufferSwaps {
    /// Allocates for this number of `levels`, with at most `room` buffers waiting at each.
    pub(super) fn new(levels: usize, room: usize) -> Self {
        let open = (0..levels).map(|_| VecDeque::with_capacity(room)).collect();
        BufferSwaps { open, done: VecDeque::with_capacity(2 * room) }
    }

    /// Records that `level` waits for a piece.
    pub(super) fn open(&mut self, level: usize, slot: usize, piece: usize, empty: Buffer) {
        self.open[level].push_back(Open { slot, piece, empty });
    }

    /// Returns whether `level` waits for a piece.
    pub(super) fn is_requested(&self, level: usize) -> bool {
        !self.open[level].is_empty()
    }

    /// Swaps `full`, of `place` at `level`, for the buffer that waits longest at the next level. Returns `full` if
    /// none waits.
    pub(super) fn exchange(
        &mut self,
        level: usize,
        place: BufferPlace,
        full: Buffer,
    ) -> Result<(), Buffer> {
        let Some(Open { slot, piece, empty }) = self.open[level + 1].pop_front() else {
            return Err(full);
        };
        self.done.push_back((level + 1, Purpose::Piece { slot, piece }, full));
        self.done.push_back((level, Purpose::Sent(place), empty));
        Ok(())
    }

    /// As [`exchange`](Self::exchange) for a buffer that must keep its contents: the receiver reads it, beside its own
    /// empty buffer, and returns it ([`give_back`](Self::give_back)).
    pub(super) fn lend(&mut self, level: usize, full: Buffer) -> Result<(), Buffer> {
        let Some(Open { slot, piece, empty }) = self.open[level + 1].pop_front() else {
            return Err(full);
        };
        self.done.push_back((level + 1, Purpose::Lent { slot }, full));
        self.done.push_back((level + 1, Purpose::Piece { slot, piece }, empty));
        Ok(())
    }

    /// Returns a buffer that the level before has lent to `level`, which has read it.
    pub(super) fn give_back(&mut self, level: usize, lent: Buffer) {
        self.done.push_back((level - 1, Purpose::Sent(BufferPlace::Slot(0)), lent));
    }

    /// Returns the next swap: its level, and its purpose there.
    pub(super) fn next(&mut self) -> Option<Arrival> {
        let (level, purpose, buffer) = self.done.pop_front()?;
        Some((level, purpose, Arrived::Swapped(buffer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(swaps: &mut BufferSwaps) -> (usize, Purpose, Buffer) {
        let (level, purpose, came) = swaps.next().unwrap();
        (level, purpose, came.buffer())
    }

    #[test]
    fn a_full_buffer_is_exchanged_for_the_one_that_has_waited_longest() {
        let mut swaps = BufferSwaps::new(3, 2);
        let full = |byte: u8| Buffer::from_bytes(&[byte; 8]);
        let refused = swaps.exchange(1, BufferPlace::Slot(4), full(1)).unwrap_err();
        swaps.open(2, 0, 0, Buffer::zeroed(8));
        swaps.open(2, 1, 0, Buffer::zeroed(8));
        let memory = refused.as_ptr();
        swaps.exchange(1, BufferPlace::Slot(4), refused).unwrap();
        let (level, purpose, buffer) = next(&mut swaps);
        assert_eq!((level, purpose), (2, Purpose::Piece { slot: 0, piece: 0 }));
        assert_eq!((buffer.as_ptr(), &buffer[..]), (memory, &[1; 8][..]));
        let (level, purpose, buffer) = next(&mut swaps);
        assert_eq!((level, purpose), (1, Purpose::Sent(BufferPlace::Slot(4))));
        assert_eq!(buffer[..], [0; 8]);
        assert!(swaps.next().is_none() && swaps.is_requested(2) && !swaps.is_requested(1));
    }

    #[test]
    fn what_is_lent_comes_back_to_the_level_before() {
        let mut swaps = BufferSwaps::new(2, 1);
        swaps.open(1, 7, 0, Buffer::zeroed(8));
        swaps.lend(0, Buffer::from_bytes(&[5; 8])).unwrap();
        let (level, purpose, lent) = next(&mut swaps);
        assert_eq!((level, purpose, lent[0]), (1, Purpose::Lent { slot: 7 }, 5));
        let (level, purpose, own) = next(&mut swaps);
        assert_eq!((level, purpose, own[0]), (1, Purpose::Piece { slot: 7, piece: 0 }, 0));
        swaps.give_back(1, lent);
        let (level, purpose, back) = next(&mut swaps);
        assert_eq!((level, purpose, back[0]), (0, Purpose::Sent(BufferPlace::Slot(0)), 5));
    }
}
