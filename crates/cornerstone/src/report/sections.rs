//! The sections of the page.

use contract::record::{Measurement, Run};
use maud::{Markup, html};
use serde::Serialize;

use super::chart::{Chart, Context, capitalised};
use super::fits::{self, Fit};
use super::format::size;
use super::grouping::{Benchmark, Metric, full_label, words};
use super::limits::Limits;
use super::numbers;
use super::samples::Samples;
use super::standout::anchor;

/// What the page's script gets to know about a benchmark.
#[derive(Serialize)]
pub(super) struct BenchmarkData {
    /// What is always in view, then what belongs to the straight lines.
    charts: Vec<Chart>,
    #[serde(skip)]
    charts_of_fits: usize,
    details: Vec<Detail>,
}

/// The samples of a measurement, with what their charts say about it.
#[derive(Serialize)]
struct Detail {
    run: usize,
    label: String,
    unit: String,
    median: f64,
    low: f64,
    high: f64,
    p99: f64,
    max: f64,
    n: u64,
    /// Samples beyond Tukey's fences: low severe, low mild, high mild, high severe.
    outliers: [u64; 4],
    samples: Samples,
}

/// A benchmark, ready to be written and drawn.
pub(super) struct Prepared {
    pub(super) data: BenchmarkData,
    pub(super) article: Markup,
}

struct Shares<'a> {
    limits: &'a Limits,
    /// The measurements that have details, in their order.
    detailed: Vec<&'a Measurement>,
}

impl Context for Shares<'_> {
    fn share(&self, run: usize, measurement: &Measurement) -> Option<String> {
        self.limits.share(run, measurement)
    }

    fn detail(&self, measurement: &Measurement) -> Option<usize> {
        self.detailed.iter().position(|&detailed| std::ptr::eq(detailed, measurement))
    }
}

/// A benchmark's article and what its charts draw. `numbers` bounds each trace of samples.
pub(super) fn prepare(
    index: usize,
    benchmark: &Benchmark,
    runs: &[Run],
    limits: &Limits,
    numbers: usize,
) -> Prepared {
    let fits: Vec<Fit> = benchmark.metrics.iter().flat_map(|m| fits::fits(m, runs)).collect();
    let data = data(benchmark, &fits, runs, limits, numbers);
    let article = article(index, benchmark, &data, &fits, runs, limits);
    Prepared { data, article }
}

fn data(
    benchmark: &Benchmark,
    fits: &[Fit],
    runs: &[Run],
    limits: &Limits,
    numbers: usize,
) -> BenchmarkData {
    let mut detailed = Vec::new();
    let mut details = Vec::new();
    for point in benchmark.metrics.iter().flat_map(|metric| &metric.points) {
        if let Some(samples) = Samples::of(point.measurement, numbers) {
            detailed.push(point.measurement);
            details.push(Detail::of(point.run, point.measurement, samples));
        }
    }
    let shares = Shares { limits, detailed };
    let mut charts: Vec<Chart> = Vec::new();
    let drawn = if Limits::is_of_pairs(benchmark) { &[] } else { &benchmark.metrics[..] };
    for metric in drawn {
        let references = limits.references(metric, &metric.axis());
        charts.push(Chart::values(metric, references, &shares));
    }
    if runs.len() > 1 && !Limits::is_of_pairs(benchmark) {
        let first = &runs[0].label;
        charts.extend(benchmark.metrics.first().and_then(|metric| Chart::ratios(metric, first)));
    }
    let in_view = charts.len();
    if !fits.is_empty() {
        let values = charts.iter().find(|chart| chart.y.unit == "us").expect("fits are of times");
        charts.extend([fits::fitted_chart(values, fits), fits::residual_chart(fits)]);
    }
    BenchmarkData { charts_of_fits: charts.len() - in_view, charts, details }
}

impl Detail {
    fn of(run: usize, m: &Measurement, samples: Samples) -> Detail {
        let s = &m.summary;
        let o = &s.outliers;
        Detail {
            run,
            label: full_label(m),
            unit: m.unit.clone(),
            median: s.median,
            low: s.ci_low,
            high: s.ci_high,
            p99: s.p99,
            max: s.max,
            n: s.n,
            outliers: [o.low_severe, o.low_mild, o.high_mild, o.high_severe],
            samples,
        }
    }
}

fn article(
    index: usize,
    benchmark: &Benchmark,
    data: &BenchmarkData,
    fits: &[Fit],
    runs: &[Run],
    limits: &Limits,
) -> Markup {
    let in_view = data.charts.len() - data.charts_of_fits;
    let name = capitalised(&words(benchmark.name));
    html! {
        article.benchmark id=(anchor(index)) data-benchmark=(index) {
            h3 { (name) }
            p.extent { (extent(benchmark)) }
            @if Limits::is_of_pairs(benchmark) { (limits.hand_over_tables(runs)) }
            (figures(data, 0..in_view))
            @if !fits.is_empty() {
                details.fit {
                    summary { "Straight line: start-up time, asymptotic rate, half-performance size" }
                    (fits::table(fits, runs))
                    (figures(data, in_view..data.charts.len()))
                }
            }
            @if !data.details.is_empty() {
                details.samples { summary { "Samples: how they are distributed, and over time" } }
            }
            details.table {
                summary { "Numbers" }
                (numbers::table(benchmark, runs, limits))
            }
        }
    }
}

/// Places for charts to be drawn in.
fn figures(data: &BenchmarkData, charts: std::ops::Range<usize>) -> Markup {
    html! {
        div.charts {
            @for chart in charts {
                figure.chart data-chart=(chart) { figcaption { (data.charts[chart].title) } }
            }
        }
    }
}

/// What the measurements cover: `2 to 8 ranks, 0 B to 4 MiB, 120 measurements`.
fn extent(benchmark: &Benchmark) -> String {
    let points = || benchmark.metrics.iter().flat_map(|metric: &Metric| &metric.points);
    let range = |low: String, high: String| {
        if low == high { low } else { format!("{low} to {high}") }
    };
    let ranks = || points().map(|p| p.measurement.ranks);
    let sizes = || points().map(|p| p.measurement.size_bytes);
    let (fewest, most) = (ranks().min().unwrap_or(0), ranks().max().unwrap_or(0));
    let mut parts = vec![format!("{} ranks", range(fewest.to_string(), most.to_string()))];
    if let Some(largest) = sizes().max().filter(|&largest| largest > 0) {
        parts.push(range(size(sizes().min().unwrap_or(0)), size(largest)));
    }
    let count = benchmark.metrics.first().map_or(0, |metric| metric.points.len());
    parts.push(match count {
        1 => "1 measurement".into(),
        more => format!("{more} measurements"),
    });
    parts.join(", ")
}
