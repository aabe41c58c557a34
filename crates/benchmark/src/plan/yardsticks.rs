//! The references of a processor's rates, measured in the same run. A rate has little meaning without the core's peak
//! or the rate of a copy, and neither is ever assumed.

use analysis::limits::{self, Bound};

use super::step::step;
use crate::case::Case;
use crate::catalogue::{bound_rule, find};
use crate::job::{Launch, Step};
use crate::settings::Settings;

/// Adds to each launch, before its other steps, the measurements of the bounds of its processor benchmarks, unless the
/// selection contains them already.
pub(super) fn add_yardsticks(launches: &mut [Launch], settings: &Settings) {
    let measured = |name: &str| {
        launches.iter().any(|launch| launch.job.steps.iter().any(|step| step.benchmark == name))
    };
    let missing: Vec<&str> =
        [limits::PEAK, limits::COPY].into_iter().filter(|&name| !measured(name)).collect();
    for launch in launches {
        let mut first: Vec<Step> = Vec::new();
        for (name, case) in launch.job.steps.iter().filter_map(|step| yardstick(step, launch.ranks))
        {
            let Some(benchmark) = find(name).filter(|_| missing.contains(&name)) else { continue };
            let step = step(benchmark, launch.ranks, case, settings);
            if !first.contains(&step) {
                first.push(step);
            }
        }
        launch.job.steps.splice(0..0, first);
    }
}

/// Returns the benchmark and the case that measure the bound of a step on one rank, if there is one.
fn yardstick(step: &Step, ranks: usize) -> Option<(&'static str, Case)> {
    match bound_rule(&step.benchmark).bound(ranks, &step.parameters, 0)? {
        Bound::Path(_) => None,
        Bound::Peak { precision } => {
            let parameters = [(limits::PRECISION.into(), precision.name().into())].into();
            Some((limits::PEAK, Case { parameters, size_bytes: 0 }))
        }
        Bound::Copy { bytes, .. } => {
            Some((limits::COPY, Case { size_bytes: bytes, ..Case::default() }))
        }
    }
}
