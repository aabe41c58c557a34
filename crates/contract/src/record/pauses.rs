//! Pauses of a processor: when a program that only reads the clock did not run.

use serde::{Deserialize, Serialize};

/// One pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, in seconds since the ranks began to look.
    pub at_s: f64,
    /// How long it was, in microseconds.
    pub length_us: f64,
}

/// A kind of pause: those that come at a fixed distance and are about as long, or those of a decade of lengths that fit no
/// such kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PauseKind {
    /// True if they come at a fixed distance.
    pub regular: bool,
    /// When the first is due, in seconds since the ranks began to look; of those that come irregularly when the first came.
    #[serde(default)]
    pub first_s: f64,
    /// The distance in microseconds; of those that come irregularly the mean.
    pub period_us: f64,
    /// How far nine in ten of them come from their place, in microseconds.
    pub period_jitter_us: f64,
    /// How many there were.
    pub count: u64,
    /// Their median length in microseconds.
    pub length_median_us: f64,
    /// The shortest.
    pub length_min_us: f64,
    /// The longest.
    pub length_max_us: f64,
}

/// What a rank saw that read its clock without pause. The lengths are the samples of the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// The processor, where the rank was bound to one.
    pub processor: Option<usize>,
    /// What counts as a pause: two readings farther apart than this, in microseconds.
    pub threshold_us: f64,
    /// How long the rank looked, in seconds.
    pub duration_s: f64,
    /// When each pause began, in seconds since the ranks began to look: beside the samples.
    pub at_s: Vec<f64>,
    /// Pauses that were counted and not kept, for want of room.
    pub not_kept: u64,
    /// The kinds that they fall into.
    pub kinds: Vec<PauseKind>,
    /// What all of them come to, those that were not kept among them; none in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PauseSummary>,
}

/// What all pauses of a processor come to, however many there were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PauseSummary {
    /// How many there were.
    pub count: u64,
    /// The longest in microseconds.
    pub longest_us: f64,
    /// How long the rank looked, in seconds, less what it took to read what the system has counted.
    pub looked_s: f64,
    /// The share of that time in which the processor ran the rank.
    pub available: f64,
    /// What the share is at least, with `confidence`; none if it is too short to tell.
    pub available_at_least: Option<f64>,
    /// The confidence of that bound.
    pub confidence: f64,
    /// For some lengths of time, the one in which most was lost.
    pub worst_windows: Vec<WorstWindow>,
    /// How many pauses there were of each length.
    pub by_length: Vec<PauseCount>,
    /// The length that no pause may exceed, in microseconds, if one was given.
    pub limit_us: Option<f64>,
    /// How many were longer.
    pub beyond_limit: u64,
    /// What the system had counted after pauses, those that took most time first.
    pub causes: Vec<PauseCause>,
}

/// The time of some length in which most was lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorstWindow {
    /// The length in microseconds.
    pub length_us: f64,
    /// When it began, in seconds since the ranks began to look.
    pub at_s: f64,
    /// How much of it was lost, in microseconds.
    pub lost_us: f64,
}

/// The pauses of some lengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PauseCount {
    /// They are shorter than this, in microseconds, and not shorter than those before.
    pub below_us: f64,
    /// How many there were.
    pub count: u64,
}

/// The pauses after which the system had counted the same events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PauseCause {
    /// The events, as words.
    pub name: String,
    /// How many pauses there were.
    pub count: u64,
    /// How long they were together, in microseconds.
    pub lost_us: f64,
    /// The longest, in microseconds.
    pub longest_us: f64,
}
