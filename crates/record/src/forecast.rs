//! The prediction of a search for a period before its trials.

use serde::{Deserialize, Serialize};

use super::PauseKind;

/// The predicted miss rate at any period, computed from instances that were recorded back to back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Duration of the recording in seconds.
    pub recorded_s: f64,
    /// Number of recorded instances.
    pub instances: u64,
    /// Time of an instance that follows another, in microseconds.
    pub each_us: f64,
    /// Time of a single instance, in microseconds.
    pub latency_us: f64,
    /// Share of the recording that was lost to pauses.
    pub lost_share: f64,
    /// Shortest period with the wanted miss rate according to the prediction, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortest_us: Option<f64>,
    /// Miss rates of periods from about the work of an instance to the longest for which the recording suffices.
    pub curve: Vec<ForecastPoint>,
    /// Predictions without each kind of pause, the one that takes most time first. Only on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<WithoutPauses>,
    /// Shortest period without any pauses, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_all_us: Option<f64>,
}

/// The predicted miss rate of a period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForecastPoint {
    /// The period in microseconds.
    pub period_us: f64,
    /// Share of instances that miss a deadline.
    pub miss_rate: f64,
    /// Lower confidence bound.
    pub miss_rate_min: f64,
    /// Upper confidence bound.
    pub miss_rate_max: f64,
    /// Share that would miss one without any pause.
    pub by_work: f64,
}

/// The prediction without one kind of pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithoutPauses {
    /// The kind.
    pub kind: PauseKind,
    /// Share of the recording that it took.
    pub share: f64,
    /// Shortest period with the wanted miss rate, in microseconds.
    pub shortest_us: Option<f64>,
}
