//! The pictures themselves, in pixels of their own.

use std::collections::BTreeSet;
use std::fmt::Write;

use maud::{Markup, html};

use super::Lane;
use super::kinds::Kinds;
use crate::report::format::value;

const LEFT: f64 = 70.0;
const WIDTH: f64 = 800.0;
const LANE: f64 = 104.0;
const GAP: f64 = 26.0;
const TOP: f64 = 20.0;
const FOOT: f64 = 40.0;
/// For half of the last label of the axis.
const RIGHT: f64 = 28.0;
/// Marks lie on a grid as wide as they are, so that those which would cover each other are one.
const MARK: f64 = 2.0;
/// Marks of all lanes of a picture; with more a page gets slow, and the grid is made coarser.
const MARKS: usize = 40_000;

/// What the pictures have in common: how long was looked, and the shortest and the longest pause in whole decades.
pub(super) struct Scale {
    duration_s: f64,
    low_us: f64,
    high_us: f64,
}

impl Scale {
    pub(super) fn of(lanes: &[Lane<'_>]) -> Scale {
        let lengths = || lanes.iter().flat_map(|lane| &lane.each).map(|pause| pause.length_us);
        let low_us = lengths().fold(f64::INFINITY, f64::min).log10().floor();
        let high_us = lengths().fold(0.0, f64::max).log10().ceil().max(low_us + 1.0);
        let duration_s = lanes.iter().map(|lane| lane.pauses.duration_s).fold(1e-9, f64::max);
        Scale { duration_s, low_us: 10f64.powf(low_us), high_us: 10f64.powf(high_us) }
    }

    fn x_of(&self, at_s: f64) -> f64 {
        WIDTH * (at_s / self.duration_s).min(1.0)
    }

    /// The height of a length, 0 to 1.
    fn height(&self, length_us: f64) -> f64 {
        ((length_us / self.low_us).log10() / (self.high_us / self.low_us).log10()).clamp(0.0, 1.0)
    }

    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        let (low, high) = (self.low_us.log10().round() as i32, self.high_us.log10().round() as i32);
        (low..=high).map(|power| 10f64.powi(power))
    }

    /// About eight moments for the axis, at steps of 1, 2 or 5.
    fn moments(&self) -> Vec<f64> {
        let rough = self.duration_s / 8.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
        (0..)
            .map(|k| f64::from(k) * step)
            .take_while(|at| *at <= 1.0001 * self.duration_s)
            .collect()
    }
}

/// A lane for each processor, one below the other.
pub(super) fn over_time(lanes: &[Lane<'_>], kinds: &Kinds, scale: &Scale) -> Markup {
    let bottom = TOP + (LANE + GAP) * lanes.len() as f64 - GAP;
    let (width, height) = (LEFT + WIDTH + RIGHT, bottom + FOOT);
    let grid = grid(lanes, scale);
    let top_of = |lane: usize| TOP + (LANE + GAP) * lane as f64;
    html! {
        svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label="Length of each pause over the time when it began, for each processor" {
            @for (place, lane) in lanes.iter().enumerate() {
                g transform={ "translate(" (LEFT) " " (top_of(place)) ")" } {
                    rect.lane width=(WIDTH) height=(LANE) {}
                    (decade_lines(scale, LANE))
                    text.lane-name x="0" y="-6" { (lane.name) ": " (lane.each.len()) " pauses" }
                    @for (kind, marks) in marks(place, lane, kinds, scale, grid).iter().enumerate() {
                        @if !marks.is_empty() { path.mark.(kinds.colour(kind)) d=(marks) {} }
                    }
                }
            }
            @for at in scale.moments() {
                line.grid x1=(LEFT + scale.x_of(at)) x2=(LEFT + scale.x_of(at)) y1=(bottom) y2=(bottom + 5.0) {}
                text.number x=(LEFT + scale.x_of(at)) y=(bottom + 18.0) { (value(at, "s")) }
            }
            text.number x=(LEFT + WIDTH / 2.0) y=(bottom + 35.0) { "time since the processors began to look" }
        }
    }
}

/// Lines across at whole decades of the length, with their labels.
fn decade_lines(scale: &Scale, height: f64) -> Markup {
    html! {
        @for length_us in scale.decades() {
            line.grid x1="0" x2=(WIDTH) y1=(height * (1.0 - scale.height(length_us)))
                y2=(height * (1.0 - scale.height(length_us))) {}
            text.name x="-8" y=(height * (1.0 - scale.height(length_us)) + 4.0) { (value(length_us, "us")) }
        }
    }
}

/// The pitch of the grid at which the marks of all lanes are few enough.
fn grid(lanes: &[Lane<'_>], scale: &Scale) -> f64 {
    let count = |pitch: f64| -> usize {
        lanes
            .iter()
            .map(|lane| {
                cells(lane, scale, pitch).map(|(_, cell)| cell).collect::<BTreeSet<_>>().len()
            })
            .sum()
    };
    let mut pitch = MARK;
    while count(pitch) > MARKS && pitch < LANE / 4.0 {
        pitch *= 2.0;
    }
    pitch
}

/// For each pause of a lane how it was sorted, and the cell of the grid that it lies in: column, and row from the top.
fn cells<'a>(
    lane: &'a Lane<'_>,
    scale: &'a Scale,
    pitch: f64,
) -> impl Iterator<Item = (usize, (u32, u32))> + 'a {
    let cell = move |at: f64| (at / pitch).floor() as u32;
    lane.each.iter().zip(&lane.sorted.kind_of).map(move |(pause, &sorted_as)| {
        let y = (LANE - MARK) * (1.0 - scale.height(pause.length_us));
        (sorted_as, (cell(scale.x_of(pause.at_s)), cell(y)))
    })
}

