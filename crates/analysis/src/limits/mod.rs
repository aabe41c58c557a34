//! How near a number comes to what the machine allows.
//!
//! A run measures its machine's own limits: what it takes to hand one cache line from a core to another, to hand a core
//! from a process to another, and how fast one core copies. A message cannot be in another core's hands before a line
//! has been handed over, nor can its bytes be in another buffer before a core has copied them, nor can ranks that share
//! a core all run without a switch. The floor of a benchmark's time is therefore
//!
//! > hand-overs x (one hand-over) + switches x (one switch) + copies x (size beyond the first line) / (copy rate of
//! > the part that one core copies)
//!
//! with what must at least happen one after the other ([`critical_path`]), and the share of the limit is floor /
//! measured. The fastest pair of cores counts, as a record does not say where its ranks were. Switch and copy are
//! yardsticks rather than laws: where nobody copies, where parts of a message fit a cache that copies of that size just
//! miss, or where the kernel switches without being asked to wake somebody, a share may exceed 1.

mod critical_path;

use std::fmt;

use contract::record::{Measurement, ParameterValue, Run};
use serde::Serialize;

pub use critical_path::{CriticalPath, critical_path};

/// The group of the benchmarks that measure the limits.
pub const GROUP: &str = "limits";
/// The benchmark of handing one cache line over, one way: `time` in us, with the processors `from` and `to`.
pub const HAND_OVER: &str = "hand-over";
/// The benchmark of handing a processor from one sleeping process to another: `time` in us.
pub const PROCESS_SWITCH: &str = "process-switch";
/// The benchmark of one core's copying: `rate` in MB/s by size.
pub const COPY: &str = "copy";
/// The benchmark of reading the clock: `time` in us.
pub const CLOCK_COST: &str = "clock-cost";

/// The parameter of a hand-over that was measured again: the group that it follows.
const AFTER: &str = "after";

/// Hand-overs of one pair that differ by more than this factor are of different machines: runs on one repeat within a
/// tenth, and a virtual core that was moved to another cluster of cores changes them two- to fourfold.
const MOVED: f64 = 1.5;

/// What travels with the line that is handed over.
const LINE_BYTES: u64 = 64;

/// The limits of the machine that a run was made on, as that run measured them. What it did not measure is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Each measured pair of cores, in the order of measuring.
    pub hand_overs: Vec<HandOver>,
    /// The first pair again, after each group of benchmarks, in the order of measuring.
    pub repeats: Vec<Repeat>,
    /// One core's copying, by ascending size.
    pub copies: Vec<Copy>,
    /// Handing a core from one process to another, in microseconds.
    pub process_switch_us: Option<f64>,
    /// Reading the clock once, in microseconds.
    pub clock_cost_us: Option<f64>,
    /// How many cores the run could use; 0 where the run does not say.
    pub cores: usize,
}

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

/// One core's copying at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Copy {
    /// How much is copied at once.
    pub size_bytes: u64,
    /// How fast, in MB/s.
    pub rate_mb_per_s: f64,
}

/// A measurement against its limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// What bounds it.
    pub path: CriticalPath,
    /// Where the bound lies, in the measurement's unit.
    pub limit: f64,
    /// Floor over measured for times, measured over ceiling for rates: 1 is as good as the limit, 0.5 half as good.
    pub share: f64,
}

impl Limits {
    /// Finds the limits among the measurements of a run; of two of one kind the later counts.
    pub fn of(run: &Run) -> Self {
        let mut limits =
            Limits { cores: run.header().environment.processors_available, ..Limits::default() };
        for measurement in run.measurements.iter().filter(|m| m.group == GROUP) {
            limits.add(measurement);
        }
        limits
    }

