//! The input of a search, and its outcome.

use analysis::statistics::MissRate;
use contract::{Time, TimeSpan};
use record::PeriodSearch;

/// The information about a job before the search for its period.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchBasis {
    /// Approximate time of an instance, so that it need not be measured. It is known at every rank or at none, and rank
    /// 0's value counts.
    pub(crate) each: Option<TimeSpan>,
    /// Time at which the measurement began, if it did more before the search. The limit of a search is from there on.
    pub(crate) begun: Option<Time>,
    /// The number of instances that may wait for each other before one is late.
    pub(crate) waiting: u64,
    /// The number of the first instances of a trial whose time later ones may take in addition.
    pub(crate) settling: usize,
}

/// The outcome of a search, at rank 0.
#[derive(Debug, Default)]
pub(crate) struct SearchOutcome {
    /// The search in the form of the record; `None` at the other ranks.
    pub(crate) search: Option<PeriodSearch>,
    /// Miss rate of the period that was found, or else of the longest refused one, or else of the one tried last;
    /// `None` at the other ranks.
    pub(crate) miss_rate: Option<MissRate>,
    /// The times of all instances of that period that this run has made, in microseconds.
    pub(crate) responses_us: Vec<f64>,
    pub(crate) latencies_us: Vec<f64>,
    pub(crate) jitters_us: Vec<f64>,
}
