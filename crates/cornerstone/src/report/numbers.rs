//! The tables of numbers, which readers can copy.

use std::collections::BTreeMap;

use maud::{Markup, html};
use record::{Key, Measurement};

use super::chart::capitalised;
use super::comparing::{Comparisons, against_first};
use super::elements::swatch;
use super::grouping::{Benchmark, Metric, cell, heading, words};
use super::material::Material;
use super::remarks::remarks;
use crate::wording::{precise, quantity, size, unit_name};

/// Returns the table of a benchmark: a row for each key and run. The runs of a key are successive rows.
pub(super) fn table(benchmark: &Benchmark, material: &Material) -> Markup {
    let Material { runs, limits, comparisons, .. } = material;
    let parameters = parameter_names(benchmark);
    let several = runs.len() > 1;
    let with_interval = |metric: &Metric| {
        let has_width = |m: &Measurement| !m.is_exact() || m.summary.ci_low < m.summary.ci_high;
        metric.points.iter().any(|point| has_width(point.measurement))
    };
    let with_interval: Vec<bool> = benchmark.metrics.iter().map(with_interval).collect();
    let rows = rows(benchmark);
    let sized = rows.keys().any(|(key, _)| key.size_bytes > 0);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Numbers of {}", benchmark.name)) {
            table.numbers {
                thead { tr {
                    @if several { th scope="col" { "run" } }
                    th scope="col" { "ranks" }
                    @for name in &parameters { th scope="col" { (heading(name)) } }
                    @if sized { th scope="col" data-copy="size in bytes" { "size" } }
                    @for (index, metric) in benchmark.metrics.iter().enumerate() {
                        (headings(metric, [index == 0, with_interval[index], several]))
                    }
                    th scope="col" { "n" }
                    th scope="col" { "against the limit" }
                    th scope="col" { "remarks" }
                } }
                tbody {
                    @for ((key, run), metrics) in &rows {
                        tr {
                            @if several { th scope="row" { (swatch(*run)) (runs[*run].label) } }
                            td { (key.ranks) }
                            @for name in &parameters {
                                td { @if let Some(v) = key.parameters.get(*name) {
                                    (cell(name, v))
                                } }
                            }
                            @if sized { td data-copy=(key.size_bytes) { (size(key.size_bytes)) } }
                            @for (index, _) in benchmark.metrics.iter().enumerate() {
                                (cells(metrics[index], [index == 0, with_interval[index]], several.then(|| against(comparisons, *run, metrics[index]))))
                            }
                            @let first = metrics.iter().flatten().next();
                            td { @if let Some(m) = first { (m.summary.n) } }
                            td { @if let Some(share) = metrics.iter().flatten().find_map(|m| limits.words(m)) { (share) } }
                            td { @if let Some(m) = first { (remarks(m, &runs[*run])) } }
                        }
                    }
                }
            }
        }
    }
}

type Rows<'a> = BTreeMap<(Key, usize), Vec<Option<&'a Measurement>>>;

fn rows<'a>(benchmark: &Benchmark<'a>) -> Rows<'a> {
    let mut rows = Rows::new();
    for (index, metric) in benchmark.metrics.iter().enumerate() {
        for point in &metric.points {
            let row = rows
                .entry((point.measurement.key(), point.run))
                .or_insert_with(|| vec![None; benchmark.metrics.len()]);
            row[index] = Some(point.measurement);
        }
    }
    rows
}

/// Returns the change against the first run and the verdict. Empty for the first run and if the first run lacks the
/// measurement.
fn against(comparisons: &Comparisons, run: usize, m: Option<&Measurement>) -> Markup {
    let found = m.and_then(|m| comparisons.find(run, m));
    html! { @if let Some(comparison) = found { (against_first(comparison)) } }
}

fn parameter_names<'a>(benchmark: &Benchmark<'a>) -> Vec<&'a str> {
    let points = benchmark.metrics.iter().flat_map(|metric| &metric.points);
    let mut names: Vec<&str> =
        points.flat_map(|point| point.measurement.parameters.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn headings(metric: &Metric, [first, with_interval, several]: [bool; 3]) -> Markup {
    let quantity = capitalised(&words(metric.name));
    let unit = unit_name(metric.unit);
    html! {
        th scope="col" { (quantity) ", median (" (unit) ")" }
        @if with_interval { th scope="col" { "interval from" } th scope="col" { "to" } }
        @if first { th scope="col" { "p99" } th scope="col" { "max" } }
        @if several { th scope="col" { "against the first" } }
    }
}

/// Returns the cells of a measurement, of the first metric or another, with or without an interval. `against` is the comparison with the first run, if there are several runs.
fn cells(
    m: Option<&Measurement>,
    [first, with_interval]: [bool; 2],
    against: Option<Markup>,
) -> Markup {
    let Some(m) = m else {
        let pairs = [first, with_interval].into_iter().map(usize::from).sum::<usize>();
        let empty = 1 + 2 * pairs + usize::from(against.is_some());
        return html! { @for _ in 0..empty { td {} } };
    };
    let s = &m.summary;
    html! {
        td.median title=(quantity(s.median, &m.unit)) { (precise(s.median)) }
        @if with_interval { td { (precise(s.ci_low)) } td { (precise(s.ci_high)) } }
        @if first { td { (precise(s.p99)) } td { (precise(s.max)) } }
        @if let Some(against) = against { td { (against) } }
    }
}
