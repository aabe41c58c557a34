//! What a search is told, and what it finds.

use analysis::statistics::MissRate;
use contract::TimeSpan;
use contract::record::PeriodSearch;

/// What is known of a job before its period is searched for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// About how long an instance takes, so that it need not be measured: at every rank or at none, and what rank 0 says counts.
    pub(crate) each: Option<TimeSpan>,
    /// How many instances may wait for each other before one is late.
    pub(crate) waiting: u64,
}

/// A trial has so many times as many instances as may wait, unless somebody said how long it is to be: a job that has an
/// eighth of its time to spare then works off all that may wait within half of it.
pub(crate) const PERIODS_PER_WAITING: u64 = 16;

/// What was found, at rank 0.
#[derive(Debug)]
pub(crate) struct SearchOutcome {
    /// The search as the record tells it; none at the other ranks.
    pub(crate) search: Option<PeriodSearch>,
    /// How often the period that was found is missed (or else the longest refused one, or else the one tried last); none at
    /// the other ranks.
    pub(crate) miss_rate: Option<MissRate>,
    /// The responses of all instances of the trials at that period, in microseconds.
    pub(crate) responses_us: Vec<f64>,
}
