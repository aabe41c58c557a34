//! Invented measurements of a machine, from its few numbers and a seed.

use analysis::statistics::{Sample, summarise};
use random::SplitMix64;
use record::{Better, Measurement, Parameters, StopReason, Timing};

use super::Machine;

const SIZES: [u64; 12] =
    [0, 1, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Returns the measurements of a whole quick run.
pub(super) fn measurements(machine: &Machine) -> Vec<Measurement> {
    let mut maker =
        Maker { machine, random: SplitMix64::new(machine.seed), measurements: Vec::new() };
    maker.limits();
    maker.point_to_point();
    maker.collectives();
    maker.streams();
    maker.packets();
    maker.measurements
}

/// The subject of one measurement.
struct Subject<'a> {
    benchmark: &'a str,
    group: &'a str,
    ranks: usize,
    size_bytes: u64,
    parameters: Parameters,
}

struct Maker<'a> {
    machine: &'a Machine,
    random: SplitMix64,
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

    /// Returns the time of one direction: a short message, a copy in and out, a hand-shake from 32 KiB on.
    fn message_us(&self, size: u64) -> f64 {
        let handshake = if size >= 32 << 10 { 1.6 } else { 0.0 };
        self.machine.hand_over_us * 1.5 + handshake + size as f64 / self.copy_rate(size)
    }

    /// Returns the rate of a copy, which is twice as high in cache as out of it.
    fn copy_rate(&self, size: u64) -> f64 {
        let out_of_cache = 1.0 / (1.0 + (-((size as f64).log2() - 21.0)).exp());
        self.machine.copy_mb_per_s * (1.9 - 1.2 * out_of_cache)
    }

    /// Adds a time and, if it is of `times` messages, the rate that follows.
    fn time(&mut self, subject: Subject, typical_us: f64, times: Option<f64>) {
        let limited = typical_us > 2500.0;
        let n = if limited { 12 } else { 60 + self.random.below(700) };
        let samples: Vec<f64> = (0..n).map(|_| self.sample(typical_us)).collect();
        let stop = match () {
            () if limited => StopReason::TimeLimit,
            () if self.random.below(100) < self.machine.noise_percent as usize => {
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

    /// Returns a sample, skewed to the right, in steps of a nanosecond, with rare long disturbances.
    fn sample(&mut self, typical_us: f64) -> f64 {
        if self.machine.noise_percent == 0.0 {
            return typical_us;
        }
        let skew = 0.9 + 0.4 * self.random.uniform().powi(2) + 0.02 * (self.random.uniform() - 0.5);
        let disturbed = self.random.uniform() * 100.0 < self.machine.noise_percent;
        let disturbance = if disturbed { 3.0 + 40.0 * self.random.uniform() } else { 0.0 };
        ((typical_us * skew + disturbance) * 1e3).round() / 1e3
    }

    fn measurement(&mut self, subject: &Subject, samples: &[f64], stop: StopReason) -> Measurement {
        let warm_up: Vec<f64> =
            (0..8).map(|k| samples[0] * (1.0 + 2.0 / f64::from(k + 1))).collect();
        let summary = summarise(&Sample::new(samples).unwrap(), 0.95);
        Measurement {
            benchmark: subject.benchmark.into(),
            group: subject.group.into(),
            fabric: self.machine.fabric.into(),
            ranks: subject.ranks,
            size_bytes: subject.size_bytes,
            parameters: subject.parameters.clone(),
            stop_reason: stop,
            timing: Timing {
                events_per_sample: if samples[0] < 0.1 { 64 } else { 1 },
                clock_share: 0.024 / samples[0].max(0.024) * 0.05,
                start: if subject.ranks > 2 { "time" } else { "none" }.into(),
                late_starts: self.random.below(3) as u64,
                spent_s: samples.iter().sum::<f64>() * 1e-6,
            },
            samples: samples.into(),
            warm_up_samples: warm_up,
            ..Measurement::new("time", "us", Better::Lower, summary)
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
