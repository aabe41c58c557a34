//! The rates of a processor's work, from the serial programs of applications and from the corner turn in memory.

use contract::WorkKind;
use record::{Measurement, Run};

/// Benchmarks from which rates of work are taken.
const MULTIPLY: &str = "multiply";
const SORT: &str = "parallel-sort";
const TRANSFORM: &str = "parallel-fft";
const RELAXATION: &str = "sor";
const CORNER_TURN: &str = "corner-turn-memory";

/// Metric of the serial program's time.
const SERIAL: &str = "serial";

const NUMBER_BYTES: f64 = 8.0;
const POINT_BYTES: f64 = 16.0;
/// Number of times that a transform turns its matrix.
const TURNS: f64 = 3.0;
/// Floating-point operations of a point in an iteration of over-relaxation.
const OPERATIONS: f64 = 8.0;

/// Rates by kind of work, in millions of operations or bytes a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkRates(Vec<(WorkKind, f64)>);

impl WorkRates {
    /// Returns the rates in a run, from the largest problem of each application. `copy_us` is the time of a copy by its
    /// bytes.
    pub(crate) fn of(run: &Run, copy_us: impl Fn(f64) -> f64) -> WorkRates {
        let mut rates = Vec::new();
        let mut add = |kind, rate: Option<f64>| {
            rates.extend(
                rate.filter(|rate| rate.is_finite() && *rate > 0.0).map(|rate| (kind, rate)),
            );
        };
        add(
            WorkKind::FloatingPoint,
            largest(run, RELAXATION, SERIAL).and_then(|serial| {
                let iterations = metric_of_same_case(run, serial, "iterations")?;
                let points = serial.size_bytes as f64 / NUMBER_BYTES;
                Some(OPERATIONS * points * iterations / serial.summary.median)
            }),
        );
        let turning = largest(run, CORNER_TURN, "rate").map(|rate| rate.summary.median);
        add(WorkKind::CornerTurnBytes, turning);
        add(
            WorkKind::Fft,
            largest(run, TRANSFORM, SERIAL).zip(turning).map(|(serial, turning)| {
                let bytes = serial.size_bytes as f64;
                let points = bytes / POINT_BYTES;
                let rest_us = serial.summary.median - TURNS * bytes / turning;
                5.0 * points * points.log2() / rest_us
            }),
        );
        add(
            WorkKind::MatrixMultiply,
            largest(run, MULTIPLY, SERIAL).map(|serial| {
                let order = (serial.size_bytes as f64 / NUMBER_BYTES).sqrt();
                2.0 * order.powi(3) / serial.summary.median
            }),
        );
        add(
            WorkKind::Sort,
            largest(run, SORT, SERIAL).map(|serial| {
                let bytes = serial.size_bytes as f64;
                let numbers = bytes / NUMBER_BYTES;
                numbers * numbers.log2() / (serial.summary.median - copy_us(bytes))
            }),
        );
        WorkRates(rates)
    }

    /// Returns the lines of the table `processor`.
    pub(crate) fn text(&self) -> String {
        let line = |(kind, rate): &(WorkKind, f64)| format!("{} = {rate:.3}\n", kind.rate_key());
        self.0.iter().map(line).collect()
    }
}

/// Returns the measurement of the largest size; of those, one of the fewest ranks and, if grids are cut, of the fewest
/// partitions.
fn largest<'a>(run: &'a Run, benchmark: &str, metric: &str) -> Option<&'a Measurement> {
    let found = run.measurements.iter().filter(|m| m.benchmark == benchmark && m.metric == metric);
    found.max_by(|a, b| a.size_bytes.cmp(&b.size_bytes).then(b.key().cmp(&a.key())))
}

/// Returns another metric of the same measurement.
fn metric_of_same_case(run: &Run, of: &Measurement, metric: &str) -> Option<f64> {
    let key = of.key();
    let same = |m: &&Measurement| m.metric == metric && m.key() == key;
    run.measurements.iter().find(same).map(|m| m.summary.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(benchmark: &str, metric: &str, size_bytes: u64, median: f64) -> serde_json::Value {
        serde_json::json!({
            "kind": "measurement", "benchmark": benchmark, "group": "", "fabric": "local",
            "ranks": 2, "size_bytes": size_bytes, "parameters": {}, "metric": metric, "unit": "us",
            "better": "lower", "median": median, "ci_low": median, "ci_high": median,
            "ci_confidence": 0.95, "mean": median, "min": median, "p99": median, "p999": median,
            "max": median, "n": 1, "stop_reason": "precision", "samples": [],
            "outliers": { "low_severe": 0, "low_mild": 0, "high_mild": 0, "high_severe": 0 },
            "timing": { "events_per_sample": 1, "clock_share": 0.0, "start": "none",
                "late_starts": 0, "spent_s": 0.1 },
            "warm_up_samples": [],
        })
    }

    fn rates(lines: &[serde_json::Value]) -> WorkRates {
        let measurements = lines.iter().map(|line| serde_json::from_value(line.clone()).unwrap());
        let run = Run::of("run", Vec::new(), measurements.collect());
        WorkRates::of(&run, |bytes| bytes / 1000.0)
    }

    /// Tests rates that are derived by hand: two matrices of order 100 are two million operations; 1024 numbers are
    /// 10240 comparisons after a copy of 8.192 us; the grid has 16 x 16 points in 50 iterations of 8 operations each.
    #[test]
    fn serial_programs_tell_the_rates_of_their_work() {
        let found = rates(&[
            measured(MULTIPLY, SERIAL, 8, 1.0),
            measured(MULTIPLY, SERIAL, 80_000, 500.0),
            measured(SORT, SERIAL, 8192, 108.192),
            measured(RELAXATION, SERIAL, 2048, 64.0),
            measured(RELAXATION, "iterations", 2048, 50.0),
        ]);
        let of =
            |kind| found.0.iter().find(|(its_kind, _)| *its_kind == kind).map(|(_, rate)| *rate);
        let near = |kind, expected: f64| {
            let rate = of(kind).unwrap();
            assert!((rate / expected - 1.0).abs() < 1e-9, "{kind:?} {rate}");
        };
        near(WorkKind::MatrixMultiply, 4000.0);
        near(WorkKind::Sort, 102.4);
        near(WorkKind::FloatingPoint, 8.0 * 256.0 * 50.0 / 64.0);
        // A transform without the rate of its turns is not enough.
        assert_eq!(rates(&[measured(TRANSFORM, SERIAL, 1024, 10.0)]), WorkRates::default());
    }

    /// Tests a rate that is derived by hand: 64 points of 1024 bytes are turned three times at 1024 bytes a microsecond
    /// and transformed in 7 more.
    #[test]
    fn a_transform_is_what_its_turns_leave() {
        let found = rates(&[
            measured(TRANSFORM, SERIAL, 1024, 10.0),
            measured(CORNER_TURN, "rate", 4096, 1024.0),
        ]);
        let fft = found.0.iter().find(|(kind, _)| *kind == WorkKind::Fft).unwrap().1;
        assert!((fft - 5.0 * 64.0 * 6.0 / 7.0).abs() < 1e-9, "{fft}");
    }
}
