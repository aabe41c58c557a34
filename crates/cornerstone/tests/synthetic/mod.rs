//! Invented runs with the shapes of real ones, from a seed. For tests and for views of the report.
#![allow(dead_code)] // Each test and example uses its part.

mod measurements;

use std::collections::BTreeMap;

use analysis::statistics::{Sample, summarise};
use contract::FabricDescription;
use record::{Environment, Measurement, Parameters, Run, RunHeader, StopReason};

use measurements::measurements;

/// A machine as the generator describes it.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) label: &'static str,
    pub(crate) fabric: &'static str,
    pub(crate) host: &'static str,
    pub(crate) processors: u64,
    pub(crate) hand_over_us: f64,
    pub(crate) copy_mb_per_s: f64,
    /// Percentage of samples that are disturbed.
    pub(crate) noise_percent: f64,
    pub(crate) seed: u64,
}

/// A desk-side machine with eight processors in two groups that share caches.
pub(crate) const DESK: Machine = Machine {
    label: "desk",
    fabric: "local",
    host: "desk",
    processors: 8,
    hand_over_us: 0.16,
    copy_mb_per_s: 21_000.0,
    noise_percent: 0.6,
    seed: 1986,
};

/// A machine with half the processors, slower between them, and noisier.
pub(crate) const CABINET: Machine = Machine {
    label: "cabinet",
    host: "cabinet",
    processors: 4,
    hand_over_us: 0.24,
    copy_mb_per_s: 14_000.0,
    noise_percent: 2.5,
    seed: 1995,
    ..DESK
};

/// The desk as a simulator would predict it, without noise.
pub(crate) const PREDICTED: Machine =
    Machine { label: "predicted", fabric: "sim:desk", noise_percent: 0.0, seed: 2002, ..DESK };

/// Returns a whole quick run: limits, point to point, collectives, streams.
pub(crate) fn run(machine: &Machine) -> Run {
    Run::of(machine.label, vec![header(machine)], measurements(machine))
}

/// Returns a run that measured nothing.
pub(crate) fn empty_run() -> Run {
    Run { measurements: Vec::new(), ended: false, ..run(&DESK) }
}

/// Returns a run of one benchmark only.
pub(crate) fn run_of(machine: &Machine, benchmark: &str) -> Run {
    let mut run = run(machine);
    run.measurements.retain(|m| m.benchmark == benchmark);
    run
}

/// Returns a run in which every text contains an injection attack on the page.
pub(crate) fn hostile_run() -> Run {
    let attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
    let mut run = run_of(&DESK, "ping-pong");
    run.label = attack.into();
    let header = &mut run.headers[0];
    header.command = vec![attack.into()];
    header.revision = attack.into();
    header.fabric.name = attack.into();
    header.fabric.details.insert(attack.into(), attack.into());
    header.environment.host = attack.into();
    header.environment.processor = attack.into();
    header.environment.other.insert(attack.into(), attack.into());
    for m in &mut run.measurements {
        m.benchmark = attack.into();
        m.group = attack.into();
        m.fabric = attack.into();
        m.parameters.insert(attack.into(), attack.into());
        m.unit = if m.metric == "time" { "us".into() } else { attack.into() };
        m.stop_reason = StopReason::TimeLimit;
    }
    run
}

/// Returns two pairs of a simulated line, one with twice the other's rate, and the use of its links.
pub(crate) fn pairs_run() -> Run {
    use record::LinkUse;
    let mut run = run_of(&PREDICTED, "ping-pong");
    let template = run.measurements.swap_remove(0);
    let measurement = |metric: &str, unit: &str, value: f64, pair: Option<&str>| {
        let mut parameters = Parameters::from([("layout".into(), "symmetric".into())]);
        parameters.extend(pair.map(|pair| ("pair".into(), pair.into())));
        Measurement {
            benchmark: "many-pairs".into(),
            group: "paragon".into(),
            ranks: 4,
            size_bytes: 1024,
            parameters,
            metric: metric.into(),
            unit: unit.into(),
            summary: summarise(&Sample::new([value; 6]).unwrap(), 0.95),
            samples: Vec::new(),
            warm_up_samples: Vec::new(),
            ..template.clone()
        }
    };
    let link = |link: &str, share, packets| LinkUse {
        link: link.into(),
        share,
        packets,
        queue_mean: share * 3.0,
        queue_max: packets / 100,
    };
    let mut time = measurement("time", "us", 100.0, None);
    time.link_use = vec![link("node 0 +x", 0.25, 7), link("node 1 +x", 0.75, 21)];
    run.measurements = vec![
        time,
        measurement("unsent", "%", 25.0, None),
        measurement("fairness", "%", 90.0, None),
        measurement("pair-rate", "MB/s", 20.0, Some("0-3")),
        measurement("pair-rate", "MB/s", 40.0, Some("1-2")),
    ];
    run
}

/// Returns a run of thousands of measurements.
pub(crate) fn large_run() -> Run {
    let mut whole = run(&DESK);
    let template = whole.measurements.clone();
    for copy in 1..12u64 {
        for m in &template {
            let mut m = m.clone();
            m.benchmark = format!("{}-{copy}", m.benchmark);
            whole.measurements.push(m);
        }
    }
    whole
}

/// Returns the run as its results file.
pub(crate) fn to_json_lines(run: &Run) -> String {
    use record::Line;
    let headers = run.headers.iter().cloned().map(Line::Run);
    let measurements = run.measurements.iter().cloned().map(Line::Measurement);
    headers.chain(measurements).map(|line| line.to_json() + "\n").collect()
}

fn header(machine: &Machine) -> RunHeader {
    let details = [("waiting", "spin, then yield"), ("large_messages", "one copy, both sides")];
    RunHeader {
        cornerstone_version: "0.1.0".into(),
        revision: "0123abc".into(),
        command: vec![
            "cornerstone".into(),
            "run".into(),
            "--seed".into(),
            machine.seed.to_string(),
        ],
        seed: machine.seed,
        fabric: FabricDescription {
            name: machine.fabric.into(),
            version: "0.1.0".into(),
            details: details.map(|(name, value)| (name.into(), value.into())).into(),
            ..FabricDescription::default()
        },
        environment: Environment {
            host: machine.host.into(),
            processor: "Made-up Processor 9000 at 3.2 GHz".into(),
            processors_available: machine.processors as usize,
            caches: ["L1d 32 KiB", "L2 1 MiB", "L3 32 MiB"].map(String::from).into(),
            memory_bytes: machine.processors << 32,
            kernel: "Linux 6.12.0".into(),
            clock_source: "tsc".into(),
            governor: "performance".into(),
            virtualisation: "none".into(),
            load_before: Some(0.08),
            other: BTreeMap::new(),
        },
        ..RunHeader::default()
    }
}
