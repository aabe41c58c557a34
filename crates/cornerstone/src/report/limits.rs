//! The machine's own limits, against which every other number stands.

use contract::record::{Measurement, ParameterValue, Run};
use maud::{Markup, html};

use super::chart::Reference;
use super::format::{percent, significant, size, value};
use super::grouping::{Axis, Benchmark, Metric};
use super::numbers::swatch;

const HAND_OVER: &str = "cache-line";
const COPY: &str = "copy";

/// The limits of each run's machine.
pub(super) struct Limits {
    runs: Vec<MachineLimits>,
}

/// The limits of one machine; what a run did not measure is empty.
#[derive(Default)]
pub(super) struct MachineLimits {
    /// Handing a cache line from the first processor to the second: one way, in microseconds.
    pub(super) hand_overs: Vec<HandOver>,
    /// Copy bandwidth of one core: bytes and MB/s, in ascending order.
    pub(super) copies: Vec<(u64, f64)>,
}

/// One pair of processors.
pub(super) struct HandOver {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) time_us: f64,
}

impl Limits {
    /// Finds the limits among the measurements.
    pub(super) fn of(runs: &[Run]) -> Limits {
        Limits { runs: runs.iter().map(MachineLimits::of).collect() }
    }

    /// The limits of one run.
    pub(super) fn run(&self, run: usize) -> &MachineLimits {
        &self.runs[run]
    }

    /// Whether a benchmark is of pairs of processors, which a table shows better than a chart.
    pub(super) fn is_of_pairs(benchmark: &Benchmark) -> bool {
        benchmark.name == HAND_OVER
    }

    /// A value against the limit that bounds it, in words.
    pub(super) fn share(&self, run: usize, m: &Measurement) -> Option<String> {
        let limits = self.run(run);
        match m.unit.as_str() {
            "MB/s" => Some(format!(
                "{} of copy",
                percent(m.summary.median / limits.copy_mb_per_s(m.size_bytes)?)
            )),
            "us" if m.size_bytes <= 64 => Some(format!(
                "{} hand-overs",
                significant(m.summary.median / limits.fastest_hand_over_us()?)
            )),
            _ => None,
        }
    }

    /// The limits as lines of a chart of `metric` over `axis`.
    pub(super) fn references(&self, metric: &Metric, axis: &Axis) -> Vec<Reference> {
        if *axis != Axis::Size {
            return Vec::new();
        }
        let copies = |(run, limits): (usize, &MachineLimits)| {
            (metric.unit == "MB/s" && !limits.copies.is_empty()).then(|| Reference {
                label: "copy by one core".into(),
                run,
                x: limits.copies.iter().map(|&(bytes, _)| bytes).collect(),
                y: limits.copies.iter().map(|&(_, rate)| rate).collect(),
            })
        };
        self.runs.iter().enumerate().filter_map(copies).collect()
    }

    /// The pairs of processors as a heat-map for each run.
    pub(super) fn hand_over_tables(&self, runs: &[Run]) -> Markup {
        html! {
            @for (index, run) in runs.iter().enumerate() {
                @let limits = self.run(index);
                @if !limits.hand_overs.is_empty() {
                    (limits.hand_over_table(index, run, runs.len() > 1))
                }
            }
        }
    }
}

impl MachineLimits {
    fn of(run: &Run) -> MachineLimits {
        let mut limits = MachineLimits::default();
        for m in &run.measurements {
            match (m.benchmark.as_str(), m.unit.as_str()) {
                (HAND_OVER, "us") => limits.hand_overs.extend(HandOver::of(m)),
                (COPY, "MB/s") => limits.copies.push((m.size_bytes, m.summary.median)),
                _ => {}
            }
        }
        limits.copies.sort_by_key(|&(bytes, _)| bytes);
        limits
    }

    /// The shortest hand-over of all pairs.
    pub(super) fn fastest_hand_over_us(&self) -> Option<f64> {
        self.hand_overs.iter().map(|h| h.time_us).min_by(f64::total_cmp)
    }

    /// The copy bandwidth at the measured size nearest to `bytes`.
    pub(super) fn copy_mb_per_s(&self, bytes: u64) -> Option<f64> {
        let distance = |&&(size, _): &&(u64, f64)| {
            ((size.max(1) as f64).ln() - (bytes.max(1) as f64).ln()).abs()
        };
        let nearest = |a: &&(u64, f64), b: &&(u64, f64)| distance(a).total_cmp(&distance(b));
        self.copies.iter().min_by(nearest).map(|&(_, rate)| rate)
    }

    fn hand_over_table(&self, index: usize, run: &Run, several: bool) -> Markup {
        let mut processors: Vec<u64> =
            self.hand_overs.iter().flat_map(|h| [h.from, h.to]).collect();
        processors.sort_unstable();
        processors.dedup();
        let low = self.fastest_hand_over_us().unwrap_or(0.0);
        let high = self.hand_overs.iter().map(|h| h.time_us).fold(low, f64::max);
        html! {
            div.scroll tabindex="0" role="region" aria-label="Hand-over of a cache line" {
                table.heat {
                    caption {
                        @if several { (swatch(index)) (run.label) ": " }
                        "one cache line from core to core, one way (ns)"
                    }
                    thead { tr {
                        td {}
                        @for to in &processors { th scope="col" { (to) } }
                    } }
                    tbody { @for from in &processors { tr {
                        th scope="row" { (from) }
                        @for to in &processors { (self.heat_cell(*from, *to, low, high)) }
                    } } }
                }
            }
        }
    }

    fn heat_cell(&self, from: u64, to: u64, low: f64, high: f64) -> Markup {
        let found = self
            .hand_overs
            .iter()
            .find(|h| (h.from, h.to) == (from, to) || (h.from, h.to) == (to, from));
        let Some(pair) = found.filter(|_| from != to) else { return html! { td.none {} } };
        // Nine steps of one hue; a pair twice as slow must look different, a pair 1 % slower must not.
        let spread = (high / low).ln().max(1.25f64.ln());
        let heat = ((pair.time_us / low).ln() / spread * 8.0).round() as u32;
        let title = format!("cores {from} and {to}: {}", value(pair.time_us, "us"));
        html! { td class=(format!("heat-{heat}")) title=(title) { (significant(pair.time_us * 1e3)) } }
    }
}

impl HandOver {
    fn of(m: &Measurement) -> Option<HandOver> {
        let number = |name: &str| match m.parameters.get(name) {
            Some(ParameterValue::Number(number)) => Some(*number),
            _ => None,
        };
        Some(HandOver {
            from: number("first_processor")?,
            to: number("second_processor")?,
            time_us: m.summary.median,
        })
    }
}

/// The largest copy bandwidth and the size at which it was reached, in words.
pub(super) fn best_copy(limits: &MachineLimits) -> Option<String> {
    let &(bytes, rate) = limits.copies.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!("{} at {}", value(rate, "MB/s"), size(bytes)))
}
