//! Runs that no machine made: the same shapes as real ones, from a seed. For tests and for looking at the report.
#![allow(dead_code)] // Each test and example uses its part.

use std::collections::BTreeMap;

use analysis::statistics::{Sample, summarise};
use contract::record::{
    Better, Environment, FabricDescription, Measurement, Parameters, Run, RunHeader,
    SCHEMA_VERSION, StopReason, Timing,
};

/// A machine as the generator knows it.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) label: &'static str,
    pub(crate) fabric: &'static str,
    pub(crate) host: &'static str,
    pub(crate) processors: u64,
    pub(crate) hand_over_us: f64,
    pub(crate) copy_mb_per_s: f64,
    /// How many samples in a hundred are disturbed.
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

/// Half the processors, slower between them, and noisier.
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

/// The desk as a simulator would predict it: no noise.
pub(crate) const PREDICTED: Machine =
    Machine { label: "predicted", fabric: "sim:desk", noise_percent: 0.0, seed: 2002, ..DESK };

const SIZES: [u64; 12] =
    [0, 1, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// A whole quick run: limits, point to point, collectives, streams.
pub(crate) fn run(machine: &Machine) -> Run {
    let mut maker = Maker { machine, random: Random(machine.seed), measurements: Vec::new() };
    maker.limits();
    maker.point_to_point();
    maker.collectives();
    maker.streams();
    maker.packets();
    Run::of(machine.label, vec![header(machine)], maker.measurements)
}

/// A run that measured nothing.
pub(crate) fn empty_run() -> Run {
    Run { measurements: Vec::new(), ended: false, ..run(&DESK) }
}

/// A run of one benchmark only.
pub(crate) fn run_of(machine: &Machine, benchmark: &str) -> Run {
    let mut run = run(machine);
    run.measurements.retain(|m| m.benchmark == benchmark);
    run
}

/// A run whose every text tries to break out of the page.
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

/// Two pairs of a simulated line, of which one gets twice the other's rate, and the use of its links.
pub(crate) fn pairs_run() -> Run {
    use contract::record::LinkUse;
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
    let link = |link: &str, share, packets| LinkUse { link: link.into(), share, packets };
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

/// Thousands of measurements.
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

/// The run as its results file.
pub(crate) fn to_json_lines(run: &Run) -> String {
    use contract::record::Line;
    let headers = run.headers.iter().cloned().map(Line::Run);
    let measurements = run.measurements.iter().cloned().map(Line::Measurement);
    headers.chain(measurements).map(|line| line.to_json() + "\n").collect()
}

/// What one measurement is of.
struct Subject<'a> {
    benchmark: &'a str,
    group: &'a str,
    ranks: usize,
    size_bytes: u64,
    parameters: Parameters,
}

struct Maker<'a> {
    machine: &'a Machine,
    random: Random,
    measurements: Vec<Measurement>,
}

