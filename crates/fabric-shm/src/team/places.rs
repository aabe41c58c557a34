//! The places of members' parts on boards.

use super::Team;
use super::copies::Span;
use super::levels::Arrivals;
use crate::board::{Levels, SHORT_BYTES, SLOT_BYTES, SLOTS};

impl Team {
    /// Returns the place of a member's part of a step.
    pub(super) fn place(&self, member: usize, epoch: u32, bytes: usize) -> *mut u8 {
        assert!(bytes <= SLOT_BYTES);
        let slot = epoch as usize % SLOTS;
        if bytes <= SHORT_BYTES {
            return self.board(member).headers[slot].short();
        }
        if let Arrivals::InLevels(levels) = self.arrivals {
            return self.place_in_levels(levels, member, slot, bytes);
        }
        let board = self.board_of_part(member, slot);
        let slots = self.slots(board);
        // SAFETY: `new` was promised mapped slots behind the board, and shared memory may be touched anywhere.
        unsafe { self.pages[board].use_slot(slots, bytes) };
        slots.wrapping_add(slot * SLOT_BYTES)
    }

    /// As [`place`](Team::place), if members arrive in groups. The parts of a group lie side by side on its first
    /// member's board if one slot holds them: to read all parts a member then needs as many pages as there are groups,
    /// not as there are members. No pages are touched ahead, because at each member those of all members' boards would
    /// be. See docs/measurements.md#ranks-that-share-processors.
    fn place_in_levels(&self, levels: Levels, member: usize, slot: usize, bytes: usize) -> *mut u8 {
        let in_group = levels.place_in_group(member, bytes, SLOT_BYTES);
        let board = if in_group.is_some() { levels.first_of_group(member) } else { member };
        self.slots(board).wrapping_add(slot * SLOT_BYTES + in_group.unwrap_or(0))
    }

    /// Returns whether parts of `bytes` bytes lie side by side.
    #[inline]
    fn lie_side_by_side(&self, bytes: usize) -> bool {
        match self.arrivals {
            Arrivals::InLevels(levels) => levels.place_in_group(0, bytes, SLOT_BYTES).is_some(),
            _ => false,
        }
    }

    /// Returns the member on whose board a member's long part lies.
    #[inline]
    fn board_of_part(&self, member: usize, slot: usize) -> usize {
        member ^ usize::from(self.swapped[slot])
    }

    /// Returns the slots of a board.
    #[inline]
    fn slots(&self, board: usize) -> *mut u8 {
        self.boards[board].wrapping_add(1).cast_mut().cast()
    }

    /// Swaps the places of two members that have both given a part in a step and taken the other's (decision 0014).
    ///
    /// Each puts its next longer part of this slot where it has just read, because it has those lines in its cache. If
    /// only one gives there is nothing to swap. Each member swaps by itself, as both find out if they are not in the
    /// same call. See docs/measurements.md#fewer-and-faster-copies.
    #[inline]
    pub(super) fn swap_places(&mut self, epoch: u32) {
        if self.size() == 2 {
            self.swapped[epoch as usize % SLOTS] ^= true;
        }
    }

    /// Returns a member's slots from a step's on as one place for `bytes` bytes, which they hold together.
    #[inline]
    pub(super) fn span(&self, member: usize, epoch: u32, bytes: usize) -> Span {
        let first = self.place(member, epoch, bytes.min(SLOT_BYTES));
        if bytes <= SHORT_BYTES {
            return Span { start: first, first, bytes: SHORT_BYTES };
        }
        if self.lie_side_by_side(bytes) {
            return Span { start: first, first, bytes };
        }
        let board = self.board_of_part(member, epoch as usize % SLOTS);
        Span { start: self.slots(board), first, bytes: SLOTS * SLOT_BYTES }
    }
}
