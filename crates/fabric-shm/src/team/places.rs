//! Where the parts of members lie on boards.

use super::Team;
use super::copies::Span;
use crate::board::{SHORT_BYTES, SLOT_BYTES, SLOTS};

impl Team {
    /// Where a member's part of a step lies.
    pub(super) fn place(&self, member: usize, epoch: u32, bytes: usize) -> *mut u8 {
        assert!(bytes <= SLOT_BYTES);
        let slot = epoch as usize % SLOTS;
        if bytes <= SHORT_BYTES {
            return self.board(member).headers[slot].short();
        }
        let board = self.board_of_part(member, slot);
        let slots = self.slots(board);
        // SAFETY: `new` was promised mapped slots behind the board, and shared memory may be touched anywhere.
        unsafe { self.pages[board].use_slot(slots, bytes) };
        slots.wrapping_add(slot * SLOT_BYTES)
    }

    /// On whose board a member's long part lies.
    #[inline]
    fn board_of_part(&self, member: usize, slot: usize) -> usize {
        member ^ usize::from(self.swapped[slot])
    }

    /// The slots of a board.
    #[inline]
    fn slots(&self, board: usize) -> *mut u8 {
        self.boards[board].wrapping_add(1).cast_mut().cast()
    }

    /// Swaps the places of two members that have both given a part in a step and taken the other's (decision
    /// 0028).
    ///
    /// Each puts its next longer part of this slot where it has just read, for it has those lines in its
    /// cache. Where only one gives there is nothing to swap. Each member swaps by itself, as both find out if
    /// they are not in the same call. See docs/measurements.md#swapped-places.
    #[inline]
    pub(super) fn swap_places(&mut self, epoch: u32) {
        if self.size() == 2 {
            self.swapped[epoch as usize % SLOTS] ^= true;
        }
    }

    /// A member's slots from a step's on as one place, for `bytes` bytes that all of them hold together.
    #[inline]
    pub(super) fn span(&self, member: usize, epoch: u32, bytes: usize) -> Span {
        let first = self.place(member, epoch, bytes.min(SLOT_BYTES));
        if bytes <= SHORT_BYTES {
            return Span { start: first, first, bytes: SHORT_BYTES };
        }
        let board = self.board_of_part(member, epoch as usize % SLOTS);
        Span { start: self.slots(board), first, bytes: SLOTS * SLOT_BYTES }
    }
}
