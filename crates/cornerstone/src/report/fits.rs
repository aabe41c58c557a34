//! The straight line of time over message size, and the sizes at which it does not fit.

use analysis::model::hockney::{self, Hockney};
use analysis::model::{Estimate, Point};
use benchmark::View;
use maud::{Markup, html};
use record::Run;

use super::chart::{Chart, ChartLine, Reference, XAxis, YAxis};
use super::elements::swatch;
use super::grouping::{Axis, Benchmark, Line, Metric};
use super::samples::rounded;
use crate::wording::{about_size, quantity, size, whole_percent};

/// A line of a chart with its model.
pub(super) struct Fit {
    pub(super) run: usize,
    pub(super) label: String,
    pub(super) model: Hockney,
}

/// Returns the models of all metrics of a benchmark. Empty for a whole program, because its time is no straight line
/// over the size of its problem, and for a map of pairs, which has no charts.
pub(super) fn all(benchmark: &Benchmark, runs: &[Run]) -> Vec<Fit> {
    let has_lines = !matches!(benchmark.view(), View::Efficiency | View::RankPairs);
    let lines = benchmark.metrics.iter().filter(|_| has_lines);
    lines.flat_map(|metric| fits(metric, runs)).collect()
}

/// Returns the models of the lines of a metric. Empty unless it is a time in microseconds over three or more message
/// sizes.
pub(super) fn fits(metric: &Metric, runs: &[Run]) -> Vec<Fit> {
    let over_size = metric.plots().into_iter().find(|plot| plot.axis == Axis::Size);
    let Some(plot) = over_size.filter(|_| metric.unit == "us") else { return Vec::new() };
    let fit = |line: Line| {
        let points: Vec<Point> = line.points.iter().map(|(_, m)| point(m)).collect();
        let confidence = runs[line.run].header().confidence;
        let confidence = if 0.0 < confidence && confidence < 1.0 { confidence } else { 0.95 };
        let model = hockney::fit(&points, confidence).ok()?;
        Some(Fit { run: line.run, label: line.label, model })
    };
    plot.lines.into_iter().filter_map(fit).collect()
}

/// Returns the residuals of the lines in percent of the measured median.
pub(super) fn residual_chart(fits: &[Fit]) -> Chart {
    let lines = fits.iter().map(residual_line).collect();
    Chart {
        title: "Residuals of the straight line".into(),
        x: XAxis::of(&Axis::Size),
        y: YAxis {
            title: "measured less fitted".into(),
            unit: "%".into(),
            logarithmic: false,
            base: Some(0.0),
        },
        lines,
        references: tolerance(fits),
    }
}

/// Returns the measured times with the fitted lines.
pub(super) fn fitted_chart(values: &Chart, fits: &[Fit]) -> Chart {
    let lines = values.lines.iter().filter_map(|line| {
        let fit = fits.iter().find(|fit| fit.run == line.run && fit.label == line.label)?;
        Some(ChartLine {
            run: line.run,
            label: line.label.clone(),
            x: line.x.clone(),
            median: line.median.clone(),
            low: line.low.clone(),
            high: line.high.clone(),
            fit: fit.model.residuals.iter().map(|r| rounded(r.fitted_us, 5)).collect(),
            ..Default::default()
        })
    });
    Chart {
        title: "Measured, with the straight line dashed".into(),
        x: XAxis::of(&Axis::Size),
        y: YAxis { title: "time".into(), unit: "us".into(), logarithmic: true, base: None },
        lines: lines.collect(),
        references: Vec::new(),
    }
}

