//! Hand-overs of a cache line: the cores between which they were measured, and their changes in the course of a run.

use record::{Measurement, ParameterValue, Parameters};
use serde::Serialize;

/// Parameter of a hand-over that was measured again: the group that it follows.
const AFTER: &str = "after";

/// Hand-overs of one pair that differ by more than this factor are of different machines. Runs on one machine repeat
/// within a tenth; a hypervisor that moves a virtual core to another cluster of cores changes them at least twofold.
const MOVED: f64 = 1.5;

/// A hand-over of a cache line from one core to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HandOver {
    /// One core, as the number of the rank on it.
    pub from: u64,
    /// The other.
    pub to: u64,
    /// Time of one direction, in microseconds.
    pub time_us: f64,
}

/// A hand-over between the first two cores that was measured again in the course of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeat {
    /// The group of benchmarks that it follows.
    pub after: String,
    /// Number of ranks of that group.
    pub ranks: usize,
    /// Time of one direction, in microseconds.
    pub time_us: f64,
}

/// Kind of a measurement of a hand-over: one of a pair of cores, or a repetition of the first pair.
pub(super) enum Measured {
    Pair(HandOver),
    Again(Repeat),
}

impl Measured {
    /// Reads a measurement of the benchmark; `None` if it names no pair.
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

/// Returns the shortest hand-over of all `pairs`, in microseconds.
pub(super) fn fastest_us(pairs: &[HandOver]) -> Option<f64> {
    pairs.iter().map(|pair| pair.time_us).min_by(f64::total_cmp)
}

/// Returns the shortest hand-over while the benchmarks of `group` ran with this number of `ranks`, in microseconds.
///
/// If the first pair was measured again, all pairs are assumed to have changed by the same factor. Of the times before
/// and after the group the shorter counts, because a limit must not exceed the number that it limits.
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

/// Returns the shortest and the longest hand-over of the first pair, in microseconds; `None` if it was measured only
/// once.
pub(super) fn drift_us(pairs: &[HandOver], repeats: &[Repeat]) -> Option<(f64, f64)> {
    let first = pairs.first()?.time_us;
    let range = |(low, high): (f64, f64), repeat: &Repeat| {
        (low.min(repeat.time_us), high.max(repeat.time_us))
    };
    (!repeats.is_empty()).then(|| repeats.iter().fold((first, first), range))
}

/// Returns whether a drift is too large for noise.
pub(super) fn is_move((low, high): (f64, f64)) -> bool {
    high / low > MOVED
}
