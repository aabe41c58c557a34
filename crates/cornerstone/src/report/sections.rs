//! The section of each benchmark.

use analysis::compare::Effect;
use benchmark::View;
use maud::{Markup, html};
use record::Measurement;
use serde::Serialize;

use super::chart::{Chart, Context, XAxis, capitalised};
use super::comparing::Comparisons;
use super::efficiency;
use super::elements::anchor;
use super::figures;
use super::fits::{self, Fit};
use super::forecast;
use super::grouping::{Axis, Benchmark, Metric, full_label, words};
use super::jitter;
use super::lateness;
use super::limits::Limits;
use super::locality;
use super::material::Material;
use super::numbers;
use super::pair_map;
use super::pattern;
use super::pauses;
use super::samples::Samples;
use super::shares;
use crate::wording::{quantity, size, whole_percent};

/// Data of a benchmark for the page's script.
#[derive(Serialize)]
pub(super) struct BenchmarkData {
    /// Charts that are always visible, followed by those of the straight lines.
    charts: Vec<Chart>,
    /// Number of charts that are always visible.
    in_view: usize,
    details: Vec<Detail>,
}

/// Samples of a measurement, with the texts of their charts.
#[derive(Serialize)]
struct Detail {
    run: usize,
    label: String,
    metric: String,
    unit: String,
    median: f64,
    low: f64,
    high: f64,
    p99: f64,
    max: f64,
    n: u64,
    /// Method of timing, and the reason why sampling stopped.
    how: String,
    /// Samples outside of Tukey's fences: low severe, low mild, high mild, high severe.
    outliers: [u64; 4],
    samples: Samples,
}

/// Section of a benchmark and its data.
pub(super) struct Prepared {
    pub(super) data: BenchmarkData,
    pub(super) article: Markup,
}

struct ChartContext<'a> {
    limits: &'a Limits,
    comparisons: &'a Comparisons,
    /// Measurements that have details, in their order.
    detailed: Vec<&'a Measurement>,
}

impl Context for ChartContext<'_> {
    fn share(&self, measurement: &Measurement) -> Option<String> {
        self.limits.share(measurement).map(|share| whole_percent(share.share))
    }

    fn limit(&self, measurement: &Measurement) -> Option<f64> {
        self.limits.share(measurement).map(|share| share.limit)
    }

    fn effect(&self, run: usize, measurement: &Measurement) -> Option<Effect> {
        self.comparisons.find(run, measurement)?.effect
    }

    fn detail(&self, measurement: &Measurement) -> Option<usize> {
        self.detailed.iter().position(|&detailed| std::ptr::eq(detailed, measurement))
    }
}

/// Returns the section of a benchmark and the data of its charts.
pub(super) fn prepare(index: usize, benchmark: &Benchmark, material: &Material) -> Prepared {
    let fits = fits::all(benchmark, material.runs);
    let data = data(benchmark, &fits, material);
    let article = article(index, benchmark, &data, &fits, material);
    Prepared { data, article }
}

fn data(benchmark: &Benchmark, fits: &[Fit], material: &Material) -> BenchmarkData {
    let mut detailed = Vec::new();
    let mut details = Vec::new();
    for point in benchmark.metrics.iter().flat_map(|metric| &metric.points) {
        if let Some(samples) = Samples::of(point.measurement, material.numbers_per_trace) {
            detailed.push(point.measurement);
            details.push(Detail::of(point.run, point.measurement, samples));
        }
    }
    let context =
        ChartContext { limits: &material.limits, comparisons: &material.comparisons, detailed };
    let mut charts: Vec<Chart> = Vec::new();
    charts.extend(figures::charts(benchmark, &material.limits, &context));
    charts.extend(efficiency::charts(benchmark, &context));
    if matches!(benchmark.view(), View::Charts | View::Pattern | View::Localities) {
        let plotted: Vec<_> =
            benchmark.metrics.iter().map(|metric| (metric, metric.plots())).collect();
        // The charts along one axis are side by side: time, rate, ratio.
        let axes = plotted.iter().map(|(_, plots)| plots.len()).max().unwrap_or(0);
        let first = material.runs.first().map_or("", |run| &run.label);
        for place in 0..axes {
            let plots = || plotted.iter().filter_map(|(metric, p)| Some((*metric, p.get(place)?)));
            charts.extend(plots().map(|(metric, plot)| Chart {
                references: locality::references(benchmark, metric, plot),
                ..Chart::values(metric, plot, &context)
            }));
            let primary = plots().next();
            charts.extend(primary.and_then(|(m, plot)| Chart::ratios(m, plot, first, &context)));
        }
    }
    let in_view = charts.len();
    if !fits.is_empty() {
        let is_fitted = |chart: &&Chart| chart.y.unit == "us" && chart.x == XAxis::of(&Axis::Size);
        let values = charts.iter().find(is_fitted).expect("fits are of times over size");
        charts.extend([fits::fitted_chart(values, fits), fits::residual_chart(fits)]);
    }
    BenchmarkData { in_view, charts, details }
}

