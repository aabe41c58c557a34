//! Small pieces of the page that several sections use.

use maud::{Markup, html};

/// Returns the coloured mark of a run.
pub(super) fn swatch(run: usize) -> Markup {
    html! { span.swatch data-run=(run) aria-hidden="true" {} }
}

/// Returns the class of a cell of a heat map: one of nine steps of one hue over the range from `low` to `high`. The
/// range counts as at least a quarter of an octave, because a value that is 1 % larger must not have another colour,
/// and one that is twice as large must.
pub(super) fn heat(value: f64, low: f64, high: f64) -> String {
    let spread = (high / low).log2().max(0.25);
    format!("heat-{}", ((value / low).log2() / spread * 8.0).round() as u32)
}

/// Returns the anchor of a benchmark, by its index.
pub(super) fn anchor(index: usize) -> String {
    format!("benchmark-{index}")
}

/// Returns a text in which names between backticks are set as code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
