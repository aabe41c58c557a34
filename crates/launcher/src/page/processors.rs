//! Where a rank runs, for the others to see.

use crate::primitive::{AtomicU32, Ordering};

/// The processors of a rank: numbers plus one; zero if there is none. Relaxed: they order nothing else.
#[repr(C)]
pub struct RankProcessors {
    bound: AtomicU32,
    seen: AtomicU32,
}

impl RankProcessors {
    /// Returns the only processor on which this rank may run; `None` if there are several.
    #[inline]
    pub fn bound(&self) -> Option<u32> {
        self.bound.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Publishes it, before the rank joins.
    pub(crate) fn set_bound(&self, processor: Option<u32>) {
        self.bound.store(processor.map_or(0, |one| one + 1), Ordering::Relaxed);
    }

    /// Returns the processor on which this rank was in its last long wait.
    pub fn seen(&self) -> Option<u32> {
        self.seen.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Publishes it. The line is written only if it changes.
    pub fn set_seen(&self, processor: u32) {
        if self.seen() != Some(processor) {
            self.seen.store(processor + 1, Ordering::Relaxed);
        }
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    RankProcessors { bound, seen }
}
