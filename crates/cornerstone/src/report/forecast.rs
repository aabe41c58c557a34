//! The predicted and the tried miss rates over the period.

use maud::{Markup, html};
use record::{Forecast, ForecastPoint, Measurement, PeriodSearch, Trial};

use super::grouping::{Benchmark, full_label};
use super::strips::{FOOT, LEFT, RIGHT, TOP, WIDTH};
use crate::wording::{explained_gains, percent, quantity, without_pauses};

/// Maximum number of searches that are drawn. The results file has the others.
const DRAWN: usize = 6;
const HEIGHT: f64 = 260.0;
/// Lowest miss rate that is drawn. A rate of zero is drawn at the same place.
const RATE_MIN: f64 = 1e-4;

/// Returns a picture for each search of a benchmark that has a prediction.
pub(super) fn pictures(benchmark: &Benchmark) -> Markup {
    let points = benchmark.metrics.iter().flat_map(|metric| &metric.points);
    let predicted = points.filter_map(|point| {
        let search = point.measurement.search.as_ref()?;
        Some((point.measurement, search, search.forecast.as_ref()?))
    });
    html! { @for (measurement, search, forecast) in predicted.take(DRAWN) { (picture(measurement, search, forecast)) } }
}

/// Ranges of the picture. Both axes are logarithmic.
struct Axes {
    low_us: f64,
    high_us: f64,
}

impl Axes {
    /// Returns the axes, or `None` if there is nothing to draw, or a period of the record cannot be drawn.
    fn of(points: &[ForecastPoint], trials: &[Trial]) -> Option<Axes> {
        let periods = || {
            let tried = trials.iter().map(|trial| trial.period_us);
            points.iter().map(|point| point.period_us).chain(tried)
        };
        let is_sound = |us: f64| us > 0.0 && us.is_finite();
        let (low_us, high_us) =
            (periods().fold(f64::INFINITY, f64::min), periods().fold(0.0, f64::max));
        (periods().all(is_sound) && high_us > low_us).then_some(Axes { low_us, high_us })
    }

    fn x(&self, period_us: f64) -> f64 {
        let share = (period_us / self.low_us).ln() / (self.high_us / self.low_us).ln();
        LEFT + (WIDTH - LEFT - RIGHT) * share
    }

    fn y(rate: f64) -> f64 {
        let share = (rate.clamp(RATE_MIN, 1.0) / RATE_MIN).ln() / (1.0 / RATE_MIN).ln();
        TOP + (HEIGHT - TOP - FOOT) * (1.0 - share)
    }

    /// Returns periods of 1, 2 or 5 times a power of ten.
    fn marks(&self) -> Vec<f64> {
        let decades = self.low_us.log10().floor() as i32..=self.high_us.log10().ceil() as i32;
        let marks =
            decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(decade)));
        marks.filter(|us| (self.low_us..=self.high_us).contains(us)).collect()
    }
}

