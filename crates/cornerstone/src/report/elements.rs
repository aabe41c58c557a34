//! Small pieces of the page that several sections use.

use maud::{Markup, html};

/// The coloured mark of a run.
pub(super) fn swatch(run: usize) -> Markup {
    html! { span.swatch data-run=(run) aria-hidden="true" {} }
}

/// The anchor of a benchmark, by its index.
pub(super) fn anchor(index: usize) -> String {
    format!("benchmark-{index}")
}

/// A text in which names between backticks are set as code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
