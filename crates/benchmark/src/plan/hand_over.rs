//! The hand-over of a cache line, measured again between the groups of a launch.

use record::Parameters;

use super::step::step;
use crate::case::Case;
use crate::catalogue::find;
use crate::job::{Launch, Step};
use crate::programs::HAND_OVER;
use crate::ranks::Placement;
use crate::settings::Settings;

/// Parameter of a hand-over that is measured again: the group that it follows.
const AFTER: &str = "after";

/// Measures the hand-over between the first two ranks once more after each group of a launch.
///
/// A hypervisor may move a virtual processor to another core cluster during the run. That changes the time of every
/// hand-over, and with it of every message. Only a limit that is measured close to the numbers that are compared with
/// it shows that. See docs/measurements.md#two-performance-states.
pub(super) fn repeat_hand_over(launch: &mut Launch, settings: &Settings) {
    let have_own_processors = matches!(launch.placement, Placement::Spread | Placement::InOrder);
    if launch.ranks < 2 || !have_own_processors {
        return;
    }
    let group = |step: &Step| find(&step.benchmark).map_or("", |benchmark| benchmark.group.name());
    let mut steps: Vec<Step> = Vec::new();
    for step in std::mem::take(&mut launch.job.steps) {
        let last = steps.last().map_or("", group);
        if last != group(&step) {
            steps.extend(hand_over_after(last, launch.ranks, settings));
        }
        steps.push(step);
    }
    let last = steps.last().map_or("", group);
    steps.extend(hand_over_after(last, launch.ranks, settings));
    launch.job.steps = steps;
}

/// Returns the step after `group`; `None` after the limits themselves.
fn hand_over_after(group: &str, ranks: usize, settings: &Settings) -> Option<Step> {
    let worth_it = !group.is_empty() && group != HAND_OVER.group.name();
    worth_it.then(|| {
        let parameters = Parameters::from([
            ("from".into(), 0.into()),
            ("to".into(), 1.into()),
            (AFTER.into(), group.into()),
        ]);
        step(&HAND_OVER, ranks, Case { parameters, size_bytes: 0 }, settings)
    })
}
