//! Parallel programs: efficiency and speed-up over ranks compared with the ideal, and their bounds.

use std::collections::BTreeSet;

use analysis::parallel::{EFFICIENCY, SPEED_UP};
use benchmark::View;
use maud::{Markup, html};
use record::Run;

use super::chart::{Chart, Context, Reference, YAxis};
use super::elements::swatch;
use super::grouping::{Axis, Benchmark, Metric, Plot, words};
use crate::wording::{gains, size};

/// Label of the line of the ideal.
const IDEAL: &str = "ideal";

/// Returns the charts of a parallel program, two for each size of its problem. Empty for other benchmarks, and if all
/// measurements have the same number of ranks.
pub(super) fn charts(benchmark: &Benchmark, context: &dyn Context) -> Vec<Chart> {
    if benchmark.view() != View::Efficiency {
        return Vec::new();
    }
    let Some(first) = benchmark.metric(EFFICIENCY) else { return Vec::new() };
    let sizes: BTreeSet<u64> = first.points.iter().map(|p| p.measurement.size_bytes).collect();
    let of_size = |&size_bytes: &u64| {
        [(EFFICIENCY, ideal_efficiency as fn(u64) -> f64), (SPEED_UP, ideal_speed_up)]
            .into_iter()
            .filter_map(move |(name, ideal)| {
                let metric = of_one_size(benchmark.metric(name)?, size_bytes);
                chart(&metric, size_bytes, ideal, context)
            })
    };
    sizes.iter().flat_map(of_size).collect()
}

fn ideal_efficiency(_: u64) -> f64 {
    100.0
}

fn ideal_speed_up(ranks: u64) -> f64 {
    ranks as f64
}

/// Returns the measurements of one size only, so that no line needs the size in its label.
fn of_one_size<'a>(metric: &Metric<'a>, size_bytes: u64) -> Metric<'a> {
    let points = metric.points.iter().copied();
    let points = points.filter(|point| point.measurement.size_bytes == size_bytes).collect();
    Metric { points, ..*metric }
}

/// Returns one chart over the number of ranks. Its axis begins at zero, so that distances show shares of the ideal.
fn chart(
    metric: &Metric,
    size_bytes: u64,
    ideal: fn(u64) -> f64,
    context: &dyn Context,
) -> Option<Chart> {
    let plot = Plot { axis: Axis::Ranks, lines: metric.lines(&Axis::Ranks) };
    let x: BTreeSet<u64> =
        plot.lines.iter().flat_map(|line| line.points.iter().map(|(x, _)| *x)).collect();
    if x.len() < 2 {
        return None;
    }
    let chart = Chart::values(metric, &plot, context);
    let y = x.iter().map(|&ranks| ideal(ranks)).collect();
    let reference = Reference { label: IDEAL.into(), run: 0, x: x.into_iter().collect(), y };
    let unit = if metric.unit == "x" { "×".into() } else { chart.y.unit };
    Some(Chart {
        title: format!(
            "{} over ranks, {}",
            super::chart::capitalised(&words(metric.name)),
            size(size_bytes)
        ),
        y: YAxis { unit, logarithmic: false, base: Some(0.0), ..chart.y },
        references: vec![reference],
        ..chart
    })
}

/// Returns the gain of each form and its bound, in words. Empty for other benchmarks.
pub(super) fn explanation(benchmark: &Benchmark, runs: &[Run]) -> Markup {
    if benchmark.view() != View::Efficiency {
        return html! {};
    }
    let points = || benchmark.metrics.iter().flat_map(|metric| &metric.points);
    let of_run = |run: usize| {
        gains(points().filter(|point| point.run == run).map(|point| point.measurement))
    };
    html! {
        details open {
            summary { "The gain of each form, and its bound" }
            @for (index, run) in runs.iter().enumerate() {
                @let found = of_run(index);
                @if !found.is_empty() {
                    @if runs.len() > 1 { p { (swatch(index)) (run.label) } }
                    @for forms in &found {
                        ul { @for form in forms { li { (form) } } }
                    }
                }
            }
        }
    }
}
