//! Random numbers from a seed.

use random::SplitMix64;

/// A generator with the draws that these tests need.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(SplitMix64::new(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a number from `first` to `last`.
    pub(crate) fn within(&mut self, first: i64, last: i64) -> i64 {
        first + (self.bits() % (last - first + 1) as u64) as i64
    }

    /// Returns `count` numbers from `first` to `last`.
    pub(crate) fn list(&mut self, count: i64, first: i64, last: i64) -> Vec<i64> {
        (0..count).map(|_| self.within(first, last)).collect()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits() as u8).collect()
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0.pick(from)
    }
}