    fn add(&mut self, measurement: &Measurement) {
        let median = measurement.summary.median;
        if !(median > 0.0 && median.is_finite()) {
            return;
        }
        match (measurement.benchmark.as_str(), measurement.metric.as_str()) {
            (HAND_OVER, "time") => {
                let [Some(from), Some(to)] = ["from", "to"].map(|name| number(measurement, name))
                else {
                    return;
                };
                if let Some(ParameterValue::Text(after)) = measurement.parameters.get(AFTER) {
                    self.repeats.push(Repeat {
                        after: after.clone(),
                        ranks: measurement.ranks,
                        time_us: median,
                    });
                    return;
                }
                self.hand_overs.retain(|pair| (pair.from, pair.to) != (from, to));
                self.hand_overs.push(HandOver { from, to, time_us: median });
            }
            (COPY, "rate") if measurement.size_bytes > 0 => {
                let copy = Copy { size_bytes: measurement.size_bytes, rate_mb_per_s: median };
                match self.copies.binary_search_by_key(&copy.size_bytes, |copy| copy.size_bytes) {
                    Ok(index) => self.copies[index] = copy,
                    Err(index) => self.copies.insert(index, copy),
                }
            }
            (PROCESS_SWITCH, "time") => self.process_switch_us = Some(median),
            (CLOCK_COST, "time") => self.clock_cost_us = Some(median),
            _ => {}
        }
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

    /// One core's copy rate at a size in MB/s: on a straight line between the logarithms of the neighbouring measured
    /// sizes, and beyond them that of the last.
    pub fn copy_mb_per_s(&self, size_bytes: u64) -> Option<f64> {
        let above = self.copies.partition_point(|copy| copy.size_bytes < size_bytes);
        match (above.checked_sub(1).map(|below| self.copies[below]), self.copies.get(above)) {
            (None, None) => None,
            (Some(only), None) => Some(only.rate_mb_per_s),
            (None, Some(only)) => Some(only.rate_mb_per_s),
            (Some(below), Some(above)) => {
                let log = |size: u64| (size as f64).ln();
                let share = (log(size_bytes) - log(below.size_bytes))
                    / (log(above.size_bytes) - log(below.size_bytes));
                Some(below.rate_mb_per_s.powf(1.0 - share) * above.rate_mb_per_s.powf(share))
            }
        }
    }

    /// The least time for the critical path of a measurement, in microseconds; none where a limit that it needs was not
    /// measured.
    pub fn floor_us(&self, path: CriticalPath, measurement: &Measurement) -> Option<f64> {
        let size_bytes = measurement.size_bytes;
        let hand_over_us = self.hand_over_during_us(&measurement.group, measurement.ranks);
        let times = |count: u64, limit: Option<f64>| match count {
            0 => Some(0.0),
            count => Some(count as f64 * limit?),
        };
        let hand_overs = times(path.hand_overs, hand_over_us)?;
        let switches = times(path.switches, self.process_switch_us)?;
        // Where there is no hand-over to ride on (a stream), the first line has to be copied like the rest.
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

    /// A measurement of `run`, which these are the limits of, against the limit that bounds it. None for the limits
    /// themselves, for benchmarks and metrics of which no bound is known, and where the bound is 0.
    ///
    /// A rate has the share of the time that it was computed from: the bytes that both stand for are the same.
    pub fn share(&self, run: &Run, measurement: &Measurement) -> Option<Share> {
        if measurement.group == GROUP {
            return None;
        }
        let time_us = match measurement.unit.as_str() {
            "us" => measurement.summary.median,
            "MB/s" => time_of(run, measurement)?.summary.median,
            _ => return None,
        };
        let path = critical_path(
            &measurement.benchmark,
            measurement.ranks,
            &measurement.parameters,
            self.cores,
        )?;
        let floor = self.floor_us(path, measurement)?;
        if !(floor > 0.0 && time_us > 0.0) {
            return None;
        }
        let share = floor / time_us;
        let limit = match measurement.unit.as_str() {
            "us" => floor,
            _ => measurement.summary.median / share,
        };
        Some(Share { path, limit, share })
    }
}

/// The latest time with the key of a rate.
fn time_of<'a>(run: &'a Run, rate: &Measurement) -> Option<&'a Measurement> {
    let key = rate.key();
    run.measurements.iter().rev().find(|measurement| {
        measurement.metric == "time"
            && measurement.unit == "us"
            && measurement.fabric == rate.fabric
            && measurement.key() == key
    })
}

