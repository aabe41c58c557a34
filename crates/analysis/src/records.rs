//! Records that tests invent.

use record::{Better, Measurement, Repetition, Run, RunHeader};

use crate::statistics::{Sample, summarise};

/// Returns a time in microseconds on two ranks, with a 95 % interval from `samples`.
pub(crate) fn measurement(benchmark: &str, size_bytes: u64, samples: &[f64]) -> Measurement {
    Measurement {
        benchmark: benchmark.into(),
        group: "point-to-point".into(),
        fabric: "local".into(),
        ranks: 2,
        size_bytes,
        samples: samples.into(),
        ..Measurement::new(
            "time",
            "us",
            Better::Lower,
            summarise(&Sample::new(samples).unwrap(), 0.95),
        )
    }
}

/// Returns the measurement of a launch with these lines before and after it.
pub(crate) fn with_line(measurement: Measurement, line_us: [f64; 2]) -> Measurement {
    let samples = measurement.samples.len() as u64;
    let turn =
        Repetition { samples, clock_share: 0.0, line_us: Some(line_us), operations_ns: Vec::new() };
    Measurement { turns: vec![turn], ..measurement }
}

pub(crate) fn run(measurements: Vec<Measurement>) -> Run {
    Run::of("run", vec![RunHeader::default()], measurements)
}
