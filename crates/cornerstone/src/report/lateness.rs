//! The latest instances of a search together with the pauses of the ranks, to show whether pauses explain them.

use analysis::pauses::{explain, explained};
use maud::{Markup, html};
use record::{During, LateInstance, Measurement, PeriodSearch, SeenPause};

use super::chart::capitalised;
use super::grouping::{Benchmark, Point, full_label};
use super::strips::{EventMark, Picture, Scale, Strip, over_time};
use crate::wording::{chain_cost, outcome};
use crate::wording::{quantity, whole_percent};

/// Maximum number of searches that are drawn. The results file has the others.
const DRAWN: usize = 6;
/// Maximum number of ranks that are drawn.
const RANKS_DRAWN: usize = 16;
/// Classes of the instances that a pause explains, the instances that none explains, the pauses before the beginning of
/// an instance, and the pauses while it computed.
const COLOURS: [&str; 4] = ["kind-1", "kind-none", "kind-0", "kind-2"];

/// Returns the result of each search of a benchmark in words, with the cost of the communication of a chain.
pub(super) fn outcomes(benchmark: &Benchmark) -> Markup {
    let points = benchmark.metrics.iter().flat_map(|metric| &metric.points);
    let found: Vec<(&Point, &PeriodSearch)> =
        points.filter_map(|point| Some((point, point.measurement.search.as_ref()?))).collect();
    html! {
        @if !found.is_empty() {
            ul.periods { @for (point, search) in found {
                li {
                    b { (full_label(point.measurement)) ": " }
                    (outcome(search).join("; ")) "."
                    @if let Some(cost) = chain_cost(|metric| metric_of_same_case(benchmark, point, metric)) {
                        " " (capitalised(&cost.join(", "))) "."
                    }
                }
            } }
        }
    }
}

/// Returns another metric of the same measurement.
fn metric_of_same_case<'a>(
    benchmark: &Benchmark<'a>,
    point: &Point,
    metric: &str,
) -> Option<&'a Measurement> {
    let own = point.measurement;
    let is_of = |other: &&Point| {
        let m = other.measurement;
        other.run == point.run && m.parameters == own.parameters && m.ranks == own.ranks
    };
    benchmark.metric(metric)?.points.iter().find(is_of).map(|other| other.measurement)
}

/// Returns a picture and a table for each search of a benchmark in which instances were late.
pub(super) fn pictures(benchmark: &Benchmark) -> Markup {
    let points = benchmark.metrics.iter().flat_map(|metric| &metric.points);
    let late: Vec<(&Measurement, &PeriodSearch)> = points
        .filter_map(|point| Some((point.measurement, point.measurement.search.as_ref()?)))
        .filter(|(_, search)| !search.worst.is_empty())
        .collect();
    html! {
        @for (measurement, search) in late.iter().take(DRAWN) { (picture(measurement, search)) }
        @if late.len() > DRAWN { p { "The first " (DRAWN) " of " (late.len()) " searches are drawn." } }
    }
}

fn picture(measurement: &Measurement, search: &PeriodSearch) -> Markup {
    let strips = strips(search);
    let end = strips.iter().flat_map(|strip| &strip.marks).map(|mark| mark.at).fold(0.0, f64::max);
    let Some(scale) = Scale::of(&strips, 1.02 * end) else { return html! {} };
    let picture = Picture {
        label: "Lateness of the latest instances, and pauses of each rank's processor, over time",
        axis: "time since the search began",
        seconds: true,
        mark: 5.0,
        colours: &COLOURS.map(String::from),
    };
    html! {
        figure.pauses {
            figcaption {
                b { "The latest instances beside the pauses, " (full_label(measurement)) ": " }
                (explained_in_all(search))
                (key(0)) "late, by a pause; " (key(1)) "late, and no pause explains it; "
                (key(2)) "a pause when a rank should have begun; " (key(3)) "a pause while it computed."
            }
            div.scroll { (over_time(&strips, &scale, &picture)) }
            details { summary { "The latest instances, and what delayed them" } (table(search)) }
        }
    }
}

/// Returns how far pauses explain the latest instances.
fn explained_in_all(search: &PeriodSearch) -> String {
    let (share, wholly) = explained(search);
    format!(
        "pauses of the processors explain {} of the time that the {} latest instances took beyond the usual, and {wholly} of \
         them wholly. ",
        whole_percent(share),
        search.worst.len()
    )
}

fn key(colour: usize) -> Markup {
    html! { span.swatch.(COLOURS[colour]) {} " " }
}

fn strips(search: &PeriodSearch) -> Vec<Strip> {
    let late = |late: &LateInstance| EventMark {
        at: late.at_s,
        length_us: late.late_us,
        colour: usize::from(!explain(search, late).is_whole()),
    };
    let late = search.worst.iter().map(late).filter(EventMark::is_sound).collect();
    let mut strips = vec![Strip { name: "how late the latest instances were".into(), marks: late }];
    let paused = |pause: &SeenPause| EventMark {
        at: pause.at_s,
        length_us: pause.length_us,
        colour: if pause.during == During::Waiting { 2 } else { 3 },
    };
    let last = search.pauses.iter().map(|pause| pause.rank).max();
    for rank in (0..last.map_or(0, |last| last + 1)).take(RANKS_DRAWN) {
        let own = || search.pauses.iter().filter(|pause| pause.rank == rank);
        let marks = own().map(paused).filter(EventMark::is_sound).collect();
        strips.push(Strip { name: format!("rank {rank}: {} pauses", own().count()), marks });
    }
    strips
}

fn table(search: &PeriodSearch) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="The latest instances" {
            table.kinds {
                thead { tr {
                    @for heading in ["period", "rank", "stage", "instance", "late by", "ended at", "beyond the usual", "by pauses", "paused", "for", "from"] {
                        th scope="col" { (heading) }
                    }
                } }
                tbody { @for late in &search.worst {
                    @let found = explain(search, late);
                    tr {
                        th scope="row" { (quantity(late.period_us, "us")) }
                        td { (late.rank) }
                        td { (late.stage) }
                        td { (late.instance) }
                        td { (quantity(late.late_us, "us")) }
                        td { (moment(late.at_s)) }
                        td { (quantity(found.longer_us, "us")) }
                        td { (quantity(found.by_pauses_us, "us")) }
                        @match found.longest {
                            Some(pause) => {
                                td { "rank " (pause.rank) }
                                td { (quantity(pause.length_us, "us")) }
                                td { (moment(pause.at_s)) }
                            }
                            None => { td { "none" } td {} td {} }
                        }
                    }
                } }
            }
        }
    }
}

/// Returns a moment to the millisecond, so that moments can be compared.
fn moment(at_s: f64) -> String {
    format!("{at_s:.3} s")
}
