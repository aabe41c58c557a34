//! A cache line that all ranks share.

use std::sync::atomic::AtomicU64;

/// A machine's memory that all ranks see directly, for measuring what the hardware itself allows.
///
/// Eight words, which share one cache line.
pub trait SharedLine {
    /// Word `index`, 0 to 7, of the line.
    fn word(&self, index: usize) -> &AtomicU64;
    /// Sleeps in the kernel while the low 32 bits of word `index` equal those of `value`; may return early.
    fn sleep_while(&self, index: usize, value: u64);
    /// Wakes every rank that sleeps on word `index`.
    fn wake(&self, index: usize);
}
