//! A drawing of the number of pauses of each length.

use maud::{Markup, html};

use super::Lane;
use super::kinds::Kinds;
use crate::report::strips::{FOOT, LEFT, RIGHT, Scale, TOP, WIDTH};
use crate::wording::quantity;

const BINS_A_DECADE: f64 = 10.0;
const BARS: f64 = 180.0;

/// Draws bars over the logarithm of the length. Their height is the logarithm of the number, divided by kind.
pub(super) fn by_length(lanes: &[Lane<'_>], kinds: &Kinds, scale: &Scale) -> Markup {
    let bins = (BINS_A_DECADE * scale.span()) as usize;
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
                    text.number x=(WIDTH * scale.height(length_us)) y=(BARS + 18.0) { (quantity(length_us, "us")) }
                }
                text.number x=(WIDTH / 2.0) y=(BARS + 35.0) { "length of the pause" }
            }
        }
    }
}

/// Draws one bar, divided in proportion to the numbers of the kinds.
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

/// Returns the height of a bar. A single pause is visible.
fn bar(count: u64, most: u64) -> f64 {
    let log = |count: u64| (1.0 + count as f64).log10();
    BARS * log(count) / log(most)
}

fn powers_of_ten(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1u64), |power| power.checked_mul(10)).take_while(move |p| *p <= most)
}
