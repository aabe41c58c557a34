//! The input and the outcome of the timed loop.

use analysis::statistics::Sample;
use contract::TimeSpan;
use record::{Repetition, StopReason, Timing as TimingRecord};

use super::overheads::Overheads;
use crate::program::Timing;
use crate::settings::Settings;

/// The event to time, and the settings.
pub(crate) struct LoopPlan<'a> {
    pub(crate) timing: Timing,
    /// True if events may follow each other without a new start: several timed as one sample if the clock is coarse,
    /// and untimed ones between samples.
    pub(crate) in_a_row: bool,
    /// Ranks that communicate, if only two do.
    pub(crate) pair: (usize, usize),
    pub(crate) settings: &'a Settings,
    /// The time limit of this measurement.
    pub(crate) limit: TimeSpan,
    /// True if the clock is virtual: events that took the same time will do so again.
    pub(crate) is_virtual: bool,
    pub(crate) overheads: Overheads,
}

/// The outcome of the loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Time of each event in picoseconds (of a sample's mean event, if samples contain several), in order.
    pub(crate) samples_ps: Vec<f64>,
    /// Times of the warm-up in the same form.
    pub(crate) warm_up_ps: Vec<f64>,
    pub(crate) stop_reason: StopReason,
    pub(crate) timing: TimingRecord,
    /// Times of a simple operation of the ranks' processors during the measurement, in nanoseconds; empty if it was not
    /// timed.
    pub(crate) operations_ns: Vec<f64>,
    /// Repetitions from which it is combined, if it is.
    pub(crate) repetitions: Vec<Repetition>,
}

impl Outcome {
    /// Returns the median time of an event in picoseconds.
    pub(crate) fn median_ps(&self) -> f64 {
        Sample::new(self.samples_ps.clone()).map_or(0.0, |sample| sample.median())
    }
}

/// The progress of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(crate) samples: u64,
    /// The half-width of the median's interval as a share of the median, once there are samples.
    pub(crate) half_width: Option<f64>,
    pub(crate) spent: TimeSpan,
}
