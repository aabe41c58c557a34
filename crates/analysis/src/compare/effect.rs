//! The ratio of two numbers, with its interval.

use serde::Serialize;

use super::shift;
use crate::statistics::reaches;

/// Ratio of the second run's number to the first one's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Second over first: the middle of the ratios of all pairs of launches.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Confidence of the interval: the requested one or more, or less if there are too few launches.
    pub confidence: f64,
}

/// Returns the ratio of the second values to the first ones; `None` if a side is empty, or a value is not above 0.
pub fn effect_between([first, second]: [&[f64]; 2], confidence: f64) -> Option<Effect> {
    let (a, b) = (logarithms(first)?, logarithms(second)?);
    (!a.is_empty() && !b.is_empty()).then(|| {
        let shift::Shift { middle, low, high, confidence, .. } =
            shift::between(&[[a, b]], confidence);
        Effect { ratio: middle.exp(), low: low.exp(), high: high.exp(), confidence }
    })
}

/// Returns the logarithms of values that are all above 0.
fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let logarithm = |value: &f64| (*value > 0.0 && value.is_finite()).then(|| value.ln());
    values.iter().map(logarithm).collect()
}

impl Effect {
    /// Returns whether the interval reaches this confidence.
    pub fn reaches(&self, confidence: f64) -> bool {
        reaches(self.confidence, confidence)
    }

    /// Returns the effect on the inverse, such as a rate that was computed from a time.
    pub(super) fn inverse(self) -> Effect {
        Effect {
            ratio: 1.0 / self.ratio,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            confidence: self.confidence,
        }
    }
}
