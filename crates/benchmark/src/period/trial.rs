//! One trial: a number of instances at one period.

use analysis::statistics::MissRate;
use contract::{Time, TimeSpan};
use record::Trial as TrialRecord;

use super::acceptance::Acceptance;
use super::decision::Verdict;

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

/// Returns the record of a trial of `period` that began at `begin_s` of its search.
pub(super) fn record_of(
    wanted: Acceptance,
    period: TimeSpan,
    begin_s: f64,
    responses: &[u64],
    rate: &MissRate,
) -> TrialRecord {
    let verdict = wanted.verdict(rate);
    let mut sorted = responses.to_vec();
    sorted.sort_unstable();
    let us = |ps: u64| TimeSpan::from_ps(ps).as_us();
    TrialRecord {
        period_us: period.as_us(),
        begin_s,
        instances: rate.instances,
        missed: rate.missed,
        miss_rate_max: rate.max,
        miss_rate_min: rate.min,
        sustained: verdict == Verdict::Sustained,
        refused: verdict == Verdict::Refused,
        proven: wanted.is_proven(rate),
        response_median_us: us(sorted[sorted.len() / 2]),
        response_max_us: us(sorted[sorted.len() - 1]),
    }
}
