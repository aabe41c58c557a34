//! A history as a page: a chart for each number. The charts are drawn here, so the page needs no script.

use analysis::history::{Point, Series};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::page::STYLE;
use crate::output::{change_in_words, comparison_name, machine_name};
use crate::wording::quantity;

/// Width and height of the chart, and the room for its labels, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 90.0;
const MARGIN: f64 = 12.0;

/// Styles in addition to those of the report.
const CHART_STYLE: &str = "\
svg { display: block; width: 100%; max-width: 48rem; height: auto; }
svg text { fill: var(--soft); font-size: 11px; }
.line { fill: none; stroke: var(--line-0); stroke-width: 1.5; }
.interval { stroke: var(--line-0); stroke-opacity: .35; stroke-width: 3; }
.point { fill: var(--line-0); }
.point.other { fill: var(--page); stroke: var(--line-0); }
.changed { stroke: var(--caution); stroke-dasharray: 4 3; }
.frame { fill: none; stroke: var(--edge); }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }";

/// Renders the page.
pub(super) fn render(all: &[Series]) -> String {
    html! {
        (DOCTYPE)
        html lang="en-GB" {
            head {
                meta charset="utf-8";
                meta name="generator" content=(super::GENERATOR);
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { "History" }
                style { (PreEscaped(STYLE)) (PreEscaped(CHART_STYLE)) }
            }
            body { main {
                h1 { "History" }
                (opening(all))
                @for of_machine in all.chunk_by(|a, b| a.machine == b.machine) {
                    section {
                        h2 { (machine_name(&of_machine[0].machine)) }
                        @for series in of_machine { (article(series)) }
                    }
                }
            } }
        }
    }
    .into_string()
}

fn opening(all: &[Series]) -> Markup {
    let changed = all.iter().filter(|series| !series.changes.is_empty()).count();
    html! {
        p {
            (all.len()) " numbers, of which " (changed) " changed. Each point is a run, with its interval; a dashed line is a "
            "change of level. Its significance is the probability that a random order of the values shows no such change."
            @if all.iter().flat_map(|series| &series.points).any(|point| point.is_of_another_state) {
                " A hollow point is a run in another performance state of the machine; it is no change."
            }
        }
    }
}

fn article(series: &Series) -> Markup {
    html! {
        article {
            h3 { (comparison_name(&series.name)) }
            (chart(series))
            @if !series.changes.is_empty() {
                ul { @for change in &series.changes {
                    @let point = &series.points[change.at];
                    li { (point.started) ", " (point.version) " " code { (point.revision) } ": " (change_in_words(series, change)) }
                } }
            }
        }
    }
}

/// Positions of the values of a series on its chart.
struct Scale {
    points: usize,
    low: f64,
    high: f64,
}

impl Scale {
    fn of(points: &[Point]) -> Scale {
        let low =
            points.iter().map(|point| point.low.min(point.median)).fold(f64::INFINITY, f64::min);
        let high = points
            .iter()
            .map(|point| point.high.max(point.median))
            .fold(f64::NEG_INFINITY, f64::max);
        // Equal values are drawn in the middle.
        let room = if high > low { 0.05 * (high - low) } else { high.abs().max(1.0) * 0.05 };
        Scale { points: points.len(), low: low - room, high: high + room }
    }

    /// Returns the horizontal place of a run, or of the gap before it.
    fn x(&self, index: f64) -> f64 {
        let steps = self.points.saturating_sub(1).max(1) as f64;
        LEFT + MARGIN + (WIDTH - LEFT - 2.0 * MARGIN) * index / steps
    }

    fn y(&self, value: f64) -> f64 {
        MARGIN + (HEIGHT - 2.0 * MARGIN) * (self.high - value) / (self.high - self.low)
    }
}

fn chart(series: &Series) -> Markup {
    let scale = Scale::of(&series.points);
    let place = |(index, point): (usize, &Point)| {
        format!("{:.1},{:.1}", scale.x(index as f64), scale.y(point.median))
    };
    let line: Vec<String> = series.points.iter().enumerate().map(place).collect();
    let unit = &series.name.unit;
    let number = |value: f64| format!("{value:.1}");
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(comparison_name(&series.name)) {
            rect.frame x=(LEFT) y="1" width=(WIDTH - LEFT - 1.0) height=(HEIGHT - 2.0) {}
            @for value in [scale.low, (scale.low + scale.high) / 2.0, scale.high] {
                text x=(LEFT - 6.0) y=(number(scale.y(value).clamp(MARGIN, HEIGHT - 3.0))) text-anchor="end" { (quantity(value, unit)) }
            }
            @for change in &series.changes {
                @let x = number(scale.x(change.at as f64 - 0.5));
                line.changed x1=(x) x2=(x) y1="1" y2=(HEIGHT - 1.0) {}
            }
            polyline.line points=(line.join(" ")) {}
            @for (index, point) in series.points.iter().enumerate() {
                @let x = number(scale.x(index as f64));
                line.interval x1=(x) x2=(x) y1=(number(scale.y(point.low))) y2=(number(scale.y(point.high))) {}
                circle.point.other[point.is_of_another_state] cx=(x) cy=(number(scale.y(point.median))) r="3" {
                    title { (point.started) " " (point.run) " (" (point.revision) "): " (quantity(point.median, unit)) }
                }
            }
        }
    }
}
