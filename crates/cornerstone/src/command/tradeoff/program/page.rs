//! The comparison as one HTML page, in the style of the report of a run.

use maud::{Markup, html};

use super::output::{parts, verdict};
use super::{Comparison, Replayed};
use crate::report::document;
use crate::wording::{quantity, whole_percent};

/// Colours of the parts of a path, in their order.
const KINDS: [&str; 4] = ["kind-2", "kind-0", "kind-1", "kind-3"];

// Sizes of the chart in its own units.
const LEFT: f64 = 150.0;
const WIDTH: f64 = 600.0;
const RIGHT: f64 = 130.0;
const ROW: f64 = 20.0;
const GAP: f64 = 8.0;

/// Returns the page.
pub(super) fn page(comparison: &Comparison) -> String {
    let title = format!("What other systems bring to {}", comparison.program);
    let contents = html! { ul {
        li { a href="#summary" { "Summary" } }
        li { a href="#path" { "Critical path" } }
        li { a href="#systems" { "Systems" } }
        li { a href="#reading" { "How to read this" } }
    } };
    let main = html! {
        h1 { (title) }
        section #summary {
            h2 { "Summary" }
            p {
                (comparison.ranks) " ranks, replayed on " (comparison.machine) " and on other systems: "
                (verdict(comparison)) "."
            }
            @for remark in &comparison.remarks { p.notice { (remark) "." } }
        }
        section #path { h2 { "Critical path" } (legend(comparison)) (chart(comparison)) }
        section #systems { h2 { "Systems" } (systems(comparison)) }
        section #reading { h2 { "How to read this" } (reading()) }
    };
    document(&title, &contents, &main)
}

/// Returns the names of the parts.
fn names(comparison: &Comparison) -> Vec<&'static str> {
    let first = comparison.systems.first().map(|one| parts(&one.critical_path));
    first.into_iter().flatten().map(|(name, _)| name).collect()
}

fn legend(comparison: &Comparison) -> Markup {
    html! {
        p.doings { @for (name, kind) in names(comparison).into_iter().zip(KINDS) {
            span { span class={ "swatch " (kind) } aria-hidden="true" {} (name) }
        } }
    }
}

/// Draws a bar for each system. Its length is the time of the system, divided into the parts of its critical path.
fn chart(comparison: &Comparison) -> Markup {
    let longest_us = comparison.systems.iter().map(|one| one.time_us).fold(0.0, f64::max);
    let scale = if longest_us > 0.0 { WIDTH / longest_us } else { 0.0 };
    let height = (ROW + GAP) * comparison.systems.len() as f64;
    let width = LEFT + WIDTH + RIGHT;
    html! {
        figure.timeline {
            svg viewBox=(format!("0 0 {width} {height}")) role="img"
                aria-label="the critical path of the program on each system" {
                @for (index, one) in comparison.systems.iter().enumerate() {
                    @let y = index as f64 * (ROW + GAP);
                    @let words = y + 0.7 * ROW;
                    text.name x=(LEFT - 8.0) y=(words) { (one.system) }
                    @for bar in bars(one, scale) {
                        rect class={ "mark " (bar.kind) } x=(format!("{:.2}", LEFT + bar.from)) y=(y)
                            width=(format!("{:.2}", bar.width)) height=(ROW) { title { (bar.words) } }
                    }
                    text x=(format!("{:.2}", LEFT + one.time_us * scale + 6.0)) y=(words) {
                        (quantity(one.time_us, "us"))
                        @if index > 0 { " (" (format!("{:.2}", one.speedup)) " ×)" }
                    }
                }
            }
            figcaption { "The time of the program on each system, by what its critical path is made of." }
        }
    }
}

struct Bar {
    kind: &'static str,
    from: f64,
    width: f64,
    words: String,
}

fn bars(one: &Replayed, scale: f64) -> Vec<Bar> {
    let mut from = 0.0;
    let bar = |((name, time_us), kind): ((&str, f64), &'static str)| {
        let width = time_us * scale;
        let share = if one.time_us > 0.0 { time_us / one.time_us } else { 0.0 };
        let (time, percent) = (quantity(time_us, "us"), whole_percent(share));
        let words = format!("{}: {name} {time}, {percent}", one.system);
        let bar = Bar { kind, from, width, words };
        from += width;
        bar
    };
    parts(&one.critical_path).into_iter().zip(KINDS).map(bar).collect()
}

fn systems(comparison: &Comparison) -> Markup {
    html! {
        div.scroll { table.numbers {
            thead { tr {
                th { "System" } th { "Time" } th { "Times as fast" }
                @for name in names(comparison) { th { (name) } }
                th { "Changes" } th { "Messages" } th { "Machine" }
            } }
            tbody { @for one in &comparison.systems { tr {
                th scope="row" { (one.system) }
                td.median { (quantity(one.time_us, "us")) }
                td { (format!("{:.2}", one.speedup)) }
                @for (_, time_us) in parts(&one.critical_path) { td { (quantity(time_us, "us")) } }
                td { (one.critical_path.changes) }
                td { (one.messages) }
                td { (one.machine) }
            } } }
        } }
    }
}

fn reading() -> Markup {
    let words = [
        (
            "Critical path",
            "The chain of activities, from rank to rank, that the time of the program depends on. What is not on it could be faster without the program being faster. On each system it is another one.",
        ),
        (
            "Computing",
            "What the program computed where it was recorded; faster processors need less time for it.",
        ),
        ("Work in MPI", "What processors do for messages and collectives."),
        (
            "Under way",
            "Messages on their way, their waits for links that others use, and the time until others see what a rank shows them in shared memory.",
        ),
        (
            "Processors, latency, links",
            "Faster processors shrink computing and all that they do for a message, a lower latency the time from one end of a link to the other, and faster links the time of each byte.",
        ),
    ];
    html! { dl.glossary { @for (word, meaning) in words { dt { (word) } dd { (meaning) } } } }
}
