//! What a search for a period predicted before it tried.

use serde::{Deserialize, Serialize};

use super::PauseKind;

/// What is missed at any period, as it follows from instances that were recorded back to back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// How long the recording is, in seconds.
    pub recorded_s: f64,
    /// How many instances it holds.
    pub instances: u64,
    /// What an instance takes after the one before, in microseconds.
    pub each_us: f64,
    /// What an instance takes by itself, in microseconds.
    pub latency_us: f64,
    /// The share of the recording that was lost to pauses.
    pub lost_share: f64,
    /// How many times as long the work took in the trials as in the recording, as far as they tell.
    pub pace: f64,
    /// The shortest period that is predicted to keep the wanted miss rate, in microseconds, after the last trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortest_us: Option<f64>,
    /// The miss rate of periods from about the work of an instance up to the longest that the recording speaks of.
    pub curve: Vec<ForecastPoint>,
    /// What would follow if a kind of pauses were gone, the one that takes most first. Only where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<WithoutPauses>,
    /// The shortest period if all pauses were gone, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_all_us: Option<f64>,
}

/// The predicted miss rate of a period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForecastPoint {
    /// The period in microseconds.
    pub period_us: f64,
    /// The share of instances that miss a deadline.
    pub miss_rate: f64,
    /// Its lower confidence bound.
    pub miss_rate_min: f64,
    /// Its upper confidence bound.
    pub miss_rate_max: f64,
    /// The share that would miss one without any pause.
    pub by_work: f64,
}

/// What would follow if a kind of pauses were gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithoutPauses {
    /// The kind.
    pub kind: PauseKind,
    /// The share of the recording that it took.
    pub share: f64,
    /// The shortest period that would then keep the wanted miss rate, in microseconds.
    pub shortest_us: Option<f64>,
}
