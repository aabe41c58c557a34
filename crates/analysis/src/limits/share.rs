//! Measurements compared with their bounds.

use std::collections::HashMap;
use std::fmt;

use record::{Key, Measurement, Run};
use serde::Serialize;

use super::bound::{Bound, BoundRules};
use super::critical_path::CriticalPath;
use super::machine::{GROUP, Limits};

/// Least share of a limit that is shown to readers.
const SHARE_MIN: f64 = 0.05;

/// Number of bytes that are transferred with the line.
const LINE_BYTES: u64 = 64;

/// Comparison of a measurement with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Its bound.
    pub bound: Bound,
    /// The value of the bound, in the measurement's unit.
    pub limit: f64,
    /// Floor over measured for times, measured over ceiling for rates: 1 is as good as the limit, 0.5 half as good.
    pub share: f64,
}

impl Limits {
    /// Returns the least time for the critical path of a measurement, in microseconds; `None` if a limit that it needs
    /// was not measured.
    pub fn floor_us(&self, path: CriticalPath, measurement: &Measurement) -> Option<f64> {
        let size_bytes = measurement.size_bytes;
        let hand_over_us = self.hand_over_during_us(&measurement.group, measurement.ranks);
        let times = |count: u64, limit: Option<f64>| match count {
            0 => Some(0.0),
            count => Some(count as f64 * limit?),
        };
        let hand_overs = times(path.hand_overs, hand_over_us)?;
        let switches = times(path.switches, self.process_switch_us)?;
        // Without a hand-over or a switch (a stream), the first line must be copied like the rest.
        let rides = if path.hand_overs + path.switches > 0 { LINE_BYTES } else { 0 };
        let copies = match size_bytes.saturating_sub(rides) {
            0 => 0.0,
            // A core that copies a part of a message has that part in its cache, not the whole.
            bytes => {
                let part_bytes = (size_bytes as f64 * path.copies.min(1.0)) as u64;
                path.copies * bytes as f64 / self.copy_mb_per_s(part_bytes)?
            }
        };
        Some(hand_overs + switches + copies)
    }

    /// Compares a measurement with the limit that bounds it by the `rules`. `together` are all metrics that were
    /// measured with it. Returns `None` for the limits themselves, for benchmarks and metrics without a known bound,
    /// and if the bound was not measured or is 0.
    ///
    /// All metrics have one share: a time and the rate computed from it represent the same bytes or operations.
    pub fn share(
        &self,
        measurement: &Measurement,
        together: &[&Measurement],
        rules: BoundRules,
    ) -> Option<Share> {
        if measurement.group == GROUP {
            return None;
        }
        let Measurement { benchmark, ranks, parameters, unit, .. } = measurement;
        let bound = rules(benchmark).bound(*ranks, parameters, self.cores)?;
        let is_time = unit == TIME_UNIT;
        if !is_time && unit != bound.rate_unit() {
            return None;
        }
        let (limit, bounded) = match bound {
            Bound::Path(path) => (self.floor_us(path, measurement)?, TIME_UNIT),
            Bound::Peak { precision } => (self.peak_mflop_per_s(precision)?, bound.rate_unit()),
            Bound::Copy { bytes, counted } => {
                (self.copy_mb_per_s(bytes)? * counted as f64, bound.rate_unit())
            }
        };
        let found = together.iter().rev().find(|m| m.unit == bounded)?.summary.median;
        if !(limit > 0.0 && found > 0.0) {
            return None;
        }
        let share = if bounded == TIME_UNIT { limit / found } else { found / limit };
        let limit = match is_time {
            _ if *unit == bounded => limit,
            true => measurement.summary.median * share,
            false => measurement.summary.median / share,
        };
        Some(Share { bound, limit, share })
    }
}

const TIME_UNIT: &str = "us";

/// Measurements of a run compared with its limits. A lookup does not search the run.
pub struct Shares<'a> {
    limits: Limits,
    rules: BoundRules,
    /// All metrics of each measurement. If a resumed run contains one twice, the later one.
    together: HashMap<(&'a str, Key), Vec<&'a Measurement>>,
}

impl<'a> Shares<'a> {
    /// Finds limits and measurements of a run; the `rules` are the bounds of the benchmarks.
    pub fn of(run: &'a Run, rules: BoundRules) -> Self {
        let mut together: HashMap<_, Vec<&Measurement>> = HashMap::new();
        for measurement in &run.measurements {
            together
                .entry((measurement.fabric.as_str(), measurement.key()))
                .or_default()
                .push(measurement);
        }
        Shares { limits: Limits::of(run), rules, together }
    }

    /// Returns the limits of the run's machine.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Compares a measurement of the run with the limit that bounds it, as [`Limits::share`] does. Returns `None` for a
    /// number that is far from its limit: something else determines it.
    pub fn share(&self, measurement: &'a Measurement) -> Option<Share> {
        let together = self.together.get(&(measurement.fabric.as_str(), measurement.key()))?;
        let share = self.limits.share(measurement, together, self.rules)?;
        (share.share >= SHARE_MIN).then_some(share)
    }
}

impl fmt::Display for Share {
    /// Formats as `63 % of 1 hand-over + 1 copy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} % of {}", 100.0 * self.share, self.bound)
    }
}
