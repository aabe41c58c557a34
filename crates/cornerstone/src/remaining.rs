//! The time that a run has left: a function of its plan, its budget and what it has done. It has no clock; its callers
//! pass the seconds since the beginning of the run.

use std::collections::BTreeMap;

use benchmark::{Launch, Step};
use record::Key;

/// Time of a launch besides its steps, before any launch has shown it.
const STARTING_S: f64 = 0.02;
/// Share of the planned time by which the estimates are trusted: what the first steps took corrects the others by as
/// much as it outweighs this share.
const TRUSTED_SHARE: f64 = 0.1;

/// The limits of a run as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Number of launches that every case has.
    pub(crate) fewest: u32,
    /// Expected number of launches of a case, before its launches show it.
    pub(crate) expected: u32,
    /// Time from which no further launches than the fewest are made.
    pub(crate) budget_s: Option<f64>,
    /// Time over which the launches are distributed.
    pub(crate) spread_s: f64,
}

/// Estimate of the time left of a run.
pub(crate) struct Remaining {
    bounds: Bounds,
    /// Number of each launch among those of its cases, with its steps.
    launches: Vec<(u32, Vec<usize>)>,
    cases: Vec<Case>,
    by_key: BTreeMap<Key, usize>,
    planned_s: f64,
    done: Done,
    /// Position of the launch in progress.
    launch: usize,
    /// Steps of that launch that have not begun.
    open: Vec<usize>,
    /// The time at which that launch began, until its first step begins.
    launched_s: Option<f64>,
    /// The step in progress, and the time at which it began.
    step: Option<(usize, f64)>,
}

/// One case of the plan.
struct Case {
    estimate_s: f64,
    /// What its steps took together, and their number.
    took_s: f64,
    times: u32,
    /// Expected number of its launches.
    launches: u32,
}

/// What is over.
#[derive(Default)]
struct Done {
    steps: usize,
    took_s: f64,
    estimated_s: f64,
    launches: u32,
    starting_s: f64,
}

impl Remaining {
    /// Creates the estimate for a run that makes these launches.
    pub(crate) fn new(launches: &[Launch], bounds: Bounds) -> Self {
        let mut remaining = Remaining {
            bounds,
            launches: Vec::new(),
            cases: Vec::new(),
            by_key: BTreeMap::new(),
            planned_s: 0.0,
            done: Done::default(),
            launch: 0,
            open: Vec::new(),
            launched_s: None,
            step: None,
        };
        for launch in launches {
            let steps = launch.job.steps.iter();
            let cases = steps.map(|step| remaining.case(launch.key(step), step.estimate_s));
            let cases = cases.collect();
            remaining.launches.push((launch.number, cases));
        }
        remaining.planned_s = remaining.left_s(0.0);
        remaining
    }

    /// Returns the position of a case, which is new if it was not planned before.
    fn case(&mut self, key: Key, estimate_s: f64) -> usize {
        let launches = self.bounds.expected;
        *self.by_key.entry(key).or_insert_with(|| {
            self.cases.push(Case { estimate_s, took_s: 0.0, times: 0, launches });
            self.cases.len() - 1
        })
    }

    /// Sets the expected number of launches of cases.
    pub(crate) fn expect(&mut self, launches: &BTreeMap<Key, u32>) {
        for (key, &launches) in launches {
            if let Some(&case) = self.by_key.get(key) {
                self.cases[case].launches = launches;
            }
        }
    }

    /// Notes that the launch at this position of the plan begins, with those of its steps that are still needed.
    pub(crate) fn begin_launch(&mut self, position: usize, launch: &Launch, now_s: f64) {
        self.end_step(now_s);
        self.launch = position;
        let of_case = |step: &Step| self.by_key.get(&launch.key(step)).copied();
        self.open = launch.job.steps.iter().filter_map(of_case).rev().collect();
        self.launched_s = Some(now_s);
    }

    /// Notes that the next step of the launch begins.
    pub(crate) fn begin_step(&mut self, now_s: f64) {
        self.end_step(now_s);
        if let Some(launched_s) = self.launched_s.take() {
            self.done.launches += 1;
            self.done.starting_s += now_s - launched_s;
        }
        self.step = self.open.pop().map(|case| (case, now_s));
    }

    /// Notes that all steps so far have ended.
    pub(crate) fn end_step(&mut self, now_s: f64) {
        let Some((case, began_s)) = self.step.take() else { return };
        let case = &mut self.cases[case];
        case.took_s += now_s - began_s;
        case.times += 1;
        self.done.took_s += now_s - began_s;
        self.done.estimated_s += case.estimate_s;
        self.done.steps += 1;
    }

    /// Returns the number of steps that are over, and of all that are expected.
    pub(crate) fn steps(&self) -> (usize, usize) {
        let later: usize = self.later().map(|(_, steps)| steps.count()).sum();
        let now = self.open.len() + usize::from(self.step.is_some());
        (self.done.steps, self.done.steps + now + later)
    }

    /// Returns the expected seconds from now to the end of the run.
    pub(crate) fn left_s(&self, now_s: f64) -> f64 {
        let of_steps = |steps: &mut dyn Iterator<Item = usize>| -> f64 {
            steps.map(|case| self.step_s(case)).sum()
        };
        let step = self
            .step
            .map_or(0.0, |(case, began_s)| (self.step_s(case) - (now_s - began_s)).max(0.0));
        let mut left_s = step + of_steps(&mut self.open.iter().copied());
        for (number, mut steps) in self.later() {
            let is_certain = number < self.bounds.fewest;
            if is_certain || self.bounds.budget_s.is_none_or(|budget_s| now_s + left_s < budget_s) {
                left_s += self.starting_s() + of_steps(&mut steps);
            }
        }
        left_s.max(self.bounds.spread_s - now_s)
    }

    /// Returns the launches after the one in progress that are expected, with their steps.
    fn later(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = usize>)> {
        let first = self.launch + usize::from(self.done.launches > 0 || self.launched_s.is_some());
        let launches = self.launches.iter().skip(first);
        let expected = launches.map(|(number, steps)| {
            let of_launch = |case: &usize| *number < self.cases[*case].launches;
            (*number, steps.iter().copied().filter(of_launch).peekable())
        });
        expected.filter_map(|(number, mut steps)| steps.peek().is_some().then_some((number, steps)))
    }

    fn starting_s(&self) -> f64 {
        (self.done.starting_s + STARTING_S) / f64::from(self.done.launches + 1)
    }

    /// Returns the expected time of a step: what the earlier ones of its case took, or else its estimate, corrected by
    /// what the steps of other cases took.
    fn step_s(&self, case: usize) -> f64 {
        let Case { estimate_s, took_s, times, .. } = self.cases[case];
        if times > 0 {
            return took_s / f64::from(times);
        }
        let Done { took_s, estimated_s, .. } = self.done;
        let trusted_s = TRUSTED_SHARE * self.planned_s;
        let slower = (took_s + trusted_s) / (estimated_s + trusted_s);
        estimate_s * if slower.is_finite() { slower } else { 1.0 }
    }
}

#[cfg(test)]
mod tests;
