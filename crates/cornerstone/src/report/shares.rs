//! The shares of a common resource: the rate of each pair, and the use of each link of a simulated network.
//!
//! They are bars in a table, which need no script and can be copied as numbers.

use std::collections::BTreeMap;

use maud::{Markup, html};
use record::{LinkUse, Measurement, Parameters, Run};

use super::elements::swatch;
use super::grouping::{Benchmark, Metric, parameter};
use crate::wording::{quantity, ranks, significant, size, whole_percent};

const PAIR: &str = "pair";

/// Returns whether the benchmark has pairs that share a resource.
pub(super) fn has_pairs(benchmark: &Benchmark) -> bool {
    benchmark.metric("pair-rate").is_some()
}

/// Returns the rate of each pair as a bar, with Jain's index: a picture for each layout, number of ranks and size.
pub(super) fn pairs(benchmark: &Benchmark, runs: &[Run]) -> Markup {
    let Some(rates) = benchmark.metric("pair-rate") else { return html! {} };
    let pictures = together(rates, |m| m.size_bytes);
    html! {
        div.shares {
            @for (subject, measured) in &pictures { (pairs_picture(benchmark, subject, measured, runs)) }
        }
    }
}

/// Returns the use of each link as a bar, at the largest size of each number of ranks and parameters. Empty for fabrics
/// without links.
pub(super) fn links(benchmark: &Benchmark, runs: &[Run], open: bool) -> Markup {
    let Some(first) = benchmark.metrics.first() else { return html! {} };
    let mut pictures = together(first, |_| 0);
    for measured in pictures.values_mut() {
        measured.retain(|(_, m)| !m.link_use.is_empty());
        let largest = measured.iter().map(|(_, m)| m.size_bytes).max();
        measured.retain(|(_, m)| Some(m.size_bytes) == largest);
    }
    pictures.retain(|_, measured| !measured.is_empty());
    if pictures.is_empty() {
        return html! {};
    }
    html! {
        details open[open] {
            summary { "Links: how busy each was" }
            p.facts { "The share of the time, warm-up included, in which a link of the simulated network carried packets; how many \
                packets waited for it, on average and at most." }
            div.shares {
                @for (subject, measured) in &pictures { (links_picture(subject, measured, runs)) }
            }
        }
    }
}

/// Subject of a picture.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    ranks: usize,
    parameters: Parameters,
    /// Size in bytes; 0 if the picture selects one.
    size_bytes: u64,
}

type Measured<'a> = Vec<(usize, &'a Measurement)>;

/// Returns the measurements of a metric by picture. A picture has all pairs.
fn together<'a>(
    metric: &Metric<'a>,
    size_bytes: impl Fn(&Measurement) -> u64,
) -> BTreeMap<Subject, Measured<'a>> {
    let mut found: BTreeMap<Subject, Measured> = BTreeMap::new();
    for point in &metric.points {
        let m = point.measurement;
        let mut parameters = m.parameters.clone();
        parameters.remove(PAIR);
        let subject = Subject { ranks: m.ranks, parameters, size_bytes: size_bytes(m) };
        found.entry(subject).or_default().push((point.run, m));
    }
    found
}

/// A bar: its run, its value, the interval of the value, and its text.
struct Bar {
    run: usize,
    value: f64,
    interval: Option<(f64, f64)>,
    text: String,
}

/// The bars with the same name.
struct Row {
    name: String,
    bars: Vec<Bar>,
}

fn pairs_picture(
    benchmark: &Benchmark,
    subject: &Subject,
    measured: &Measured,
    runs: &[Run],
) -> Markup {
    let mut rows: Vec<Row> = Vec::new();
    for &(run, m) in measured {
        let name = m.parameters.get(PAIR).map_or(String::new(), ToString::to_string);
        let s = &m.summary;
        let interval = Some((s.ci_low, s.ci_high));
        let text = quantity(s.median, &m.unit);
        add(&mut rows, name, Bar { run, value: s.median, interval, text });
    }
    let caption = html! {
        "Each pair's rate: " (words(subject, subject.size_bytes))
        @for run in 0..runs.len() { @if let Some(line) = fairness(benchmark, subject, run) {
            span.interval { @if runs.len() > 1 { (swatch(run)) (runs[run].label) ": " } (line) }
        } }
    };
    let longest = longest(&rows);
    let count = rows.len() as f64;
    let equal = (runs.len() == 1)
        .then(|| rows.iter().flat_map(|row| &row.bars).map(|bar| bar.value).sum::<f64>() / count);
    bars(&caption, &rows, longest, equal)
}

