//! The comparison of runs, by the command and in the report.

use std::collections::BTreeSet;

use analysis::compare::{ComparedRuns, Settings, Without};
use record::{Measurement, Run};

use crate::fabric_name::simulated_machine;
use crate::progress::note;

/// Returns whether the interval of a measurement is of one launch only and so does not hold for other launches. Exact
/// numbers have no interval.
pub(crate) fn is_of_one_launch(measurement: &Measurement) -> bool {
    measurement.launch_medians.len() < 2 && !measurement.is_exact()
}

/// Returns the settings for the comparison of two runs, in which changes within `margin` count as the same unless they
/// are exact.
pub(crate) fn comparison_settings(
    first: &Run,
    second: &Run,
    margin: f64,
    without: Without,
) -> Settings {
    Settings {
        confidence: first.header().confidence,
        margin,
        paired: false,
        mostly_alike: is_one_fabric(first, second),
        without,
    }
}

/// Notes the stages that were switched off and would have changed nothing.
pub(crate) fn note_idle(compared: &ComparedRuns) {
    for stage in &compared.idle {
        note(&format!("note: the stage '{stage}' changes nothing in this comparison anyway"));
    }
}

/// Returns whether both runs are of one fabric, of any build. If so, most of its operations take the same time in both.
fn is_one_fabric(first: &Run, second: &Run) -> bool {
    let [a, b] = [first, second].map(|run| &run.header().fabric);
    simulated_machine(&a.name).is_none() && (&a.name, &a.version) == (&b.name, &b.version)
}

/// Returns the run without metrics that were computed from another metric of the same measurement. They would count
/// that measurement twice.
pub(crate) fn timed_only(mut run: Run) -> Run {
    let timed: BTreeSet<_> =
        run.measurements.iter().filter(|m| !m.samples.is_empty()).map(|m| m.key()).collect();
    run.measurements.retain(|m| !m.samples.is_empty() || !timed.contains(&m.key()));
    run
}
