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
    /// Whether they come at a fixed distance.
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
}
