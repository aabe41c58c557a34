//! The comparison of runs, by the command and in the report.

use std::collections::BTreeSet;

use analysis::compare::Settings;
use record::{Measurement, Run};

use crate::fabric_name::simulated_machine;

/// Whether the interval of a measurement says nothing of other launches. Simulated launches are alike.
pub(crate) fn is_of_one_launch(measurement: &Measurement) -> bool {
    measurement.launch_medians.len() < 2 && simulated_machine(&measurement.fabric).is_none()
}

/// The comparison of two runs, where changes within `margin` count as the same: on simulated machines one launch
/// decides as much as many.
pub(crate) fn comparison_settings(first: &Run, second: &Run, margin: f64) -> Settings {
    let is_simulated = |run: &Run| simulated_machine(&run.header().fabric.name).is_some();
    Settings {
        confidence: first.header().confidence,
        margin,
        one_launch_tells: is_simulated(first) && is_simulated(second),
        paired: false,
        mostly_alike: is_one_fabric(first, second),
    }
}

/// Whether both runs are of one fabric, of any build: most of its operations take the same time in both.
fn is_one_fabric(first: &Run, second: &Run) -> bool {
    let [a, b] = [first, second].map(|run| &run.header().fabric);
    simulated_machine(&a.name).is_none() && (&a.name, &a.version) == (&b.name, &b.version)
}

/// The run without metrics that were computed from another metric of the same measurement, which would count it twice.
pub(crate) fn timed_only(mut run: Run) -> Run {
    let timed: BTreeSet<_> =
        run.measurements.iter().filter(|m| !m.samples.is_empty()).map(|m| m.key()).collect();
    run.measurements.retain(|m| !m.samples.is_empty() || !timed.contains(&m.key()));
    run
}
