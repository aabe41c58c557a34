//! Latest collective call of each rank.

use crate::primitive::{AtomicU64, Ordering};

/// The collective that a rank is in: the number of the call (high half) and its call id (low half), in one word so that
/// the others never see halves of two calls.
#[repr(C, align(64))]
pub(crate) struct CallWord(AtomicU64);

impl CallWord {
    pub(crate) fn publish(&self, number: u32, call_id: u32) {
        // Release, partner of the acquire in `read`.
        self.0.store(u64::from(number) << 32 | u64::from(call_id), Ordering::Release);
    }

    #[inline]
    pub(crate) fn read(&self) -> (u32, u32) {
        let word = self.0.load(Ordering::Acquire);
        ((word >> 32) as u32, word as u32)
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    CallWord { 0 }
}
