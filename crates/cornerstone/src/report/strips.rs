//! Events over time as marks in strips, one below the other: a strip for each processor, rank or stage. The height of a
//! mark is the logarithm of the length of its event.

use std::collections::BTreeSet;
use std::fmt::Write;

use maud::{Markup, html};

use crate::wording::{quantity, significant};

pub(super) const LEFT: f64 = 70.0;
pub(super) const WIDTH: f64 = 800.0;
pub(super) const TOP: f64 = 20.0;
pub(super) const FOOT: f64 = 40.0;
/// Room for half of the last label of the axis.
pub(super) const RIGHT: f64 = 28.0;
const STRIP: f64 = 104.0;
const GAP: f64 = 26.0;
/// Maximum number of marks of a picture, because more make a page slow. If there are more, the grid is made coarser.
const MARKS: usize = 40_000;

/// Events of one processor, rank or stage.
pub(super) struct Strip {
    pub(super) name: String,
    pub(super) marks: Vec<EventMark>,
}

/// An event in a strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EventMark {
    /// Time of the event, in the units of the picture's axis.
    pub(super) at: f64,
    pub(super) length_us: f64,
    /// Index of its colour among those of the picture.
    pub(super) colour: usize,
}

/// A picture of strips.
pub(super) struct Picture<'a> {
    /// Description for screen readers.
    pub(super) label: &'a str,
    /// Title of the horizontal axis.
    pub(super) axis: &'a str,
    /// True if the axis is in seconds. Otherwise it counts.
    pub(super) seconds: bool,
    /// Width of a mark. Marks are placed on a grid of this width, so that marks that would cover each other become one.
    pub(super) mark: f64,
    /// Classes of the colours.
    pub(super) colours: &'a [String],
}

impl EventMark {
    /// Returns whether it can be drawn. A record is untrusted, so it may have values that cannot.
    pub(super) fn is_sound(&self) -> bool {
        self.at >= 0.0 && self.at.is_finite() && self.length_us >= 0.0 && self.length_us.is_finite()
    }
}

/// Ranges of the axes: to the end, and from the shortest to the longest event in whole decades.
pub(super) struct Scale {
    end: f64,
    low_us: f64,
    high_us: f64,
}

impl Scale {
    /// Returns the ranges for these strips, or `None` if no event is longer than zero.
    pub(super) fn of(strips: &[Strip], end: f64) -> Option<Scale> {
        let lengths = || strips.iter().flat_map(|strip| &strip.marks).map(|mark| mark.length_us);
        let low_us = lengths().filter(|us| *us > 0.0).fold(f64::INFINITY, f64::min);
        if !low_us.is_finite() {
            return None;
        }
        let low_us = low_us.log10().floor();
        let high_us = lengths().fold(0.0, f64::max).log10().ceil().max(low_us + 1.0);
        let end = end.max(1e-9);
        Some(Scale { end, low_us: 10f64.powf(low_us), high_us: 10f64.powf(high_us) })
    }

    fn x_of(&self, at: f64) -> f64 {
        WIDTH * (at / self.end).min(1.0)
    }

    /// Returns the height of a length, 0 to 1.
    pub(super) fn height(&self, length_us: f64) -> f64 {
        ((length_us / self.low_us).log10() / (self.high_us / self.low_us).log10()).clamp(0.0, 1.0)
    }

    pub(super) fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        let (low, high) = (self.low_us.log10().round() as i32, self.high_us.log10().round() as i32);
        (low..=high).map(|power| 10f64.powi(power))
    }

    /// Returns the number of decades.
    pub(super) fn span(&self) -> f64 {
        (self.high_us / self.low_us).log10().round()
    }

    /// Returns about eight places on the axis, at steps of 1, 2 or 5 times a power of ten.
    fn places(&self) -> Vec<f64> {
        let rough = self.end / 8.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
        (0..).map(|k| f64::from(k) * step).take_while(|at| *at <= 1.0001 * self.end).collect()
    }
}

