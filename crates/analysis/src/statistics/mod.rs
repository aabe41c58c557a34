//! Statistics of the samples of one measurement.
//!
//! No function assumes a shape of the distribution, because latencies have none: they use medians, order statistics and
//! ranks, no variances. The intervals do assume that the samples are independent. Samples of one run are not quite,
//! which comparisons of two runs take into account.

mod bursts;
mod fairness;
mod median_interval;
mod proportion;
mod prospect;
mod sample;
mod stopping;
mod summary;
mod warm_up;

pub(crate) use bursts::STRETCHES;
pub use bursts::{MissRate, miss_rate};
pub use fairness::fairness;
pub(crate) use median_interval::reaches;
pub use median_interval::{MedianInterval, median_interval};
pub(crate) use proportion::at_most;
pub use proportion::{misses_allowed, probability_max, trials_needed};
pub use prospect::Prospect;
pub use sample::{Sample, SampleError};
pub use stopping::{SAMPLES_MIN, is_precise, next_check, precision_reached};
pub use summary::{outliers, summarise};
pub use warm_up::{WarmUp, warm_up};
