//! Pauses of a processor: times in which a program that only reads the clock did not run.

use serde::{Deserialize, Serialize};

/// One pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// Beginning, in seconds since the ranks began to observe.
    pub at_s: f64,
    /// Length in microseconds.
    pub length_us: f64,
}

/// A kind of pause: those at regular intervals with similar lengths, or those of a decade of lengths that belong to no
/// such kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PauseKind {
    /// True if they occur at regular intervals.
    pub regular: bool,
    /// Time at which the first is due, in seconds since the ranks began to observe; for irregular ones that of the
    /// first.
    #[serde(default)]
    pub first_s: f64,
    /// Interval in microseconds; for irregular ones the mean.
    pub period_us: f64,
    /// Deviation from the regular time that nine in ten do not exceed, in microseconds.
    pub period_jitter_us: f64,
    /// Number of pauses.
    pub count: u64,
    /// Median length in microseconds.
    pub length_median_us: f64,
    /// Shortest length in microseconds.
    pub length_min_us: f64,
    /// Longest length in microseconds.
    pub length_max_us: f64,
}

impl PauseKind {
    /// Returns whether the intervals, and the median lengths, of two kinds differ by no more than these factors.
    pub fn agrees(&self, other: &PauseKind, period: f64, length: f64) -> bool {
        let within = |a: f64, b: f64, factor: f64| a <= b * factor && b <= a * factor;
        within(self.period_us, other.period_us, period)
            && within(self.length_median_us, other.length_median_us, length)
    }
}

/// The observations of a rank that read its clock continuously. The lengths are the samples of the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// Processor, if the rank was bound to one.
    pub processor: Option<usize>,
    /// Smallest distance of two readings that counts as a pause, in microseconds.
    pub threshold_us: f64,
    /// Duration of the observation in seconds.
    pub duration_s: f64,
    /// Beginning of each pause, in seconds since the ranks began to observe, in the order of the samples.
    pub at_s: Vec<f64>,
    /// Number of pauses that were counted but not kept, for lack of room.
    pub not_kept: u64,
    /// Kinds of the pauses.
    pub kinds: Vec<PauseKind>,
    /// Summary of all pauses, including those not kept; none in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PauseSummary>,
}

/// Summary of all pauses of a processor, whatever their number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PauseSummary {
    /// Number of pauses.
    pub count: u64,
    /// Longest length in microseconds.
    pub longest_us: f64,
    /// Duration of the observation in seconds, less the time for reading the system's counts.
    pub looked_s: f64,
    /// Share of that time in which the processor ran the rank.
    pub available: f64,
    /// Lower bound of the share with `confidence`; none if the time is too short.
    pub available_at_least: Option<f64>,
    /// Confidence of that bound.
    pub confidence: f64,
    /// For some window lengths, the window in which most time was lost.
    pub worst_windows: Vec<WorstWindow>,
    /// Length that no pause may exceed, in microseconds, if one was given.
    pub limit_us: Option<f64>,
    /// Number of longer pauses.
    pub beyond_limit: u64,
    /// Events that the system had counted after pauses, those with most lost time first.
    pub causes: Vec<PauseCause>,
    /// By what the causes are named, and why not by the system's tracer, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causes_by: Option<String>,
}

/// The window of some length in which most time was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorstWindow {
    /// Length in microseconds.
    pub length_us: f64,
    /// Beginning, in seconds since the ranks began to observe.
    pub at_s: f64,
    /// Lost time in microseconds.
    pub lost_us: f64,
}

/// The pauses after which the system had counted the same events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PauseCause {
    /// Description of the events.
    pub name: String,
    /// Number of pauses.
    pub count: u64,
    /// Their total length in microseconds.
    pub lost_us: f64,
    /// Longest length in microseconds.
    pub longest_us: f64,
}