/// Draws the strips, one below the other.
pub(super) fn over_time(strips: &[Strip], scale: &Scale, picture: &Picture<'_>) -> Markup {
    let bottom = TOP + (STRIP + GAP) * strips.len() as f64 - GAP;
    let (width, height) = (LEFT + WIDTH + RIGHT, bottom + FOOT);
    let pitch = grid(strips, scale, picture.mark);
    let top_of = |strip: usize| TOP + (STRIP + GAP) * strip as f64;
    let place = |at: f64| if picture.seconds { quantity(at, "s") } else { significant(at) };
    html! {
        svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label=(picture.label) {
            @for (index, strip) in strips.iter().enumerate() {
                g transform={ "translate(" (LEFT) " " (top_of(index)) ")" } {
                    rect.lane width=(WIDTH) height=(STRIP) {}
                    (decade_lines(scale))
                    text.lane-name x="0" y="-6" { (strip.name) }
                    @for (colour, path) in paths(strip, scale, picture, pitch).iter().enumerate() {
                        @if !path.is_empty() { path.mark.(picture.colours[colour]) d=(path) {} }
                    }
                }
            }
            @for at in scale.places() {
                line.grid x1=(LEFT + scale.x_of(at)) x2=(LEFT + scale.x_of(at)) y1=(bottom) y2=(bottom + 5.0) {}
                text.number x=(LEFT + scale.x_of(at)) y=(bottom + 18.0) { (place(at)) }
            }
            text.number x=(LEFT + WIDTH / 2.0) y=(bottom + 35.0) { (picture.axis) }
        }
    }
}

/// Draws horizontal lines at whole decades of the length, with their labels.
fn decade_lines(scale: &Scale) -> Markup {
    let y = |length_us: f64| STRIP * (1.0 - scale.height(length_us));
    html! {
        @for length_us in scale.decades() {
            line.grid x1="0" x2=(WIDTH) y1=(y(length_us)) y2=(y(length_us)) {}
            text.name x="-8" y=(y(length_us) + 4.0) { (quantity(length_us, "us")) }
        }
    }
}

/// Returns the pitch of the grid at which the marks of all strips are few enough.
fn grid(strips: &[Strip], scale: &Scale, mark: f64) -> f64 {
    let distinct = |strip: &Strip, pitch| {
        cells(strip, scale, (mark, pitch)).map(|(_, cell)| cell).collect::<BTreeSet<_>>().len()
    };
    let count = |pitch| -> usize { strips.iter().map(|strip| distinct(strip, pitch)).sum() };
    let mut pitch = mark;
    while count(pitch) > MARKS && pitch < STRIP / 4.0 {
        pitch *= 2.0;
    }
    pitch
}

/// Returns the colour of each mark of a strip, and its cell of the grid: column, and row from the top.
fn cells<'a>(
    strip: &'a Strip,
    scale: &'a Scale,
    (mark, pitch): (f64, f64),
) -> impl Iterator<Item = (usize, (u32, u32))> + 'a {
    let cell = move |at: f64| (at / pitch).floor() as u32;
    strip.marks.iter().map(move |one| {
        let y = (STRIP - mark) * (1.0 - scale.height(one.length_us));
        (one.colour, (cell(scale.x_of(one.at)), cell(y)))
    })
}

/// Returns the marks of each colour in a strip, as one path.
fn paths(strip: &Strip, scale: &Scale, picture: &Picture<'_>, pitch: f64) -> Vec<String> {
    let mark = picture.mark;
    let mut of_colour: Vec<BTreeSet<(u32, u32)>> = vec![BTreeSet::new(); picture.colours.len()];
    for (colour, cell) in cells(strip, scale, (mark, pitch)) {
        of_colour[colour].insert(cell);
    }
    let path = |cells: &BTreeSet<(u32, u32)>| {
        cells.iter().fold(String::new(), |mut text, (column, row)| {
            let (x, y) = (f64::from(*column) * pitch, f64::from(*row) * pitch);
            let _ = write!(text, "M{x} {y}h{mark}v{mark}h-{mark}z");
            text
        })
    };
    of_colour.iter().map(path).collect()
}
