//! Records that tests invent.

use record::{Better, Measurement, Run, RunHeader};

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

pub(crate) fn run(measurements: Vec<Measurement>) -> Run {
    Run::of("run", vec![RunHeader::default()], measurements)
}