/// The marks of each kind in a lane, as one path.
fn marks(place: usize, lane: &Lane<'_>, kinds: &Kinds, scale: &Scale, pitch: f64) -> Vec<String> {
    let mut of_kind: Vec<BTreeSet<(u32, u32)>> = vec![BTreeSet::new(); kinds.len()];
    for (sorted_as, cell) in cells(lane, scale, pitch) {
        of_kind[kinds.of_pause(place, sorted_as)].insert(cell);
    }
    let path = |cells: &BTreeSet<(u32, u32)>| {
        cells.iter().fold(String::new(), |mut text, (column, row)| {
            let (x, y) = (f64::from(*column) * pitch, f64::from(*row) * pitch);
            let _ = write!(text, "M{x} {y}h{MARK}v{MARK}h-{MARK}z");
            text
        })
    };
    of_kind.iter().map(path).collect()
}

const BINS_A_DECADE: f64 = 10.0;
const BARS: f64 = 180.0;

/// Bars over the logarithm of the length, as high as the logarithm of the number, in parts by kind.
pub(super) fn by_length(lanes: &[Lane<'_>], kinds: &Kinds, scale: &Scale) -> Markup {
    let decades = (scale.high_us / scale.low_us).log10().round();
    let bins = (BINS_A_DECADE * decades) as usize;
    let mut counts = vec![vec![0u64; kinds.len()]; bins];
    for (place, lane) in lanes.iter().enumerate() {
        for (pause, &sorted_as) in lane.each.iter().zip(&lane.sorted.kind_of) {
            let bin = (scale.height(pause.length_us) * bins as f64) as usize;
            counts[bin.min(bins - 1)][kinds.of_pause(place, sorted_as)] += 1;
        }
    }
    let most = counts.iter().map(|bin| bin.iter().sum::<u64>()).max().unwrap_or(1).max(1);
    let (width, height) = (LEFT + WIDTH + RIGHT, TOP + BARS + FOOT);
    let step = WIDTH / bins as f64;
    html! {
        svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label="Number of pauses of each length" {
            g transform={ "translate(" (LEFT) " " (TOP) ")" } {
                rect.lane width=(WIDTH) height=(BARS) {}
                @for count in powers_of_ten(most) {
                    line.grid x1="0" x2=(WIDTH) y1=(BARS - bar(count, most)) y2=(BARS - bar(count, most)) {}
                    text.name x="-8" y=(BARS - bar(count, most) + 4.0) { (count) }
                }
                @for (bin, of_kind) in counts.iter().enumerate() {
                    (stacked((step * bin as f64, step), of_kind, most, kinds))
                }
                @for length_us in scale.decades() {
                    text.number x=(WIDTH * scale.height(length_us)) y=(BARS + 18.0) { (value(length_us, "us")) }
                }
                text.number x=(WIDTH / 2.0) y=(BARS + 35.0) { "length of the pause" }
            }
        }
    }
}

/// One bar; its parts share its height as the kinds share its number.
fn stacked((x, step): (f64, f64), of_kind: &[u64], most: u64, kinds: &Kinds) -> Markup {
    let total: u64 = of_kind.iter().sum();
    let height = bar(total, most);
    let part = |count: u64| height * count as f64 / total.max(1) as f64;
    let mut foot = BARS;
    html! {
        @for (kind, &count) in of_kind.iter().enumerate() {
            @if count > 0 {
                @let top = { foot -= part(count); foot };
                rect.mark.(kinds.colour(kind)) x=(format!("{:.1}", x + 1.0)) y=(format!("{top:.1}"))
                    width=(format!("{:.1}", step - 2.0)) height=(format!("{:.1}", part(count))) {
                    title { (count) }
                }
            }
        }
    }
}

/// The height of a bar: one pause shows, too.
fn bar(count: u64, most: u64) -> f64 {
    let log = |count: u64| (1.0 + count as f64).log10();
    BARS * log(count) / log(most)
}

fn powers_of_ten(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1u64), |power| power.checked_mul(10)).take_while(move |p| *p <= most)
}