impl Detail {
    fn of(run: usize, m: &Measurement, samples: Samples) -> Detail {
        let s = &m.summary;
        let o = &s.outliers;
        Detail {
            run,
            label: full_label(m),
            metric: words(&m.metric),
            unit: m.unit.clone(),
            median: s.median,
            low: s.ci_low,
            high: s.ci_high,
            p99: s.p99,
            max: s.max,
            n: s.n,
            how: how(m),
            outliers: [o.low_severe, o.low_mild, o.high_mild, o.high_severe],
            samples,
        }
    }
}

/// Returns the method of timing of a measurement and the reason why sampling stopped, in sentences.
fn how(m: &Measurement) -> String {
    let timing = &m.timing;
    let events = match timing.events_per_sample {
        0 | 1 => "Each sample is one event".into(),
        many => format!("Each sample is the mean of {many} events in a row"),
    };
    let start = match timing.start.as_str() {
        "none" => "one rank times it".into(),
        "time" => "all ranks start at an agreed instant".into(),
        "barrier" => "all ranks start from a barrier".into(),
        other => format!("start: {other}"),
    };
    let late = match timing.late_starts {
        0 => String::new(),
        late => format!(" {late} samples were repeated after a late start."),
    };
    if m.is_exact() {
        return format!("{events}; {start}. Times are virtual and exact.");
    }
    format!(
        "{events}; {start}; the clock takes {} of it.{late} Sampling stopped by {} after {}.",
        whole_percent(timing.clock_share),
        words(&m.stop_reason.to_string()),
        quantity(timing.spent_s, "s")
    )
}

fn article(
    index: usize,
    benchmark: &Benchmark,
    data: &BenchmarkData,
    fits: &[Fit],
    material: &Material,
) -> Markup {
    let definition = benchmark::find(benchmark.name);
    html! {
        article.benchmark id=(anchor(index)) data-benchmark=(index) {
            h3 { (benchmark.name) }
            p.extent {
                @if let Some(definition) = definition { (capitalised(definition.summary)) ". " }
                (capitalised(&extent(benchmark))) "."
            }
            @if benchmark.view() == View::CorePairs { (material.limits.hand_over_tables(material.runs)) }
            @if benchmark.view() == View::RankPairs { (pair_map::pictures(benchmark, material.runs)) }
            @if benchmark.view() == View::Pattern { (pattern::pictures(material.runs)) }
            @if benchmark.view() == View::Pauses { (pauses::pictures(material.runs)) }
            (lateness::outcomes(benchmark))
            (jitter::pictures(benchmark))
            (forecast::pictures(benchmark))
            (lateness::pictures(benchmark))
            (figures::table(benchmark, material.runs))
            @if data.in_view > 0 { (places(data, 0..data.in_view)) }
            (shares::pairs(benchmark, material.runs))
            (efficiency::explanation(benchmark, material.runs))
            (shares::links(benchmark, material.runs, shares::has_pairs(benchmark)))
            @if let Some(definition) = definition {
                details { summary { "What is timed, and how" } p { (definition.explanation()) } }
            }
            @if !fits.is_empty() {
                details.fit {
                    summary { "Straight line: start-up time, asymptotic rate, half-performance size" }
                    (fits::table(fits, material.runs))
                    (places(data, data.in_view..data.charts.len()))
                }
            }
            @if !data.details.is_empty() {
                details.samples { summary { "Samples: how they are distributed, and over time" } }
            }
            details.table open[data.in_view == 0] {
                summary { "Numbers" }
                (numbers::table(benchmark, material))
            }
        }
    }
}

/// Returns the elements in which charts are drawn.
fn places(data: &BenchmarkData, charts: std::ops::Range<usize>) -> Markup {
    html! {
        div.charts {
            @for chart in charts {
                figure.chart data-chart=(chart) { figcaption { (data.charts[chart].title) } }
            }
        }
    }
}

/// Returns the range of the measurements: `2 to 8 ranks, 0 B to 4 MiB, 120 measurements`.
fn extent(benchmark: &Benchmark) -> String {
    let points = || benchmark.metrics.iter().flat_map(|metric: &Metric| &metric.points);
    let range = |low: String, high: String| {
        if low == high { low } else { format!("{low} to {high}") }
    };
    let ranks = || points().map(|p| p.measurement.ranks);
    let sizes = || points().map(|p| p.measurement.size_bytes);
    let (fewest, most) = (ranks().min().unwrap_or(0), ranks().max().unwrap_or(0));
    let mut parts = vec![match most {
        1 => "1 rank".into(),
        _ => format!("{} ranks", range(fewest.to_string(), most.to_string())),
    }];
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
