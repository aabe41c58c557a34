//! The summary: the machine and its most important numbers.

use benchmark::{KeyFigure, is_as_the_fabric_chooses, is_between_hosts};
use maud::{Markup, html};
use record::{Measurement, Run};

use super::chart::capitalised;
use super::elements::{anchor, prose, swatch};
use super::fits::{self, Fit};
use super::grouping::{Benchmark, parameter};
use super::material::Material;
use super::remarks::oversubscribed;
use crate::fabric_name::{LOCAL, simulated_machine};
use crate::wording::{about_size, quantity, ranks, significant, size, whole_percent};

/// Presentation of a key figure.
struct Shown {
    figure: KeyFigure,
    title: &'static str,
    metric: &'static str,
    pick: fn(&[&Measurement]) -> Option<usize>,
    /// Beginning of a sentence that ends with the number.
    sentence: &'static str,
}

/// Key figures in their order. The benchmarks declare which figures they have.
const KEY_FIGURES: &[Shown] = &[
    Shown {
        figure: KeyFigure::ShortMessage,
        title: "Short message, one way",
        metric: "time",
        pick: shortest_message,
        sentence: "a short message is in the other rank's hands after",
    },
    Shown {
        figure: KeyFigure::RateOneWay,
        title: "Highest rate, one way",
        metric: "rate",
        pick: highest,
        sentence: "long messages flow at up to",
    },
    Shown {
        figure: KeyFigure::RateBothWays,
        title: "Highest rate, both ways",
        metric: "rate",
        pick: highest,
        sentence: "both ways at once they reach",
    },
    Shown {
        figure: KeyFigure::Barrier,
        title: "Barrier",
        metric: "time",
        pick: fewest_ranks,
        sentence: "a barrier takes",
    },
    Shown {
        figure: KeyFigure::ShortBroadcast,
        title: "Broadcast, short",
        metric: "time",
        pick: shortest_message,
        sentence: "a short broadcast takes",
    },
    Shown {
        figure: KeyFigure::ShortAllreduce,
        title: "Allreduce, short",
        metric: "time",
        pick: shortest_message,
        sentence: "a short allreduce takes",
    },
    Shown {
        figure: KeyFigure::Fft,
        title: "Fastest FFT",
        metric: "rate",
        pick: highest,
        sentence: "FFTs run at up to",
    },
    Shown {
        figure: KeyFigure::Linpack,
        title: "Linpack",
        metric: "rate",
        pick: highest,
        sentence: "linear equations are solved at up to",
    },
];

/// Returns the names of the benchmarks that have a figure, the preferred one first.
fn benchmarks_with(figure: KeyFigure) -> Vec<&'static str> {
    let preference = |benchmark: &benchmark::Benchmark| {
        let has = benchmark.key_figures.iter().find(|has| has.figure == figure)?;
        Some((has.preference, benchmark.name))
    };
    let mut found: Vec<_> = benchmark::catalogue().iter().filter_map(preference).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

/// A key figure of one run.
struct Found<'a> {
    measurement: &'a Measurement,
    benchmark: usize,
}

/// Returns the machine, the limits and the key figures of each run, in sentences.
pub(super) fn sentences(material: &Material, benchmarks: &[Benchmark]) -> Markup {
    let several = material.runs.len() > 1;
    html! {
        @for (index, run) in material.runs.iter().enumerate() {
            @if several { h3.run { (swatch(index)) (run.label) } }
            p { (prose(&machine(run))) }
            @if let Some(limits) = material.limits.sentence(index) { p { (limits) } }
            @if several {
                @if let Some(text) = material.comparisons.sentence(index, material.runs) { p { (text) } }
            } @else {
                @if let Some(text) = abilities(material, benchmarks) { p { (text) } }
                @if let Some(text) = straight_line(material, benchmarks) { p { (prose(&text)) } }
            }
        }
    }
}

/// Returns the key figures: tiles for one run, a table for several.
pub(super) fn key_figures(material: &Material, benchmarks: &[Benchmark]) -> Markup {
    let runs = material.runs.len();
    let rows: Vec<(&Shown, Vec<Option<Found>>)> = KEY_FIGURES
        .iter()
        .map(|figure| (figure, figure.find(benchmarks, runs)))
        .filter(|(_, found): &(_, Vec<Option<Found>>)| found.iter().any(Option::is_some))
        .collect();
    match (rows.is_empty(), runs) {
        (true, _) => html! {},
        (_, 1) => tiles(&rows, material),
        _ => side_by_side(&rows, material),
    }
}

