//! Handing a cache line over: between which cores, and how that changed in the course of a run.

use contract::record::{Measurement, ParameterValue};
use serde::Serialize;

use super::{Limits, number};

/// The parameter of a hand-over that was measured again: the group that it follows.
const AFTER: &str = "after";

/// Hand-overs of one pair that differ by more than this factor are of different machines: runs on one repeat within a
/// tenth, and a virtual core that was moved to another cluster of cores changes them two- to fourfold.
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

impl Limits {
    pub(super) fn add_hand_over(&mut self, measurement: &Measurement) {
        let time_us = measurement.summary.median;
        let [Some(from), Some(to)] =
            ["from", "to"].map(|name| number(&measurement.parameters, name))
        else {
            return;
        };
        if let Some(ParameterValue::Text(after)) = measurement.parameters.get(AFTER) {
            let (after, ranks) = (after.clone(), measurement.ranks);
            self.repeats.push(Repeat { after, ranks, time_us });
            return;
        }
        self.hand_overs.retain(|pair| (pair.from, pair.to) != (from, to));
        self.hand_overs.push(HandOver { from, to, time_us });
    }

    /// The shortest hand-over of all pairs, in microseconds.
    pub fn fastest_hand_over_us(&self) -> Option<f64> {
        self.hand_overs.iter().map(|pair| pair.time_us).min_by(f64::total_cmp)
    }

    /// The shortest hand-over while the benchmarks of `group` ran with so many `ranks`, in microseconds.
    ///
    /// A hypervisor may move a virtual core in mid-run, and every hand-over then takes another time. Where the first pair
    /// was measured again, all pairs are taken to have changed by the same factor; of the times before and after the
    /// group the shorter counts, for a limit must not lie above what it limits.
    pub fn hand_over_during_us(&self, group: &str, ranks: usize) -> Option<f64> {
        let fastest = self.fastest_hand_over_us()?;
        let follows = |repeat: &Repeat| repeat.after == group && repeat.ranks == ranks;
        let Some(index) = self.repeats.iter().position(follows) else {
            return Some(fastest);
        };
        let first = self.hand_overs.first()?.time_us;
        let before = index.checked_sub(1).map_or(first, |before| self.repeats[before].time_us);
        Some(fastest * before.min(self.repeats[index].time_us) / first)
    }

    /// The shortest and the longest hand-over between the first two cores in the course of the run, in microseconds; none
    /// where it was measured once only.
    pub fn hand_over_drift_us(&self) -> Option<(f64, f64)> {
        let first = self.hand_overs.first()?.time_us;
        let range = |(low, high): (f64, f64), repeat: &Repeat| {
            (low.min(repeat.time_us), high.max(repeat.time_us))
        };
        (!self.repeats.is_empty()).then(|| self.repeats.iter().fold((first, first), range))
    }

    /// The drift, where it is too large for noise: the machine itself changed in the course of the run.
    pub fn moved_us(&self) -> Option<(f64, f64)> {
        self.hand_over_drift_us().filter(|(low, high)| high / low > MOVED)
    }
}