fn number(measurement: &Measurement, name: &str) -> Option<u64> {
    match measurement.parameters.get(name) {
        Some(ParameterValue::Number(number)) => Some(*number),
        _ => None,
    }
}

impl fmt::Display for Share {
    /// Such as `63 % of 1 hand-over + 1 copy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} % of {}", 100.0 * self.share, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{measurement, run};

    fn limit(benchmark: &str, size_bytes: u64, unit: &str, value: f64) -> Measurement {
        let mut limit = measurement(benchmark, size_bytes, &[value]);
        (limit.group, limit.unit) = (GROUP.into(), unit.into());
        if unit == "MB/s" {
            limit.metric = "rate".into();
        }
        limit
    }

    fn hand_over(from: u64, to: u64, time_us: f64) -> Measurement {
        let mut limit = limit(HAND_OVER, 0, "us", time_us);
        limit.parameters.insert("from".into(), from.into());
        limit.parameters.insert("to".into(), to.into());
        limit
    }

    /// 0.1 us a hand-over and 2 us a switch; copies of 1 KiB at 8000 and of 64 KiB at 32000 MB/s; two cores; and `others`.
    fn machine(others: Vec<Measurement>) -> Run {
        let mut measurements = vec![
            hand_over(0, 1, 0.3),
            hand_over(0, 2, 0.1),
            limit(COPY, 65536, "MB/s", 32000.0),
            limit(COPY, 1024, "MB/s", 8000.0),
            limit(CLOCK_COST, 0, "us", 0.02),
            Measurement { metric: "resolution".into(), ..limit(CLOCK_COST, 0, "us", 0.04) },
            limit(PROCESS_SWITCH, 0, "us", 2.0),
        ];
        measurements.extend(others);
        let mut run = run(measurements);
        run.headers[0].environment.processors_available = 2;
        run
    }

    fn share(measured: Measurement) -> Option<Share> {
        let run = machine(vec![measured.clone()]);
        Limits::of(&run).share(&run, &measured)
    }

    #[test]
    fn limits_are_found_among_the_measurements() {
        let limits = Limits::of(&machine(vec![hand_over(0, 1, 0.2)]));
        assert_eq!(limits.hand_overs.len(), 2);
        assert_eq!(limits.hand_overs[1], HandOver { from: 0, to: 1, time_us: 0.2 });
        assert_eq!(limits.fastest_hand_over_us(), Some(0.1));
        assert_eq!((limits.clock_cost_us, limits.cores), (Some(0.02), 2));
        assert_eq!(Limits::of(&run(Vec::new())), Limits::default());
    }

    #[test]
    fn copy_rates_lie_between_their_neighbours_and_keep_the_last() {
        let limits = Limits::of(&machine(Vec::new()));
        assert_eq!(limits.copy_mb_per_s(1024), Some(8000.0));
        assert_eq!(limits.copy_mb_per_s(8), Some(8000.0));
        assert_eq!(limits.copy_mb_per_s(1 << 30), Some(32000.0));
        // 8 KiB is halfway between 1 and 64 KiB: the geometric mean of 8000 and 32000.
        assert!((limits.copy_mb_per_s(8192).unwrap() - 16000.0).abs() < 1e-6);
    }

    #[test]
    fn a_small_message_is_held_against_a_hand_over() {
        let found = share(measurement("ping-pong", 8, &[0.16])).unwrap();
        assert!((found.share - 0.1 / 0.16).abs() < 1e-12);
        assert_eq!(found.limit, 0.1);
        assert_eq!(found.to_string(), "62 % of 1 hand-over + 0.5 copies");
    }