fn tiles(rows: &[(&Shown, Vec<Option<Found>>)], material: &Material) -> Markup {
    html! {
        div.tiles {
            @for (figure, found) in rows { @for found in found.iter().flatten() {
                @let m = found.measurement;
                a.tile href={ "#" (anchor(found.benchmark)) } {
                    span.name { (figure.title) }
                    span.figure { (quantity(m.summary.median, &m.unit)) }
                    span.interval { (interval(m)) }
                    @if let Some(share) = material.limits.words(m) { span.share { (share) } }
                    span.where { (circumstances(m, &material.runs[0])) }
                }
            } }
        }
    }
}

fn side_by_side(rows: &[(&Shown, Vec<Option<Found>>)], material: &Material) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Key figures, side by side" {
            table.key {
                thead { tr {
                    th scope="col" { "Key figures" }
                    @for (index, run) in material.runs.iter().enumerate() {
                        th scope="col" { (swatch(index)) (run.label) }
                    }
                } }
                tbody { @for (figure, found) in rows { tr {
                    th scope="row" { (figure.title) }
                    @for (run, found) in found.iter().enumerate() {
                        td { @match found {
                            Some(found) => (key_cell(run, found.measurement, found_in(rows, figure), material)),
                            None => "not measured",
                        } }
                    }
                } } }
            }
        }
    }
}

/// Returns the first run's number of this figure.
fn found_in<'a>(
    rows: &'a [(&Shown, Vec<Option<Found<'a>>>)],
    figure: &Shown,
) -> Option<&'a Measurement> {
    let row = rows.iter().find(|(row, _)| row.title == figure.title)?;
    row.1[0].as_ref().map(|found| found.measurement)
}

fn key_cell(
    run: usize,
    m: &Measurement,
    first: Option<&Measurement>,
    material: &Material,
) -> Markup {
    let ratio = first
        .filter(|first| run > 0 && first.unit == m.unit && first.ranks == m.ranks)
        .filter(|first| first.summary.median > 0.0)
        .map(|first| significant(m.summary.median / first.summary.median));
    html! {
        span.figure { (quantity(m.summary.median, &m.unit)) }
        @if let Some(ratio) = ratio { " " span.ratio { (ratio) " ×" } }
        span.interval { (interval(m)) }
        @if let Some(share) = material.limits.words(m) { span.share { (share) } }
        span.where { (circumstances(m, &material.runs[run])) }
    }
}

/// Returns the machine of a run in a sentence.
fn machine(run: &Run) -> String {
    let header = run.header();
    let e = &header.environment;
    if let Some(name) = simulated_machine(&header.fabric.name) {
        return format!("A simulation of the machine `{name}`, in its own virtual time.");
    }
    let if_any = |text: &str| (!text.is_empty()).then(|| text.to_string());
    let parts = [
        if_any(&e.processor),
        (e.processors_available > 0).then(|| match e.processors_available {
            1 => "1 processor at the run's disposal".into(),
            more => format!("{more} processors at the run's disposal"),
        }),
        (e.memory_bytes > 0).then(|| format!("{} of memory", about_size(e.memory_bytes))),
        if_any(&e.kernel),
        if_any(&e.virtualisation).filter(|text| text != "none"),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        parts.push("the run does not record more about it".into());
    }
    let host =
        if_any(&e.host).map_or("A machine without a name".into(), |host| format!("`{host}`"));
    let fabric = match header.fabric.name.as_str() {
        LOCAL => "Messages went over Cornerstone's own shared memory (`local`).".into(),
        "" => "The run does not record its fabric.".into(),
        other => format!("Messages went over `{other}`."),
    };
    format!("{host}: {}. {fabric}", parts.join(", "))
}

