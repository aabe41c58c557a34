//! The pages of a board's slots.
//!
//! The first use of a page costs a rank a page fault. Calls use the slots in turn, so faults would continue until each
//! slot was used up to its final length: for up to sixteen calls. Once a rank has used a few slots of a board, it
//! requests the same pages of all of them at once. See docs/measurements.md#slots-and-pieces.

use std::cell::Cell;

use crate::board::{SLOT_BYTES, SLOTS};
use launcher::system;

/// Number of longer parts that are put on or taken from a board before its pages are touched ahead. One or two
/// broadcasts need not bring in the whole board.
const USES: u32 = 8;

/// The use that this rank has made of a board's slots.
#[derive(Default)]
pub(super) struct Pages {
    /// Length of each slot that was touched.
    touched_bytes: Cell<usize>,
    /// Number of uses beyond that length.
    uses: Cell<u32>,
}

impl Pages {
    /// Records that a slot is used up to `bytes`.
    ///
    /// # Safety
    /// `slots` points to the board's slots, mapped to read and write.
    #[inline]
    pub(super) unsafe fn use_slot(&self, slots: *mut u8, bytes: usize) {
        if bytes > self.touched_bytes.get() {
            // SAFETY: the caller promises the same.
            unsafe { self.use_more(slots, bytes) };
        }
    }

    /// As [`use_slot`](Pages::use_slot), for a part that is longer than any before.
    ///
    /// # Safety
    /// As above.
    #[cold]
    unsafe fn use_more(&self, slots: *mut u8, bytes: usize) {
        self.uses.set(self.uses.get() + 1);
        if self.uses.get() < USES {
            return;
        }
        self.uses.set(0);
        let bytes = bytes.next_multiple_of(system::page_bytes()).min(SLOT_BYTES);
        let before = self.touched_bytes.replace(bytes);
        for slot in 0..SLOTS {
            // SAFETY: the caller promises mapped slots; the range is within one of them.
            unsafe { system::touch_ahead(slots.add(slot * SLOT_BYTES + before), bytes - before) };
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    /// Returns which of the pages of some shared memory are resident.
    fn resident(start: *mut u8, bytes: usize) -> Vec<bool> {
        let mut there = vec![0_u8; bytes / system::page_bytes()];
        // SAFETY: the memory is mapped, and there is a byte for each page of it.
        let returned = unsafe { libc::mincore(start.cast(), bytes, there.as_mut_ptr()) };
        assert_eq!(returned, 0);
        there.iter().map(|page| page & 1 == 1).collect()
    }

    #[test]
    fn pages_of_all_slots_are_mapped_once_some_were_used() {
        let (page, bytes) = (system::page_bytes(), SLOTS * SLOT_BYTES);
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let start = start.cast::<u8>();
        let pages = Pages::default();
        // SAFETY: the memory was just mapped, as long as all slots; so below.
        let use_slots = |bytes| (0..USES - 1).for_each(|_| unsafe { pages.use_slot(start, bytes) });
        use_slots(page + 1);
        assert_eq!(resident(start, bytes).iter().filter(|&&there| there).count(), 0);
        // SAFETY: as above.
        unsafe { pages.use_slot(start, page + 1) };
        let wanted = |used: usize| {
            let in_slot = SLOT_BYTES / page;
            (0..SLOTS * in_slot).map(|index| index % in_slot < used).collect::<Vec<_>>()
        };
        // Linux before 5.14 does not know the advice.
        let is_reported = resident(start, bytes).contains(&true);
        assert!(!is_reported || resident(start, bytes) == wanted(2), "two pages of each slot");
        // Resident pages are not requested again, and no more than a slot holds.
        use_slots(2 * page);
        assert!(!is_reported || resident(start, bytes) == wanted(2));
        use_slots(SLOT_BYTES);
        // SAFETY: as above.
        unsafe { pages.use_slot(start, SLOT_BYTES) };
        assert!(!is_reported || resident(start, bytes).iter().all(|&there| there));
        // SAFETY: it was mapped above.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}
