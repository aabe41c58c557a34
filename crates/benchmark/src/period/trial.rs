//! One trial: a number of instances at one period.

use contract::{Time, TimeSpan};

/// The task of a benchmark: `instances` instances of a periodic job, the first of which begins at `begin`.
///
/// The times are absolute: an instance begins at [`start`](Trial::start), or as soon after that as the rank is free,
/// and must end by [`deadline`](Trial::deadline).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Period. Zero means instances back to back, to measure their highest rate: every start is then `begin`.
    pub(crate) period: TimeSpan,
    /// Number of instances; they are counted from 0.
    pub(crate) instances: u64,
    /// Beginning of the first one, on the clock that all ranks share.
    pub(crate) begin: Time,
    /// The number of the trial, which differs in each trial of a search. Random choices of a trial are drawn from it
    /// and from the run's seed.
    pub(crate) number: u64,
}

impl Trial {
    /// Returns the beginning of `instance`.
    #[inline]
    pub(crate) fn start(&self, instance: u64) -> Time {
        self.begin + self.period.times(instance)
    }

    /// Returns the time at which `instance` must have ended: the beginning of the next one.
    #[inline]
    pub(crate) fn deadline(&self, instance: u64) -> Time {
        self.start(instance + 1)
    }
}
