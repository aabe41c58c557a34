//! The summary: what the machine is and what it can do, for somebody who reads nothing else.

use contract::record::{Measurement, Run};
use maud::{Markup, html};

use super::format::{about_size, significant, size, value};
use super::grouping::{Benchmark, words};
use super::limits::{Limits, best_copy};
use super::numbers::swatch;

/// A number that a reader asks for first.
struct KeyFigure {
    title: &'static str,
    /// Where to find it: the first of these that the run holds.
    benchmarks: &'static [&'static str],
    metric: &'static str,
    pick: fn(&[&Measurement]) -> Option<usize>,
}

const KEY_FIGURES: &[KeyFigure] = &[
    KeyFigure {
        title: "Short message, one way",
        benchmarks: &["latency", "ping-pong"],
        metric: "time",
        pick: shortest_message,
    },
    KeyFigure {
        title: "Highest rate, one way",
        benchmarks: &["bandwidth", "ping-pong"],
        metric: "rate",
        pick: highest,
    },
    KeyFigure {
        title: "Highest rate, both ways",
        benchmarks: &["both-way-bandwidth"],
        metric: "rate",
        pick: highest,
    },
    KeyFigure { title: "Barrier", benchmarks: &["barrier"], metric: "time", pick: fewest_ranks },
    KeyFigure {
        title: "Allreduce, short",
        benchmarks: &["allreduce"],
        metric: "time",
        pick: shortest_message,
    },
];

/// A key figure as one run has it.
struct Found<'a> {
    measurement: &'a Measurement,
    benchmark: usize,
}

/// The machine of each run in a sentence.
pub(super) fn machines(runs: &[Run]) -> Markup {
    html! {
        @for (index, run) in runs.iter().enumerate() {
            p.machine {
                @if runs.len() > 1 { (swatch(index)) strong { (run.label) } ": " }
                (machine(run))
            }
        }
    }
}

/// The key figures: tiles for one run, a table for several.
pub(super) fn key_figures(runs: &[Run], benchmarks: &[Benchmark], limits: &Limits) -> Markup {
    let rows: Vec<(&KeyFigure, Vec<Option<Found>>)> = KEY_FIGURES
        .iter()
        .map(|figure| (figure, (0..runs.len()).map(|run| figure.find(benchmarks, run)).collect()))
        .filter(|(_, found): &(_, Vec<Option<Found>>)| found.iter().any(Option::is_some))
        .collect();
    if runs.len() == 1 { tiles(&rows, limits) } else { side_by_side(&rows, runs, limits) }
}

fn tiles(rows: &[(&KeyFigure, Vec<Option<Found>>)], limits: &Limits) -> Markup {
    html! {
        div.tiles {
            @for (figure, found) in rows { @for found in found.iter().flatten() {
                @let m = found.measurement;
                a.tile href={ "#" (super::standout::anchor(found.benchmark)) } {
                    span.name { (figure.title) }
                    span.figure { (value(m.summary.median, &m.unit)) }
                    span.interval { (interval(m)) }
                    @if let Some(share) = limits.share(0, m) { span.share { (share) } }
                    span.where { (circumstances(m)) }
                }
            } }
        }
    }
}

fn side_by_side(
    rows: &[(&KeyFigure, Vec<Option<Found>>)],
    runs: &[Run],
    limits: &Limits,
) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Key figures, side by side" {
            table.key {
                thead { tr {
                    td {}
                    @for (index, run) in runs.iter().enumerate() {
                        th scope="col" { (swatch(index)) (run.label) }
                    }
                } }
                tbody { @for (figure, found) in rows { tr {
                    th scope="row" { (figure.title) }
                    @let base = found[0].as_ref().map(|found| found.measurement);
                    @for (run, found) in found.iter().enumerate() {
                        td { @if let Some(found) = found {
                            @let m = found.measurement;
                            span.figure { (value(m.summary.median, &m.unit)) }
                            @if let Some(base) = base.filter(|_| run > 0) {
                                " " span.ratio { (significant(m.summary.median / base.summary.median)) " ×" }
                            }
                            span.interval { (interval(m)) }
                            span.where { (circumstances(m)) }
                            @if let Some(share) = limits.share(run, m) { span.share { (share) } }
                        } @else { "not measured" } }
                    }
                } } }
            }
        }
    }
}

/// What a run's machine is and what bounds it, in sentences.
fn machine(run: &Run) -> String {
    let header = run.header();
    let e = &header.environment;
    let processor = if e.processor.is_empty() { "an unnamed processor" } else { &e.processor };
    let mut text = match header.fabric.name.strip_prefix("sim:") {
        Some(name) => format!("the simulated machine {name}"),
        None => format!(
            "{}: {processor}, {} processors available, {} of memory, {}",
            e.host,
            e.processors_available,
            about_size(e.memory_bytes),
            e.kernel
        ),
    };
    if !e.virtualisation.is_empty() && e.virtualisation != "none" {
        text += &format!(", under {}", e.virtualisation);
    }
    text + &format!(". Messages went over `{}`.", header.fabric.name)
}

/// What the machine itself allows, in a sentence; `None` where it was not measured.
pub(super) fn limits_sentence(limits: &Limits, run: usize) -> Option<String> {
    let machine = limits.run(run);
    let mut parts = Vec::new();
    if let Some(hand_over) = machine.fastest_hand_over_us() {
        parts.push(format!("hands a cache line from core to core in {}", value(hand_over, "us")));
    }
    if let Some(copy) = best_copy(machine) {
        parts.push(format!("copies with one core at up to {copy}"));
    }
    (!parts.is_empty()).then(|| format!("The machine itself {}.", parts.join(" and ")))
}

impl KeyFigure {
    fn find<'a>(&self, benchmarks: &[Benchmark<'a>], run: usize) -> Option<Found<'a>> {
        self.benchmarks.iter().find_map(|name| {
            let benchmark = benchmarks.iter().position(|benchmark| benchmark.name == *name)?;
            let points = &benchmarks[benchmark].metric(self.metric)?.points;
            let of_run: Vec<&Measurement> =
                points.iter().filter(|p| p.run == run).map(|p| p.measurement).collect();
            (self.pick)(&of_run).map(|index| Found { measurement: of_run[index], benchmark })
        })
    }
}

/// The smallest message with something in it, between the fewest ranks; eight bytes if that was measured.
fn shortest_message(measurements: &[&Measurement]) -> Option<usize> {
    let candidates = (0..measurements.len()).filter(|&index| measurements[index].size_bytes > 0);
    candidates.min_by_key(|&index| {
        let m = measurements[index];
        (m.ranks, m.size_bytes != 8, m.size_bytes)
    })
}

fn fewest_ranks(measurements: &[&Measurement]) -> Option<usize> {
    (0..measurements.len()).min_by_key(|&index| measurements[index].ranks)
}

fn highest(measurements: &[&Measurement]) -> Option<usize> {
    let median = |&index: &usize| measurements[index].summary.median;
    (0..measurements.len()).max_by(|a, b| median(a).total_cmp(&median(b)))
}

fn interval(m: &Measurement) -> String {
    let s = &m.summary;
    format!("{} to {}", value(s.ci_low, &m.unit), value(s.ci_high, &m.unit))
}

fn circumstances(m: &Measurement) -> String {
    let mut text = format!("{}, {} ranks", words(&m.benchmark), m.ranks);
    if m.size_bytes > 0 {
        text += &format!(", {}", size(m.size_bytes));
    }
    if !m.stop_reason.converged() {
        text += ", not converged";
    }
    text
}
