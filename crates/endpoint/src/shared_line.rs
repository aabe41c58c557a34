//! A cache line that all ranks share.

use std::sync::atomic::AtomicU64;

/// Memory that all ranks of a machine access directly, for measuring the limits of the hardware.
///
/// Eight words, which share one cache line.
pub trait SharedLine {
    /// Returns word `index`, 0 to 7, of the line.
    fn word(&self, index: usize) -> &AtomicU64;
    /// Sleeps in the kernel while the low 32 bits of word `index` equal those of `value`; may return early.
    fn sleep_while(&self, index: usize, value: u64);
    /// Wakes every rank that sleeps on word `index`.
    fn wake(&self, index: usize);
}
