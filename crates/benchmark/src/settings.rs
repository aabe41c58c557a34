//! What a user may choose about every measurement.

use serde::{Deserialize, Serialize};

use crate::Sizes;

/// How to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The message sizes; `None` for the sizes that each benchmark brings.
    pub sizes: Option<Sizes>,
    /// The wanted half-width of the median's interval, as a share of the median.
    pub precision: f64,
    /// The confidence of that interval.
    pub confidence: f64,
    /// The time limit of each measurement in seconds, warm-up included.
    pub time_limit_s: f64,
    /// The shortest time of a measurement in seconds, however soon its samples agree: a machine keeps one mood for
    /// milliseconds. Where `samples_max` samples would be taken sooner, events that are not timed lie between them. Where
    /// samples do not differ at all (virtual time) they end at `samples_min`.
    pub time_min_s: f64,
    /// The fewest samples that may end a measurement by precision; below 30 the same as 30.
    pub samples_min: u64,
    /// The most samples.
    pub samples_max: u64,
    /// How long all measurements together should take, in seconds; their own limits shrink as it runs out.
    pub suite_limit_s: Option<f64>,
    /// The seed of everything random: the data that are sent.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sizes: None,
            precision: 0.05,
            confidence: 0.95,
            time_limit_s: 2.0,
            time_min_s: 0.1,
            samples_min: 30,
            samples_max: 10_000,
            suite_limit_s: None,
            seed: 1,
        }
    }
}

impl Settings {
    /// For the whole catalogue in about a minute.
    pub fn quick() -> Self {
        Settings {
            time_limit_s: 0.5,
            samples_max: 4_000,
            suite_limit_s: Some(50.0),
            ..Settings::default()
        }
    }
}
