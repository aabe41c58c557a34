//! The jitter of a chain at each stage over time.

use maud::{Markup, html};
use record::{Measurement, ParameterValue};

use super::grouping::{Benchmark, cell};
use super::strips::{EventMark, Picture, Scale, Strip, over_time};
use crate::wording::quantity;

/// Parameter that distinguishes the stages of a measurement of a chain.
const STAGE: &str = "stage";
/// Maximum number of measurements that are drawn. The table has the numbers of all of them.
const DRAWN: usize = 6;

/// Returns a picture for each chain, granularity and mode with recorded jitter. It has a strip for each stage.
pub(super) fn pictures(benchmark: &Benchmark) -> Markup {
    let Some(metric) = benchmark.metric("jitter") else { return html! {} };
    let mut wholes: Vec<Vec<&Measurement>> = Vec::new();
    let mut runs: Vec<usize> = Vec::new();
    let of_stages = |m: &Measurement| m.parameters.contains_key(STAGE);
    for point in metric.points.iter().filter(|point| of_stages(point.measurement)) {
        let m = point.measurement;
        let same = |(run, whole): (&usize, &Vec<&Measurement>)| {
            *run == point.run && whole_of(whole[0]) == whole_of(m) && whole[0].fabric == m.fabric
        };
        match runs.iter().zip(&wholes).position(same) {
            Some(at) => wholes[at].push(m),
            None => {
                wholes.push(vec![m]);
                runs.push(point.run);
            }
        }
    }
    html! {
        @for stages in wholes.iter().take(DRAWN) { (picture(stages)) }
        @if wholes.len() > DRAWN { p { "The first " (DRAWN) " of " (wholes.len()) " measurements are drawn." } }
    }
}

/// Returns the parameters without the stage.
fn whole_of(m: &Measurement) -> Vec<(&String, &ParameterValue)> {
    m.parameters.iter().filter(|(name, _)| *name != STAGE).collect()
}

fn picture(stages: &[&Measurement]) -> Markup {
    let strips: Vec<Strip> = stages.iter().map(|m| strip(m)).collect();
    let matrices = stages.iter().map(|m| m.samples.len()).max().unwrap_or(0);
    let Some(scale) = Scale::of(&strips, matrices as f64) else {
        return html! { p { "No stage of " (name(stages[0])) " has any jitter: successive matrices are a period apart." } };
    };
    let picture = Picture {
        label: "Jitter at each stage, matrix by matrix",
        axis: "matrices, one each period",
        seconds: false,
        mark: 3.0,
        colours: &["kind-0".into()],
    };
    html! {
        figure.pauses {
            figcaption {
                b { "Jitter at each stage over time, " (name(stages[0])) ": " }
                "how far the time between a matrix and the one before it is off the period, for each stage from the source to \
                 the sink. What shows in all strips at once put off the source or a whole processor; what shows from a stage on \
                 began there."
            }
            div.scroll { (over_time(&strips, &scale, &picture)) }
        }
    }
}

fn name(m: &Measurement) -> String {
    let words =
        whole_of(m).into_iter().map(|(name, value)| format!("{name} {}", cell(name, value)));
    words.collect::<Vec<_>>().join(", ")
}

fn strip(m: &Measurement) -> Strip {
    let stage = m.parameters.get(STAGE).map_or_else(String::new, ToString::to_string);
    let marks = m.samples.iter().enumerate().map(|(index, &length_us)| EventMark {
        at: index as f64,
        length_us,
        colour: 0,
    });
    let summary = &m.summary;
    let (median, p99) = (quantity(summary.median, "us"), quantity(summary.p99, "us"));
    let name = format!("{stage}: median {median}, 99th percentile {p99}");
    Strip { name, marks: marks.filter(EventMark::is_sound).collect() }
}