impl Maker<'_> {
    fn limits(&mut self) {
        for first in 0..self.machine.processors {
            for second in first + 1..self.machine.processors {
                let near = first / 4 == second / 4;
                let time = self.machine.hand_over_us * if near { 1.0 } else { 2.1 };
                let parameters = [("from", first), ("to", second)];
                self.time(subject("hand-over", "limits", 2, 64, &parameters), time, None);
            }
        }
        for power in 10..=26 {
            let size = 1u64 << power;
            let time = size as f64 / self.copy_rate(size) + 0.01;
            self.time(subject("copy", "limits", 1, size, &[]), time, Some(1.0));
        }
        self.time(subject("process-switch", "limits", 2, 0, &[]), 2.4, None);
        self.time(subject("clock-cost", "limits", 1, 0, &[]), 0.024, None);
    }

    fn point_to_point(&mut self) {
        let shapes = [("ping-pong", "sharc", 1.0), ("simple-transfer", "cube", 1.1)];
        for (benchmark, group, factor) in shapes {
            for size in SIZES {
                let time = self.message_us(size) * factor;
                self.time(subject(benchmark, group, 2, size, &[]), time, Some(1.0));
            }
        }
    }

    fn collectives(&mut self) {
        for ranks in [2usize, 4, 8, 16] {
            let steps = (ranks as f64).log2();
            let shared = (ranks as f64 / self.machine.processors as f64).max(1.0);
            let switch = if shared > 1.0 { 4.0 * shared } else { 0.0 };
            let barrier = self.machine.hand_over_us * 2.1 * steps + switch;
            self.time(subject("barrier", "collectives", ranks, 0, &[]), barrier, None);
            for size in SIZES {
                let one = self.message_us(size) * shared + switch;
                let several = [("broadcast", steps), ("allreduce", 2.2 * steps)];
                for (benchmark, factor) in several {
                    let moved = Some((ranks - 1) as f64);
                    let subject = subject(benchmark, "collectives", ranks, size, &[]);
                    self.time(subject, one * factor, moved);
                }
            }
        }
    }

    fn streams(&mut self) {
        for size in SIZES.into_iter().filter(|&size| size > 0) {
            let one_way = self.message_us(size) * 0.6;
            self.time(subject("bandwidth", "streams", 2, size, &[]), one_way, Some(1.0));
            self.time(
                subject("two-way-bandwidth", "streams", 2, size, &[]),
                one_way * 1.2,
                Some(2.0),
            );
        }
    }

    fn packets(&mut self) {
        for packet in [256u64, 1 << 10, 4 << 10, 16 << 10] {
            for acknowledgement in [false, true] {
                for size in [64 << 10, 1 << 20] {
                    let packets = (size as f64 / packet as f64).ceil();
                    let each = self.message_us(packet) * if acknowledgement { 2.0 } else { 0.7 };
                    let mut subject =
                        subject("adjacent-pair", "paragon", 2, size, &[("packet_bytes", packet)]);
                    subject.parameters.insert("acknowledgement".into(), acknowledgement.into());
                    self.time(subject, packets * each, Some(1.0));
                }
            }
        }
    }

    /// One way: a short message, a copy in and out, a hand-shake from 32 KiB on.
    fn message_us(&self, size: u64) -> f64 {
        let handshake = if size >= 32 << 10 { 1.6 } else { 0.0 };
        self.machine.hand_over_us * 1.5 + handshake + size as f64 / self.copy_rate(size)
    }

    /// In cache twice as fast as out of it.
    fn copy_rate(&self, size: u64) -> f64 {
        let out_of_cache = 1.0 / (1.0 + (-((size as f64).log2() - 21.0)).exp());
        self.machine.copy_mb_per_s * (1.9 - 1.2 * out_of_cache)
    }

    /// A time and, where it moves `times` messages, the rate that follows.
    fn time(&mut self, subject: Subject, typical_us: f64, times: Option<f64>) {
        let limited = typical_us > 2500.0;
        let n = if limited { 12 } else { 60 + self.random.below(700) as usize };
        let samples: Vec<f64> = (0..n).map(|_| self.sample(typical_us)).collect();
        let stop = match () {
            () if limited => StopReason::TimeLimit,
            () if self.random.below(100) < self.machine.noise_percent as u64 => {
                StopReason::SampleLimit
            }
            () => StopReason::Precision,
        };
        let time = self.measurement(&subject, &samples, stop);
        self.measurements.push(time.clone());
        let Some(times) = times.filter(|_| subject.size_bytes > 0) else { return };
        let moved = subject.size_bytes as f64 * times;
        let rates: Vec<f64> = samples.iter().map(|us| moved / us).collect();
        self.measurements.push(Measurement {
            metric: "rate".into(),
            unit: "MB/s".into(),
            better: Better::Higher,
            summary: summarise(&Sample::new(rates).unwrap(), 0.95),
            samples: Vec::new(),
            warm_up_samples: Vec::new(),
            ..time
        });
    }

    /// Skewed to the right, in steps of a nanosecond, with rare long disturbances.
    fn sample(&mut self, typical_us: f64) -> f64 {
        if self.machine.noise_percent == 0.0 {
            return typical_us;
        }
        let skew = 0.9 + 0.4 * self.random.unit().powi(2) + 0.02 * (self.random.unit() - 0.5);
        let disturbed = self.random.unit() * 100.0 < self.machine.noise_percent;
        let disturbance = if disturbed { 3.0 + 40.0 * self.random.unit() } else { 0.0 };
        ((typical_us * skew + disturbance) * 1e3).round() / 1e3
    }

    fn measurement(&mut self, subject: &Subject, samples: &[f64], stop: StopReason) -> Measurement {
        let warm_up: Vec<f64> =
            (0..8).map(|k| samples[0] * (1.0 + 2.0 / f64::from(k + 1))).collect();
        Measurement {
            benchmark: subject.benchmark.into(),
            group: subject.group.into(),
            fabric: self.machine.fabric.into(),
            ranks: subject.ranks,
            size_bytes: subject.size_bytes,
            parameters: subject.parameters.clone(),
            metric: "time".into(),
            unit: "us".into(),
            better: Better::Lower,
            summary: summarise(&Sample::new(samples).unwrap(), 0.95),
            stop_reason: stop,
            timing: Timing {
                events_per_sample: if samples[0] < 0.1 { 64 } else { 1 },
                clock_share: 0.024 / samples[0].max(0.024) * 0.05,
                start: if subject.ranks > 2 { "time" } else { "none" }.into(),
                late_starts: self.random.below(3),
                spent_s: samples.iter().sum::<f64>() * 1e-6,
            },
            samples: samples.into(),
            warm_up_samples: warm_up,
            search: None,
            link_use: Vec::new(),
            turns: Vec::new(),
            pauses: None,
        }
    }
}

fn subject<'a>(
    benchmark: &'a str,
    group: &'a str,
    ranks: usize,
    size_bytes: u64,
    parameters: &[(&str, u64)],
) -> Subject<'a> {
    let parameters =
        parameters.iter().map(|&(name, value)| (name.to_string(), value.into())).collect();
    Subject { benchmark, group, ranks, size_bytes, parameters }
}

fn header(machine: &Machine) -> RunHeader {
    let details = [("waiting", "spin, then yield"), ("large_messages", "one copy, both sides")];
    RunHeader {
        schema_version: SCHEMA_VERSION,
        cornerstone_version: "0.1.0".into(),
        revision: "0123abc".into(),
        command: vec![
            "cornerstone".into(),
            "run".into(),
            "--seed".into(),
            machine.seed.to_string(),
        ],
        started: "2026-01-31T12:00:00Z".into(),
        seed: machine.seed,
        precision: 0.05,
        confidence: 0.95,
        time_limit_s: 1.0,
        fabric: FabricDescription {
            name: machine.fabric.into(),
            version: "0.1.0".into(),
            details: details.map(|(name, value)| (name.into(), value.into())).into(),
        },
        texts: Default::default(),
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
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): enough for made-up samples, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
