//! Handing a cache line over: between which cores, and how that changed in the course of a run.

use record::{Measurement, ParameterValue, Parameters};
use serde::Serialize;

/// The parameter of a hand-over that was measured again: the group that it follows.
const AFTER: &str = "after";

/// Hand-overs of one pair that differ by more than this factor are of different machines. Runs on one machine repeat
/// within a tenth; a hypervisor that moves a virtual core to another cluster of cores changes them at least twofold.
const MOVED: f64 = 1.5;

/// Handing a cache line from one core to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HandOver {
    /// One core, as the number of the rank on it.
    pub from: u64,
    /// The other.
    pub to: u64,
    /// One way, in microseconds.
    pub time_us: f64,
}

/// A hand-over between the first two cores that was measured again in the course of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeat {
    /// The group of benchmarks that it follows.
    pub after: String,
    /// With how many ranks they ran.
    pub ranks: usize,
    /// One way, in microseconds.
    pub time_us: f64,
}

/// The kind of a measurement of a hand-over: one of a pair of cores, or one of the first pair again.
pub(super) enum Measured {
    Pair(HandOver),
    Again(Repeat),
}

impl Measured {
    /// Reads a measurement of the benchmark; none where it names no pair.
    pub(super) fn of(measurement: &Measurement) -> Option<Measured> {
        let Measurement { parameters, ranks, summary, .. } = measurement;
        let [from, to] = ["from", "to"].map(|name| number(parameters, name));
        let (from, to, time_us) = (from?, to?, summary.median);
        Some(match parameters.get(AFTER) {
            Some(ParameterValue::Text(after)) => {
                Measured::Again(Repeat { after: after.clone(), ranks: *ranks, time_us })
            }
            _ => Measured::Pair(HandOver { from, to, time_us }),
        })
    }
}

fn number(parameters: &Parameters, name: &str) -> Option<u64> {
    match parameters.get(name) {
        Some(ParameterValue::Number(number)) => Some(*number),
        _ => None,
    }
}

/// The shortest hand-over of all `pairs`, in microseconds.
pub(super) fn fastest_us(pairs: &[HandOver]) -> Option<f64> {
    pairs.iter().map(|pair| pair.time_us).min_by(f64::total_cmp)
}

/// The shortest hand-over while the benchmarks of `group` ran with so many `ranks`, in microseconds.
///
/// Where the first pair was measured again, all pairs are taken to have changed by the same factor. Of the times before
/// and after the group the shorter counts, for a limit must not lie above what it limits.
pub(super) fn during_us(
    pairs: &[HandOver],
    repeats: &[Repeat],
    group: &str,
    ranks: usize,
) -> Option<f64> {
    let fastest = fastest_us(pairs)?;
    let follows = |repeat: &Repeat| repeat.after == group && repeat.ranks == ranks;
    let Some(index) = repeats.iter().position(follows) else {
        return Some(fastest);
    };
    let first = pairs.first()?.time_us;
    let before = index.checked_sub(1).map_or(first, |before| repeats[before].time_us);
    Some(fastest * before.min(repeats[index].time_us) / first)
}

/// The shortest and the longest hand-over of the first pair, in microseconds; none where it was measured once only.
pub(super) fn drift_us(pairs: &[HandOver], repeats: &[Repeat]) -> Option<(f64, f64)> {
    let first = pairs.first()?.time_us;
    let range = |(low, high): (f64, f64), repeat: &Repeat| {
        (low.min(repeat.time_us), high.max(repeat.time_us))
    };
    (!repeats.is_empty()).then(|| repeats.iter().fold((first, first), range))
}

/// Whether a drift is too large for noise.
pub(super) fn is_move((low, high): (f64, f64)) -> bool {
    high / low > MOVED
}