    #[test]
    fn a_long_message_is_held_against_a_copy_too() {
        // Each of two cores copies 32 KiB, five sixths of the way from 1 to 64 KiB on a logarithmic scale, at
        // 8000^(1/6) 32000^(5/6) = 25398.4 MB/s: 0.1 + (65536 - 64) / 2 / 25398.4 = 1.38890 us.
        let found = share(measurement("ping-pong", 65536, &[2.7778])).unwrap();
        assert!((found.limit - 1.38890).abs() < 1e-5, "{}", found.limit);
        assert!((found.share - 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_hand_over_measured_again_bounds_the_group_before_it() {
        let again = |after: &str, time_us| {
            let mut again = hand_over(0, 1, time_us);
            again.parameters.insert("after".into(), after.into());
            again
        };
        // The first pair took 0.3 at first. The virtual cores are moved during `second` and back during `third`.
        let run = machine(vec![again("first", 0.3), again("second", 1.2), again("third", 0.6)]);
        let limits = Limits::of(&run);
        assert_eq!(limits.hand_overs.len(), 2, "a repeat is no other pair");
        let during = |group| limits.hand_over_during_us(group, 2).unwrap();
        // The shortest of all pairs is 0.1; before and after `third` the first pair took 1.2 and 0.6, twice 0.3.
        assert_eq!((during("first"), during("second")), (0.1, 0.1));
        assert!((during("third") - 0.2).abs() < 1e-12);
        assert_eq!(limits.hand_over_during_us("third", 8), Some(0.1), "not measured with 8 ranks");
        assert_eq!(during("elsewhere"), 0.1);
        assert_eq!(limits.hand_over_drift_us(), Some((0.3, 1.2)));
        assert_eq!(limits.moved_us(), Some((0.3, 1.2)));
        let still = Limits::of(&machine(vec![again("first", 0.44)]));
        assert_eq!((still.hand_over_drift_us(), still.moved_us()), (Some((0.3, 0.44)), None));
        assert_eq!(Limits::of(&machine(Vec::new())).hand_over_drift_us(), None);
    }

    #[test]
    fn ranks_that_share_cores_are_held_against_switches() {
        // Eight ranks on two cores: three switches and a hand-over, 6.1 us.
        let barrier = Measurement { ranks: 8, ..measurement("barrier", 0, &[12.2]) };
        let found = share(barrier).unwrap();
        assert!((found.limit - 6.1).abs() < 1e-12 && (found.share - 0.5).abs() < 1e-12);
        assert_eq!(found.to_string(), "50 % of 1 hand-over + 3 switches");
    }

    #[test]
    fn a_rate_has_the_share_of_its_time() {
        let time = measurement("bandwidth", 65536, &[2.56]);
        let mut rate = measurement("bandwidth", 65536, &[25600.0]);
        (rate.metric, rate.unit) = ("rate".into(), "MB/s".into());
        let run = machine(vec![time, rate.clone()]);
        let found = Limits::of(&run).share(&run, &rate).unwrap();
        // Two cores copy 32 KiB each at 25398.4 MB/s (see above), 50796.8 MB/s together, of which 25600 are a share of
        // 0.50397.
        assert!((found.share - 0.50397).abs() < 1e-5, "{}", found.share);
        assert!((found.limit - 50796.8).abs() < 0.1, "{}", found.limit);
        assert_eq!(share(rate), None);
    }

    #[test]
    fn what_has_no_bound_has_no_share() {
        assert_eq!(share(hand_over(0, 1, 0.2)), None);
        assert_eq!(share(measurement("no-such-benchmark", 8, &[1.0])), None);
        // An empty message in a stream costs nothing that is a limit.
        assert_eq!(share(measurement("bandwidth", 0, &[1.0])), None);
        let without = run(vec![measurement("ping-pong", 8, &[1.0])]);
        assert_eq!(Limits::of(&without).share(&without, &without.measurements[0]), None);
    }
}
