//! How near a number comes to what the machine allows.
//!
//! A run measures its machine's own limits: what it takes to hand one cache line from a core to another, to hand a core
//! from a process to another, how fast one core copies, and how many floating-point operations it can do. What bounds
//! which benchmark is a [`Bound`]; a number against its bound is a [`Share`].
//!
//! A message cannot be in another core's hands before a line has been handed over, nor can its bytes be in another
//! buffer before a core has copied them, nor can ranks that share a core all run without a switch. The floor of such a
//! benchmark's time is therefore
//!
//! > hand-overs x (one hand-over) + switches x (one switch) + copies x (size beyond the first line) / (copy rate of
//! > the part that one core copies)
//!
//! with what must at least happen one after the other ([`critical_path`]), and the share of the limit is floor /
//! measured. The fastest pair of cores counts, as a record does not say where its ranks were. Switch and copy are
//! yardsticks rather than laws: where nobody copies, where parts of a message fit a cache that copies of that size just
//! miss, or where the kernel switches without being asked to wake somebody, a share may exceed 1.
//!
//! A rate of floating-point operations is held against the core's peak, a rate of bytes moved in memory against a plain
//! copy. Nominal operations are more than a fast transform does, so a share of the peak may flatter it.

mod bound;
mod critical_path;
mod hand_over;
mod share;

use contract::record::{Measurement, ParameterValue, Parameters, Run};
use serde::Serialize;

pub use bound::{Bound, Precision, STREAM_VECTOR_BYTES};
pub use critical_path::{CriticalPath, critical_path};
pub use hand_over::{HandOver, Repeat};
pub use share::{Share, Shares};

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
/// The benchmark of a core's floating-point peak: `rate` in MFLOP/s by [`PRECISION`].
pub const PEAK: &str = "peak";
/// The parameter of a peak: a [`Precision`] by its name.
pub const PRECISION: &str = "precision";

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
    /// How many cores the run could use; 0 where the run does not say.
    pub cores: usize,
}

/// One core's copying at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Copy {
    /// How much is copied at once.
    pub size_bytes: u64,
    /// How fast, in MB/s.
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
            (HAND_OVER, "time") => self.add_hand_over(measurement),
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

fn number(parameters: &Parameters, name: &str) -> Option<u64> {
    match parameters.get(name) {
        Some(ParameterValue::Number(number)) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
