//! The ratio of two medians, with its interval.

use contract::record::Measurement;
use serde::Serialize;

use super::correlation::widening;
use crate::statistics::{MedianInterval, Sample, median_interval};

/// How many times the second run's median is the first one's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Second over first.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end; infinite where the first median may be 0.
    pub high: f64,
    /// The confidence of the interval: the wanted one or more, or less where there are too few samples.
    pub confidence: f64,
}

/// A median on the logarithmic scale, with the distances to the ends of its interval.
struct LogMedian {
    value: f64,
    down: f64,
    up: f64,
    confidence: f64,
}

/// The effect between two measurements, or none where a ratio has no meaning: a median that is not above 0.
///
/// `widened` is for each what [`widening_of`] found.
pub(super) fn effect(
    [first, second]: [&Measurement; 2],
    widened: [f64; 2],
    confidence: f64,
) -> Option<Effect> {
    let a = LogMedian::new(first, widened[0], confidence)?;
    let b = LogMedian::new(second, widened[1], confidence)?;
    // The logarithms subtract, and the distances of independent intervals add like standard errors, each on the side
    // where it counts (MOVER: Zou and Donner, Statistics in Medicine 27, 2008). Adding them plainly would claim 99 %
    // where it says 95.
    let difference = b.value - a.value;
    Some(Effect {
        ratio: difference.exp(),
        low: (difference - b.down.hypot(a.up)).exp(),
        high: (difference + b.up.hypot(a.down)).exp(),
        confidence: a.confidence.min(b.confidence),
    })
}

/// By how much the interval of this measurement's median exceeds that of independent samples; none where there are no
/// samples to tell from.
pub(super) fn widening_of(measurement: &Measurement, confidence: f64) -> Option<f64> {
    (!measurement.samples.is_empty()).then(|| widening(&measurement.samples, confidence))
}

impl LogMedian {
    fn new(measurement: &Measurement, widened: f64, confidence: f64) -> Option<Self> {
        let (median, interval) = interval(measurement, confidence);
        if !(median > 0.0 && median.is_finite()) {
            return None;
        }
        // An end at 0 or below is infinitely far.
        let value = median.ln();
        Some(LogMedian {
            value,
            down: widened * (value - interval.low.max(0.0).ln()),
            up: widened * (interval.high.ln() - value),
            confidence: interval.confidence,
        })
    }
}

/// From the raw samples at the wanted confidence; where the record holds none, as it stands there.
fn interval(measurement: &Measurement, confidence: f64) -> (f64, MedianInterval) {
    match Sample::new(measurement.samples.as_slice()) {
        Ok(sample) => (sample.median(), median_interval(&sample, confidence)),
        Err(_) => {
            let summary = &measurement.summary;
            let recorded = MedianInterval {
                low: summary.ci_low,
                high: summary.ci_high,
                confidence: summary.ci_confidence,
            };
            (summary.median, recorded)
        }
    }
}
