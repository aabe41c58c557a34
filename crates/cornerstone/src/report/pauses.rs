//! The pauses of the processors: over time, with a lane for each processor, and by length, coloured by kind.
//!
//! After figures 4.3 to 4.5 of Games and others, "Benchmarking methodology for real-time embedded scalable high
//! performance computing", MITRE 1995. The figures show one processor at three scales. Here one logarithmic scale is
//! used.

mod drawing;
mod kinds;

use analysis::pauses::{Sorted, sort};
use maud::{Markup, html};
use record::{Measurement, Pause, Pauses, Run};

use super::strips::{EventMark, Picture, Scale, Strip, over_time};
use crate::wording::quantity;
use kinds::Kinds;

/// Pauses of one processor.
struct Lane<'a> {
    name: String,
    pauses: &'a Pauses,
    each: Vec<Pause>,
    sorted: Sorted,
}

/// Maximum number of processors that are drawn. The table has all of them.
const LANES_DRAWN: usize = 64;

/// Returns the pauses that the benchmark `clock` recorded in these runs.
pub(super) fn pictures(runs: &[Run]) -> Markup {
    html! { @for run in runs { (of_run(run, runs.len() > 1)) } }
}

fn of_run(run: &Run, several: bool) -> Markup {
    let lanes = lanes(run);
    let threshold_us = lanes.iter().map(|lane| lane.pauses.threshold_us).fold(0.0, f64::max);
    if lanes.iter().all(|lane| lane.each.is_empty()) {
        return html! {};
    }
    let kinds = Kinds::of(&lanes);
    let strips: Vec<Strip> = (0..lanes.len()).map(|lane| strip(&lanes, lane, &kinds)).collect();
    let duration_s = lanes.iter().map(|lane| lane.pauses.duration_s).fold(0.0, f64::max);
    let Some(scale) = Scale::of(&strips, duration_s) else { return html! {} };
    let drawn = &strips[..strips.len().min(LANES_DRAWN)];
    let colours: Vec<String> = (0..kinds.len()).map(|kind| kinds.colour(kind)).collect();
    let picture = Picture {
        label: "Length of each pause over the time when it began, for each processor",
        axis: "time since the measurement began",
        seconds: true,
        mark: 2.0,
        colours: &colours,
    };
    html! {
        figure.pauses {
            figcaption {
                @if several { b { (run.label) } ": " }
                "Pauses over time: each mark is one, or some that would cover each other, at the moment when it began, as high \
                 as it was long, in the colour of its kind. A pause is what keeps the processor longer than "
                (quantity(threshold_us, "us")) "."
            }
            div.scroll { (over_time(drawn, &scale, &picture)) }
            @if drawn.len() < lanes.len() {
                p { "The first " (drawn.len()) " of " (lanes.len()) " processors are drawn." }
            }
        }
        figure.pauses {
            figcaption { "How many pauses of each length all processors had together." }
            div.scroll { (drawing::by_length(&lanes, &kinds, &scale)) }
        }
        (kinds.table(&lanes))
    }
}

/// Returns the strip of a lane, with each pause in the colour of its kind.
fn strip(lanes: &[Lane<'_>], place: usize, kinds: &Kinds) -> Strip {
    let lane = &lanes[place];
    let marks = lane.each.iter().zip(&lane.sorted.kind_of).map(|(pause, &sorted_as)| EventMark {
        at: pause.at_s,
        length_us: pause.length_us,
        colour: kinds.of_pause(place, sorted_as),
    });
    Strip { name: format!("{}: {} pauses", lane.name, lane.each.len()), marks: marks.collect() }
}

/// Returns the processors of a run in the order of their ranks. The metric `lost` has the moments of the pauses, and
/// the samples of `pause` are the lengths. If a resumed run has measured a processor twice, the later measurement
/// counts.
fn lanes(run: &Run) -> Vec<Lane<'_>> {
    let of_metric =
        |metric: &'static str| run.measurements.iter().filter(move |m| m.metric == metric);
    let mut lanes: Vec<(&Measurement, Lane<'_>)> = Vec::new();
    for lost in of_metric("lost") {
        let Some(pauses) = &lost.pauses else { continue };
        let lengths = of_metric("pause").rfind(|pause| pause.key() == lost.key());
        let lengths: &[f64] = lengths.map_or(&[], |pause| &pause.samples);
        let each: Vec<Pause> = pauses
            .at_s
            .iter()
            .zip(lengths)
            .map(|(&at_s, &length_us)| Pause { at_s, length_us })
            // The record is untrusted, so pauses that cannot be drawn are left out.
            .filter(|pause| pause.at_s >= 0.0 && pause.at_s.is_finite())
            .filter(|pause| pause.length_us > 0.0 && pause.length_us.is_finite())
            .collect();
        let sorted = sort(&each, pauses.duration_s);
        lanes.retain(|(earlier, _)| earlier.key() != lost.key());
        lanes.push((lost, Lane { name: name(lost, pauses), pauses, each, sorted }));
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}

fn name(lost: &Measurement, pauses: &Pauses) -> String {
    match (pauses.processor, lost.parameters.get("rank")) {
        (Some(processor), _) => format!("processor {processor}"),
        (None, Some(rank)) => format!("rank {rank}"),
        (None, None) => "a processor".into(),
    }
}

#[cfg(test)]
mod tests;
