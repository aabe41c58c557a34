//! The limits of a machine, as a run measured them.

use record::{Measurement, Run};
use serde::Serialize;

use super::core_to_core::{self, HandOver, Measured, Repeat};
use super::precision::Precision;

/// Group of the benchmarks that measure the limits.
pub const GROUP: &str = "limits";
/// Benchmark of the hand-over of one cache line in one direction: `time` in us, with the processors `from` and `to`.
pub const HAND_OVER: &str = "hand-over";
/// Benchmark of the switch of a processor from one sleeping process to another: `time` in us.
pub const PROCESS_SWITCH: &str = "process-switch";
/// Benchmark of one core's copying: `rate` in MB/s by size.
pub const COPY: &str = "copy";
/// Benchmark of a clock reading: `time` in us.
pub const CLOCK_COST: &str = "clock-cost";
/// Benchmark of a core's floating-point peak: `rate` in MFLOP/s by [`PRECISION`](super::PRECISION).
pub const PEAK: &str = "peak";

/// Limits of the machine of a run, as measured in that run. Limits that it did not measure are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Each measured pair of cores, in the order of measuring.
    pub hand_overs: Vec<HandOver>,
    /// Repetitions of the first pair, after each group of benchmarks, in the order of measuring.
    pub repeats: Vec<Repeat>,
    /// Copy rates of one core, by ascending size.
    pub copies: Vec<Copy>,
    /// Time of a core's switch from one process to another, in microseconds.
    pub process_switch_us: Option<f64>,
    /// Time of one clock reading, in microseconds.
    pub clock_cost_us: Option<f64>,
    /// The core's peak in single precision, in MFLOP/s.
    pub peak_single_mflop_per_s: Option<f64>,
    /// The core's peak in double precision, in MFLOP/s.
    pub peak_double_mflop_per_s: Option<f64>,
    /// Number of cores that the run could use; 0 if the run does not record it.
    pub cores: usize,
}

/// Copy rate of one core at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Copy {
    /// Number of bytes copied at once.
    pub size_bytes: u64,
    /// The rate in MB/s.
    pub rate_mb_per_s: f64,
}

impl Limits {
    /// Finds the limits among the measurements of a run. Of two measurements of one kind the later counts.
    pub fn of(run: &Run) -> Self {
        let cores = run.header().environment.processors_available;
        let mut limits = Limits { cores, ..Limits::default() };
        run.measurements.iter().for_each(|measurement| limits.add(measurement));
        limits
    }

    /// Adds a measurement, if it is of a limit.
    pub fn add(&mut self, measurement: &Measurement) {
        let median = measurement.summary.median;
        if !(median > 0.0 && median.is_finite()) {
            return;
        }
        match (measurement.benchmark.as_str(), measurement.metric.as_str()) {
            (HAND_OVER, "time") => match Measured::of(measurement) {
                Some(Measured::Again(repeat)) => self.repeats.push(repeat),
                Some(Measured::Pair(pair)) => {
                    let same = |other: &HandOver| (other.from, other.to) == (pair.from, pair.to);
                    self.hand_overs.retain(|other| !same(other));
                    self.hand_overs.push(pair);
                }
                None => {}
            },
            (COPY, "rate") if measurement.size_bytes > 0 => {
                self.add_copy(Copy { size_bytes: measurement.size_bytes, rate_mb_per_s: median });
            }
            (PEAK, "rate") => match Precision::of(&measurement.parameters) {
                Some(Precision::Single) => self.peak_single_mflop_per_s = Some(median),
                Some(Precision::Double) => self.peak_double_mflop_per_s = Some(median),
                None => {}
            },
            (PROCESS_SWITCH, "time") => self.process_switch_us = Some(median),
            (CLOCK_COST, "time") => self.clock_cost_us = Some(median),
            _ => {}
        }
    }

    fn add_copy(&mut self, copy: Copy) {
        match self.copies.binary_search_by_key(&copy.size_bytes, |copy| copy.size_bytes) {
            Ok(index) => self.copies[index] = copy,
            Err(index) => self.copies.insert(index, copy),
        }
    }

    /// Returns the shortest hand-over of all pairs, in microseconds.
    pub fn fastest_hand_over_us(&self) -> Option<f64> {
        core_to_core::fastest_us(&self.hand_overs)
    }

    /// Returns the shortest hand-over while the benchmarks of `group` ran with this number of `ranks`, in microseconds.
    /// A hypervisor may move a virtual core during the run, which changes the time of every hand-over.
    pub fn hand_over_during_us(&self, group: &str, ranks: usize) -> Option<f64> {
        core_to_core::during_us(&self.hand_overs, &self.repeats, group, ranks)
    }

    /// Returns the shortest and the longest hand-over between the first two cores in the course of the run, in
    /// microseconds; `None` if it was measured only once.
    pub fn hand_over_drift_us(&self) -> Option<(f64, f64)> {
        core_to_core::drift_us(&self.hand_overs, &self.repeats)
    }

    /// Returns the drift, if it is too large for noise: the machine itself changed in the course of the run.
    pub fn moved_us(&self) -> Option<(f64, f64)> {
        self.hand_over_drift_us().filter(|drift| core_to_core::is_move(*drift))
    }

    /// Returns the core's peak in MFLOP/s.
    pub fn peak_mflop_per_s(&self, precision: Precision) -> Option<f64> {
        match precision {
            Precision::Single => self.peak_single_mflop_per_s,
            Precision::Double => self.peak_double_mflop_per_s,
        }
    }

    /// Returns one core's copy rate at a size in MB/s: on a straight line between the logarithms of the neighbouring
    /// measured sizes, and beyond them that of the last.
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
}
