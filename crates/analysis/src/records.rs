//! Records that tests make up.

use contract::record::{
    Better, Environment, FabricDescription, Measurement, Run, RunHeader, SCHEMA_VERSION,
    StopReason, Timing,
};

use crate::statistics::{Sample, summarise};

/// A time in microseconds on two ranks, with a 95 % interval from `samples`.
pub(crate) fn measurement(benchmark: &str, size_bytes: u64, samples: &[f64]) -> Measurement {
    Measurement {
        benchmark: benchmark.into(),
        group: "point-to-point".into(),
        fabric: "local".into(),
        ranks: 2,
        size_bytes,
        parameters: Default::default(),
        metric: "time".into(),
        unit: "us".into(),
        better: Better::Lower,
        summary: summarise(&Sample::new(samples).unwrap(), 0.95),
        stop_reason: StopReason::Precision,
        timing: Timing {
            events_per_sample: 1,
            clock_share: 0.0,
            start: "none".into(),
            late_starts: 0,
            spent_s: 0.0,
        },
        samples: samples.into(),
        warm_up_samples: Vec::new(),
        search: None,
        link_use: Vec::new(),
        turns: Vec::new(),
        pauses: None,
        launch: 0,
        launch_medians: Vec::new(),
    }
}

pub(crate) fn run(measurements: Vec<Measurement>) -> Run {
    let header = RunHeader {
        schema_version: SCHEMA_VERSION,
        cornerstone_version: "0".into(),
        revision: "unknown".into(),
        command: Vec::new(),
        started: "2026-01-31T12:00:00Z".into(),
        seed: 1,
        precision: 0.05,
        confidence: 0.95,
        time_limit_s: 1.0,
        fabric: FabricDescription::default(),
        texts: Default::default(),
        environment: Environment::default(),
    };
    Run::of("run", vec![header], measurements)
}