/// Returns the table of the fitted parameters.
pub(super) fn table(fits: &[Fit], runs: &[Run]) -> Markup {
    let several = runs.len() > 1;
    html! {
        div.scroll tabindex="0" role="region" aria-label="Fitted straight lines" {
            table.fits {
                thead { tr {
                    @if several { th scope="col" { "run" } }
                    th scope="col" { "line" }
                    th scope="col" { "start-up time" }
                    th scope="col" { "asymptotic rate" }
                    th scope="col" { "half-performance size" }
                    th scope="col" { "R²" }
                    th scope="col" { "where it fails" }
                } }
                tbody { @for fit in fits { tr {
                    @if several { th scope="row" { (swatch(fit.run)) (runs[fit.run].label) } }
                    td { @if fit.label.is_empty() { "all" } @else { (fit.label) } }
                    @let line = &fit.model.line;
                    td { (estimate(line.latency_us, |v| quantity(v, "us"))) }
                    td { @match line.rate_mb_per_s {
                        Some(rate) => (estimate(rate, |v| quantity(v, "MB/s"))),
                        None => "none: the time does not depend on the size",
                    } }
                    td { @match line.half_performance_bytes {
                        Some(half) => (estimate(half, |v| about_size(v.round() as u64))),
                        None => "none",
                    } }
                    td { (format!("{:.4}", fit.model.r_squared)) }
                    td.prose { (failure(&fit.model)) }
                } } }
            }
        }
    }
}

/// Returns the sizes at which the straight line fails, in words.
pub(super) fn failure(model: &Hockney) -> String {
    let failing: Vec<u64> = model.failing_sizes().collect();
    let (Some(first), Some(last)) = (failing.first(), failing.last()) else {
        return "nowhere".into();
    };
    let worst = model
        .residuals
        .iter()
        .filter(|residual| residual.fails)
        .max_by(|a, b| a.relative.abs().total_cmp(&b.relative.abs()))
        .expect("some residual fails");
    let range = if first == last {
        format!("at {}", size(*first))
    } else {
        format!(
            "at {} of {} sizes, {} to {}",
            failing.len(),
            model.residuals.len(),
            size(*first),
            size(*last)
        )
    };
    let direction = if worst.relative > 0.0 { "slower" } else { "faster" };
    let times = if worst.relative > 0.0 {
        worst.measured_us / worst.fitted_us
    } else {
        worst.fitted_us / worst.measured_us
    };
    let how = if worst.fitted_us <= 0.0 || times > 2.0 {
        format!("{direction} than the line by far")
    } else {
        format!("{} {direction}", whole_percent(times - 1.0))
    };
    let mut text = format!("{range}; worst at {}: {how}", size(worst.size_bytes));
    if !model.segments.is_empty() {
        let parts: Vec<String> = model
            .segments
            .iter()
            .map(|part| format!("{} to {}", size(part.from_bytes), size(part.to_bytes)))
            .collect();
        text += &format!("; {} lines suit better: {}", parts.len(), parts.join(", "));
    }
    text
}

fn estimate(estimate: Estimate, show: impl Fn(f64) -> String) -> Markup {
    let high = if estimate.high.is_finite() { show(estimate.high) } else { "no bound".into() };
    html! {
        (show(estimate.value))
        " " span.interval { (show(estimate.low.max(0.0))) " to " (high) }
    }
}

fn point(m: &record::Measurement) -> Point {
    Point {
        size_bytes: m.size_bytes,
        median_us: m.summary.median,
        ci_low_us: m.summary.ci_low,
        ci_high_us: m.summary.ci_high,
    }
}

fn residual_line(fit: &Fit) -> ChartLine {
    let residuals = &fit.model.residuals;
    let relative: Vec<f64> = residuals.iter().map(|r| rounded(r.relative * 100.0, 4)).collect();
    ChartLine {
        run: fit.run,
        label: fit.label.clone(),
        x: residuals.iter().map(|r| r.size_bytes).collect(),
        low: relative.clone(),
        high: relative.clone(),
        median: relative,
        ..Default::default()
    }
}

/// Returns lines at the tolerance. Within it the straight line does not count as failing.
fn tolerance(fits: &[Fit]) -> Vec<Reference> {
    let Some(fit) = fits.first() else { return Vec::new() };
    let x: Vec<u64> = fit.model.residuals.iter().map(|r| r.size_bytes).collect();
    let ends = vec![x[0], x[x.len() - 1]];
    [hockney::TOLERANCE, -hockney::TOLERANCE]
        .map(|level| Reference {
            label: "tolerance".into(),
            run: fit.run,
            x: ends.clone(),
            y: vec![level * 100.0; 2],
        })
        .into()
}