fn picture(measurement: &Measurement, search: &PeriodSearch, forecast: &Forecast) -> Markup {
    let Some(axes) = Axes::of(&forecast.curve, &search.trials) else { return html! {} };
    let place = |us: f64, rate: f64| format!("{:.1},{:.1}", axes.x(us), Axes::y(rate));
    let line = |rate: fn(&ForecastPoint) -> f64| {
        let places: Vec<String> =
            forecast.curve.iter().map(|point| place(point.period_us, rate(point))).collect();
        places.join(" ")
    };
    let band = {
        let above = forecast.curve.iter().map(|point| place(point.period_us, point.miss_rate_max));
        let below =
            forecast.curve.iter().rev().map(|point| place(point.period_us, point.miss_rate_min));
        above.chain(below).collect::<Vec<_>>().join(" ")
    };
    let wanted = Axes::y(search.miss_rate);
    html! {
        figure.pauses {
            figcaption {
                b { "Missed over the period, " (full_label(measurement)) ": " }
                "the line is predicted from " (quantity(forecast.recorded_s, "s")) " of instances back to back, with its interval; the "
                "dashed one is what the work alone would miss, so what lies between is the pauses' share; points are trials. "
                "The level line is the wanted " (percent(search.miss_rate)) "."
            }
            div.scroll {
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) role="img" aria-label="Predicted and tried miss rates over the period" {
                    @for rate in [1.0, 0.1, 0.01, 0.001, RATE_MIN] {
                        line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(Axes::y(rate)) y2=(Axes::y(rate)) stroke="var(--grid)" {}
                        text x=(LEFT - 6.0) y=(Axes::y(rate) + 4.0) text-anchor="end" { (percent_label(rate)) }
                    }
                    @for us in axes.marks() {
                        text x=(format!("{:.1}", axes.x(us))) y=(HEIGHT - FOOT + 18.0) text-anchor="middle" { (quantity(us, "us")) }
                    }
                    polygon points=(band) fill="var(--line-0)" fill-opacity=".15" {}
                    line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(wanted) y2=(wanted) stroke="var(--caution)" {}
                    polyline points=(line(|point| point.by_work)) fill="none" stroke="var(--line-0)" stroke-dasharray="4 3" {}
                    polyline points=(line(|point| point.miss_rate)) fill="none" stroke="var(--line-0)" stroke-width="1.5" {}
                    @for trial in &search.trials { (tried(&axes, trial)) }
                }
            }
            (gains(&axes, forecast))
            @let explained = without_pauses(search);
            @if !explained.is_empty() { ul { @for line in explained { li { (line) } } } }
        }
    }
}

/// A row in the drawing of what pauses cost.
const ROW: f64 = 30.0;

/// How much shorter the predicted period would be without each kind of pause, below the
/// periods of the picture above; nothing unless that was asked for.
fn gains(axes: &Axes, forecast: &Forecast) -> Markup {
    let gains = explained_gains(forecast);
    let is_sound = |us: f64| us > 0.0 && us.is_finite();
    let Some(with_us) = forecast.shortest_us.filter(|us| is_sound(*us)) else { return html! {} };
    let drawn =
        gains.into_iter().filter_map(|(name, us)| Some((name, us.filter(|us| is_sound(*us))?)));
    let drawn: Vec<(String, f64)> = drawn.collect();
    if drawn.is_empty() {
        return html! {};
    }
    let height = TOP + ROW * drawn.len() as f64;
    let with = format!("{:.1}", axes.x(with_us));
    // Names stand on the side of the line that has more room.
    let (name_x, anchor) = match axes.x(with_us) {
        x if x < WIDTH / 2.0 => (x + 8.0, "start"),
        x => (x - 8.0, "end"),
    };
    html! {
        div.scroll {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img" aria-label="Shortest predicted periods with fewer pauses" {
                line x1=(with) x2=(with) y1="0" y2=(height) stroke="var(--line-0)" {}
                @for (row, (name, without_us)) in drawn.iter().enumerate() {
                    @let y = TOP + ROW * row as f64;
                    @let without = format!("{:.1}", axes.x(*without_us));
                    line x1=(without) x2=(with) y1=(y + 6.0) y2=(y + 6.0) stroke="var(--line-1)" stroke-width="6" {
                        title { (quantity(*without_us, "us")) " instead of " (quantity(with_us, "us")) }
                    }
                    text x=(format!("{name_x:.1}")) y=(y) text-anchor=(anchor) { (name) ": " (quantity(*without_us, "us")) }
                }
            }
        }
    }
}

/// A trial with the bounds of its miss rate.
fn tried(axes: &Axes, trial: &Trial) -> Markup {
    let x = format!("{:.1}", axes.x(trial.period_us));
    let rate = trial.missed as f64 / trial.instances.max(1) as f64;
    html! {
        line x1=(x) x2=(x) y1=(Axes::y(trial.miss_rate_min)) y2=(Axes::y(trial.miss_rate_max)) stroke="var(--line-1)" stroke-opacity=".5" {}
        circle cx=(x) cy=(Axes::y(rate)) r="3.5" fill="var(--line-1)" {
            title { (quantity(trial.period_us, "us")) ": " (trial.missed) " of " (trial.instances) " missed" }
        }
    }
}

fn percent_label(rate: f64) -> String {
    if rate <= RATE_MIN { "0 %".into() } else { percent(rate) }
}
