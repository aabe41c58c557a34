//! The ratio of two medians, with its interval.

use record::Measurement;
use serde::Serialize;

use super::shift::{self, Shift};
use super::speed::at_one_speed;
use super::strata::Strata;
use crate::statistics::{MedianInterval, Sample, median_interval};

/// Ratio of the second run's number to the first one's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Second over first: of the medians, or the middle of the ratios of all pairs of launches.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// Upper end; infinite if the first median may be 0.
    pub high: f64,
    /// Confidence of the interval: the requested one or more, or less if there are too few samples.
    pub confidence: f64,
}

/// Median on the logarithmic scale, with the distances to the ends of its interval.
struct LogMedian {
    value: f64,
    down: f64,
    up: f64,
    confidence: f64,
}

/// The effect at two confidences, with the number of launches of each side that it compares.
pub(super) type EffectsOfLaunches = ([Effect; 2], [usize; 2]);

/// Returns the effect between two measurements at two confidences, or `None` if a median is not above 0, because a
/// ratio has no meaning then. Launches are compared with launches in the same state. If both sides met no common state,
/// the effect is of all launches and has no confidence. With `paired`, launches of the same number on both sides belong
/// together.
pub(super) fn effects(
    [first, second]: [&Measurement; 2],
    confidences: [f64; 2],
    paired: bool,
    strata: &Strata,
) -> Option<EffectsOfLaunches> {
    let of_launches = |m: &Measurement| logarithms(&m.launch_medians).filter(|all| all.len() > 1);
    if let (Some(a), Some(b)) = (of_launches(first), of_launches(second)) {
        let is_paired = paired && a.len() == b.len();
        let whole = [a, b];
        let lines = [&first.launch_lines_us[..], &second.launch_lines_us];
        let compared = strata.divide(&whole, lines, is_paired);
        let launches = [0, 1].map(|side| compared.iter().map(|one| one[side].len()).sum());
        let slowdowns = strata.slowdowns([first, second], lines, is_paired);
        let have_met = !compared.is_empty();
        let compared = if have_met { compared } else { vec![whole] };
        let adjusted = at_one_speed(compared, &slowdowns, is_paired);
        let effects = confidences.map(|confidence| {
            let shift = match (is_paired, &adjusted.strata[..]) {
                (true, [[a, b]]) => shift::paired(a, b, confidence),
                (_, strata) => shift::between(strata, confidence),
            };
            let effect = Effect::of(adjusted.widen(shift, confidence));
            if have_met { effect } else { Effect { confidence: 0.0, ..effect } }
        });
        return Some((effects, launches));
    }
    let launches = [first, second].map(|m| m.launches().len());
    let [own, other] = confidences.map(|confidence| between_medians(first, second, confidence));
    Some(([own?, other?], launches))
}

/// Returns the ratio of the medians, with an interval that combines those of both. It has no confidence if a side has
/// one launch that is not exact: another launch may differ by more than the samples of one.
fn between_medians(first: &Measurement, second: &Measurement, confidence: f64) -> Option<Effect> {
    let a = LogMedian::new(first, confidence)?;
    let b = LogMedian::new(second, confidence)?;
    // The logarithms subtract. The distances of independent intervals add like standard errors, each on the side to
    // which it applies (MOVER: Zou and Donner, Statistics in Medicine 27, 2008). A plain sum would reach 99 % instead
    // of 95.
    let difference = b.value - a.value;
    Some(Effect {
        ratio: difference.exp(),
        low: (difference - b.down.hypot(a.up)).exp(),
        high: (difference + b.up.hypot(a.down)).exp(),
        confidence: a.confidence.min(b.confidence),
    })
}

/// Returns the ratio of the second values to the first ones; `None` if a side is empty, or a value is not above 0.
pub fn effect_between([first, second]: [&[f64]; 2], confidence: f64) -> Option<Effect> {
    let (a, b) = (logarithms(first)?, logarithms(second)?);
    (!a.is_empty() && !b.is_empty()).then(|| Effect::of(shift::between(&[[a, b]], confidence)))
}

/// Returns the logarithms of values that are all above 0.
fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let logarithm = |value: &f64| (*value > 0.0 && value.is_finite()).then(|| value.ln());
    values.iter().map(logarithm).collect()
}

impl LogMedian {
    fn new(measurement: &Measurement, confidence: f64) -> Option<Self> {
        let median = measurement.summary.median;
        if !(median > 0.0 && median.is_finite()) {
            return None;
        }
        let of_one = |confidence| MedianInterval { low: median, high: median, confidence };
        let interval = match Sample::new(measurement.launch_medians.as_slice()) {
            _ if measurement.is_exact() => of_one(1.0),
            Ok(launches) if launches.len() > 1 => median_interval(&launches, confidence),
            _ => of_one(0.0),
        };
        // An end at 0 or below is infinitely far.
        let value = median.ln();
        Some(LogMedian {
            value,
            down: value - interval.low.max(0.0).ln(),
            up: interval.high.ln() - value,
            confidence: interval.confidence,
        })
    }
}

impl Effect {
    /// Returns the effect of a shift on the logarithmic scale.
    fn of(shift: Shift) -> Effect {
        Effect {
            ratio: shift.middle.exp(),
            low: shift.low.exp(),
            high: shift.high.exp(),
            confidence: shift.confidence,
        }
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
