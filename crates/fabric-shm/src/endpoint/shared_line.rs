//! The cache line that all ranks share, for measuring the limits of the hardware.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use contract::SharedLine;

use launcher::system;

use crate::segment::SharedWords;

/// Longest sleep before a caller polls again, so that a rank whose partner died does not sleep for ever.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// Returns the low 32 bits of `word`, which is all that a futex compares.
fn low_half(word: &AtomicU64) -> &AtomicU32 {
    let halves = std::ptr::from_ref(word).cast::<AtomicU32>();
    let low = if cfg!(target_endian = "little") { 0 } else { 1 };
    // SAFETY: both halves lie inside the live, aligned word; only the kernel reads through this reference.
    unsafe { &*halves.add(low) }
}

impl SharedLine for SharedWords {
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.0[index]
    }

    fn sleep_while(&self, index: usize, value: u64) {
        system::futex_wait(low_half(&self.0[index]), value as u32, LONGEST_SLEEP);
    }

    fn wake(&self, index: usize) {
        system::futex_wake(low_half(&self.0[index]), i32::MAX);
    }
}
