//! The limits of a machine, as a run measured them.

use record::{Measurement, Run};
use serde::Serialize;

use super::core_to_core::{self, HandOver, Measured, Repeat};
use super::precision::Precision;

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
/// The benchmark of a core's floating-point peak: `rate` in MFLOP/s by [`PRECISION`](super::PRECISION).
pub const PEAK: &str = "peak";

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
    /// The core's peak in single precision, in MFLOP/s.
    pub peak_single_mflop_per_s: Option<f64>,
    /// The core's peak in double precision, in MFLOP/s.
    pub peak_double_mflop_per_s: Option<f64>,
    /// The number of cores that the run could use; 0 if the run does not record it.
    pub cores: usize,
}

/// One core's copying at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Copy {
    /// The number of bytes copied at once.
    pub size_bytes: u64,
    /// The rate in MB/s.
    pub rate_mb_per_s: f64,
}

impl Limits {
    /// Finds the limits among the measurements of a run; of two of one kind the later counts.
    pub fn of(run: &Run) -> Self {
        let cores = run.header().environment.processors_available;
        let mut limits = Limits { cores, ..Limits::default() };
        run.measurements.iter().for_each(|measurement| limits.add(measurement));
        limits
    }

    /// Takes a measurement in, if it is of a limit.
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

    /// The shortest hand-over of all pairs, in microseconds.
    pub fn fastest_hand_over_us(&self) -> Option<f64> {
        core_to_core::fastest_us(&self.hand_overs)
    }

    /// The shortest hand-over while the benchmarks of `group` ran with so many `ranks`, in microseconds. A hypervisor
    /// may move a virtual core in mid-run, and every hand-over then takes another time.
    pub fn hand_over_during_us(&self, group: &str, ranks: usize) -> Option<f64> {
        core_to_core::during_us(&self.hand_overs, &self.repeats, group, ranks)
    }

    /// The shortest and the longest hand-over between the first two cores in the course of the run, in microseconds;
    /// none where it was measured once only.
    pub fn hand_over_drift_us(&self) -> Option<(f64, f64)> {
        core_to_core::drift_us(&self.hand_overs, &self.repeats)
    }

    /// The drift, where it is too large for noise: the machine itself changed in the course of the run.
    pub fn moved_us(&self) -> Option<(f64, f64)> {
        self.hand_over_drift_us().filter(|drift| core_to_core::is_move(*drift))
    }

    /// The core's peak in MFLOP/s.
    pub fn peak_mflop_per_s(&self, precision: Precision) -> Option<f64> {
        match precision {
            Precision::Single => self.peak_single_mflop_per_s,
            Precision::Double => self.peak_double_mflop_per_s,
        }
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
}