/// Returns the key figures of a single run in a sentence, with their shares of the limits.
fn abilities(material: &Material, benchmarks: &[Benchmark]) -> Option<String> {
    let clause = |figure: &Shown| {
        let m = figure.find(benchmarks, 1).into_iter().flatten().next()?.measurement;
        let number = quantity(m.summary.median, &m.unit);
        let mut clause = format!("{} {number}", figure.sentence);
        if let Some(share) = material.limits.share(m) {
            clause += &format!(" ({} of {})", whole_percent(share.share), share.bound.kind());
        }
        Some(clause)
    };
    let clauses: Vec<String> = KEY_FIGURES.iter().filter_map(clause).take(4).collect();
    (!clauses.is_empty()).then(|| capitalised(&clauses.join("; ")) + ".")
}

/// Returns the straight line of the simplest transfer in a sentence.
fn straight_line(material: &Material, benchmarks: &[Benchmark]) -> Option<String> {
    let found = |name: &&str| benchmarks.iter().find(|benchmark| benchmark.name == *name);
    let benchmark = benchmarks_with(KeyFigure::StraightLine).iter().find_map(found)?;
    let Fit { model, .. } =
        fits::fits(benchmark.metric("time")?, material.runs).into_iter().next()?;
    let rate = model.line.rate_mb_per_s?;
    let half = model.line.half_performance_bytes?;
    Some(format!(
        "By a straight line through the times of `{}`, a message starts up in {} and then moves at {}, \
         half of which it reaches at {}. The line fails {}.",
        benchmark.name,
        quantity(model.line.latency_us.value, "us"),
        quantity(rate.value, "MB/s"),
        about_size(half.value.round() as u64),
        fits::failure(&model)
    ))
}

impl Shown {
    /// Returns the figure of each run, all from one benchmark: the first of those benchmarks with the figure that most
    /// runs contain.
    fn find<'a>(&self, benchmarks: &[Benchmark<'a>], runs: usize) -> Vec<Option<Found<'a>>> {
        let of_benchmark = |name: &&str| -> Vec<Option<Found<'a>>> {
            let place = benchmarks.iter().position(|benchmark| benchmark.name == *name);
            (0..runs).map(|run| self.of_run(benchmarks, place?, run)).collect()
        };
        let names = benchmarks_with(self.figure);
        let candidates = names.iter().map(of_benchmark);
        // `max_by_key` takes the last of equal elements. In reverse order that is the benchmark named first.
        let held = |found: &Vec<Option<Found>>| found.iter().flatten().count();
        candidates.rev().max_by_key(held).unwrap_or_default()
    }

    fn of_run<'a>(
        &self,
        benchmarks: &[Benchmark<'a>],
        benchmark: usize,
        run: usize,
    ) -> Option<Found<'a>> {
        let points = &benchmarks[benchmark].metric(self.metric)?.points;
        let of_run = points.iter().filter(|p| p.run == run).map(|p| p.measurement);
        let mut of_run: Vec<&Measurement> =
            of_run.filter(|m| is_as_the_fabric_chooses(&m.parameters)).collect();
        // Of a cluster, the network is what its figures are of.
        if of_run.iter().any(|m| is_between_hosts(&m.parameters)) {
            of_run.retain(|m| is_between_hosts(&m.parameters));
        }
        (self.pick)(&of_run).map(|index| Found { measurement: of_run[index], benchmark })
    }
}

/// Longest message that is called short.
const SHORT_BYTES: u64 = 1 << 10;

/// Selects the smallest short message that is not empty, between the fewest ranks. A message of eight bytes is preferred.
fn shortest_message(measurements: &[&Measurement]) -> Option<usize> {
    let is_short = |index: &usize| (1..=SHORT_BYTES).contains(&measurements[*index].size_bytes);
    let candidates = (0..measurements.len()).filter(is_short);
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
    if m.is_exact() && s.ci_low == s.ci_high {
        return "exact".into();
    }
    format!("{} to {}", quantity(s.ci_low, &m.unit), quantity(s.ci_high, &m.unit))
}

fn circumstances(m: &Measurement, run: &Run) -> String {
    let mut text = format!("{}, {}", m.benchmark, ranks(m.ranks));
    if m.size_bytes > 0 {
        text += &format!(", {}", size(m.size_bytes));
    }
    for (name, value) in &m.parameters {
        text += &format!(", {}", parameter(name, value));
    }
    if oversubscribed(m, run).is_some() {
        text += ", more than there are processors";
    }
    if !m.stop_reason.converged() {
        text += ", not converged";
    }
    text
}