/// Returns the fairness in words: `Jain's index of fairness 42.9 %, 72.8 % unsent`.
fn fairness(benchmark: &Benchmark, subject: &Subject, run: usize) -> Option<String> {
    let of = |metric: &str| {
        let points = &benchmark.metric(metric)?.points;
        let found = points.iter().find(|point| {
            let m = point.measurement;
            point.run == run
                && (m.ranks, m.size_bytes) == (subject.ranks, subject.size_bytes)
                && m.parameters == subject.parameters
        });
        found.map(|point| whole_percent(point.measurement.summary.median / 100.0))
    };
    let unsent = of("unsent").map(|share| format!(", {share} unsent")).unwrap_or_default();
    Some(format!("Jain's index of fairness {}{unsent}", of("fairness")?))
}

fn links_picture(subject: &Subject, measured: &Measured, runs: &[Run]) -> Markup {
    let mut rows: Vec<Row> = Vec::new();
    for &(run, m) in measured {
        for LinkUse { link, share, packets, queue_mean, queue_max } in &m.link_use {
            let mut text = format!("{}, {packets} packets", whole_percent(*share));
            if *queue_max > 0 {
                text += &format!(", queue {}, at most {queue_max}", significant(*queue_mean));
            }
            add(&mut rows, link.clone(), Bar { run, value: *share, interval: None, text });
        }
    }
    let size_bytes = measured.first().map_or(0, |(_, m)| m.size_bytes);
    let caption = html! {
        (words(subject, size_bytes))
        @if runs.len() > 1 { @for &(run, _) in measured { span.interval { (swatch(run)) (runs[run].label) } } }
    };
    bars(&caption, &rows, 1.0, None)
}

fn add(rows: &mut Vec<Row>, name: String, bar: Bar) {
    match rows.iter_mut().find(|row| row.name == name) {
        Some(row) => row.bars.push(bar),
        None => rows.push(Row { name, bars: vec![bar] }),
    }
}

fn longest(rows: &[Row]) -> f64 {
    let ends = rows.iter().flat_map(|row| &row.bars);
    ends.map(|bar| bar.interval.map_or(bar.value, |(_, high)| high.max(bar.value)))
        .fold(0.0, f64::max)
}

/// Returns a table of bars. The longest fills its cell. A line through all of them marks `equal`.
fn bars(caption: &Markup, rows: &[Row], longest: f64, equal: Option<f64>) -> Markup {
    let at =
        |value: f64| if longest > 0.0 { 100.0 * (value / longest).clamp(0.0, 1.0) } else { 0.0 };
    html! {
        table.bars {
            caption { (caption) @if equal.is_some() { span.interval { "The dotted line is an equal share." } } }
            tbody { @for row in rows { tr {
                th scope="row" { (row.name) }
                td.track aria-hidden="true" {
                    @if let Some(equal) = equal { span.equal style=(format!("left:{:.2}%", at(equal))) {} }
                    @for bar in &row.bars { div.bar {
                        span.fill data-run=(bar.run) style=(format!("width:{:.2}%", at(bar.value))) {}
                        @if let Some((low, high)) = bar.interval {
                            span.whisker style=(format!("left:{:.2}%;width:{:.2}%", at(low), at(high) - at(low))) {}
                        }
                    } }
                }
                td { @for bar in &row.bars { div.reading { (bar.text) } } }
            } } }
        }
    }
}

/// Returns the subject in words: `16 ranks, layout symmetric, 256 KiB`.
fn words(subject: &Subject, size_bytes: u64) -> String {
    let mut parts = vec![ranks(subject.ranks)];
    parts.extend(subject.parameters.iter().map(|(name, value)| parameter(name, value)));
    if size_bytes > 0 {
        parts.push(size(size_bytes));
    }
    parts.join(", ")
}
