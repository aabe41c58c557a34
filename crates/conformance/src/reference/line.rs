//! The cache line that all ranks share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

/// Eight words on which ranks can sleep. The mutex also makes checking a word and falling asleep one step, so that no
/// wake-up in between is lost.
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Line {
    words: [AtomicU64; 8],
    closed: Mutex<bool>,
    woken: Condvar,
}

impl Line {
    pub(super) fn word(&self, index: usize) -> &AtomicU64 {
        &self.words[index]
    }

    /// Sleeps once if the low halves are still equal; a wake-up on any word ends it.
    pub(super) fn sleep_while(&self, index: usize, value: u64) {
        let closed = self.closed.lock().expect("nothing panics while asleep");
        // Acquire, partner of the store of the caller of `wake`: its earlier writes are visible after the sleep.
        if !*closed && self.words[index].load(Ordering::Acquire) as u32 == value as u32 {
            drop(self.woken.wait(closed).expect("nothing panics while asleep"));
        }
    }

    pub(super) fn wake_all(&self) {
        drop(self.closed.lock().expect("nothing panics while asleep"));
        self.woken.notify_all();
    }

    /// Wakes all ranks and prevents further sleeps.
    pub(super) fn close(&self) {
        *self.closed.lock().expect("nothing panics while asleep") = true;
        self.woken.notify_all();
    }
}
