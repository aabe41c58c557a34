//! The runs of a machine over time, number by number.

use std::collections::{BTreeMap, BTreeSet};

use record::{Better, Measurement, Run};
use serde::Serialize;

use crate::changes::{Change, Search, changes, exact_changes};
use crate::compare::Name;
use crate::constants::CONSTANTS;
use crate::launches::{interval_of_launches, launches_in};
use crate::line_states::{LineStates, Lines};
pub use crate::machine::Machine;
use crate::statistics::Sample;

/// One number in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Name of the run's file.
    pub run: String,
    /// Time at which the run began: UTC, as 2026-01-31T12:00:00Z.
    pub started: String,
    /// Host of the run.
    pub host: String,
    /// Version of Cornerstone that measured.
    pub version: String,
    /// Revision from which it was built.
    pub revision: String,
    /// The median.
    pub median: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether the number is exact.
    pub exact: bool,
    /// The median of each launch. If the runs of the machine met several performance states, only of those in the state
    /// that is the commonest in all of them, unless the run never met it.
    pub launches: Vec<f64>,
    /// Whether the run never met that state, so that its number is of another one.
    pub is_of_another_state: bool,
    /// The lines beside each of these launches; empty if they were not timed in each.
    #[serde(skip)]
    pub lines_us: Vec<Lines>,
    /// The times of a simple operation in each of these launches, in nanoseconds; empty if not measured in each.
    #[serde(skip)]
    pub operations_ns: Vec<Vec<f64>>,
    /// Confidence that the interval reaches: less than the requested one if there are too few launches.
    pub confidence: f64,
    /// Confidence that the run requested.
    #[serde(skip)]
    pub requested_confidence: f64,
}

impl Point {
    /// Reduces the launches to those in one state, and the number to theirs.
    fn keep_state(&mut self, states: &LineStates, state: usize) {
        let all = self.launches.len();
        let is_in_it = |lines: &Lines| states.state(*lines) == Some(state);
        self.is_of_another_state =
            self.lines_us.len() == all && !self.lines_us.iter().any(is_in_it);
        let kept = launches_in(states, state, all, &self.lines_us);
        if kept.len() == all {
            return;
        }
        keep(&mut self.launches, &kept);
        keep(&mut self.lines_us, &kept);
        if self.operations_ns.len() == all {
            keep(&mut self.operations_ns, &kept);
        }
        let interval = interval_of_launches(&self.launches, self.requested_confidence);
        if let (Ok(sample), Some(interval)) = (Sample::new(&*self.launches), interval) {
            (self.median, self.low, self.high) = (sample.median(), interval.low, interval.high);
            self.confidence = interval.confidence;
        }
    }
}

fn keep<T: Clone>(values: &mut Vec<T>, kept: &[usize]) {
    *values = kept.iter().map(|&index| values[index].clone()).collect();
}

/// One number over time on one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The machine.
    pub machine: Machine,
    /// The measurement.
    pub name: Name,
    /// Direction in which the number improves.
    pub better: Better,
    /// The runs that measured it, in the order in which they began.
    pub points: Vec<Point>,
    /// Changes of its level.
    pub changes: Vec<Change>,
}

/// Runs of any machines, reduced to the data that a history needs.
#[derive(Debug, Default)]
pub struct History {
    series: BTreeMap<(Machine, Name), (Better, Vec<Point>)>,
    runs: BTreeSet<(Machine, String)>,
}

impl History {
    /// Adds a run, with one measurement for each case ([`pooled`](crate::launches::pooled)).
    pub fn add(&mut self, run: &Run) {
        let header = run.header();
        let machine = Machine::of(header);
        self.runs.insert((machine.clone(), run.label.clone()));
        for measurement in &run.measurements {
            let (_, points) = self
                .series
                .entry((machine.clone(), Name::of(measurement)))
                .or_insert_with(|| (measurement.better, Vec::new()));
            let point = point(run, measurement);
            // A measurement that a resumed run repeated replaces the earlier one.
            points.retain(|other| other.run != point.run);
            points.push(point);
        }
    }

    /// Returns the number of runs of each machine.
    pub fn machines(&self) -> BTreeMap<&Machine, usize> {
        let mut machines = BTreeMap::new();
        for (machine, _) in &self.runs {
            *machines.entry(machine).or_default() += 1;
        }
        machines
    }

    /// Returns every number over time, by machine and then by name.
    pub fn series(self, search: &Search) -> Vec<Series> {
        let states = self.states();
        let series =
            |((machine, name), (better, mut points)): ((Machine, Name), (Better, Vec<Point>))| {
                if let Some((states, commonest)) = states.get(&machine) {
                    points.iter_mut().for_each(|point| point.keep_state(states, *commonest));
                }
                points.sort_by(|a, b| (&a.started, &a.run).cmp(&(&b.started, &b.run)));
                let changes = changes_in_state(&points, search);
                Series { machine, name, better, points, changes }
            };
        self.series.into_iter().map(series).collect()
    }

    /// Returns the performance states of each machine that has several, and the commonest one.
    fn states(&self) -> BTreeMap<Machine, (LineStates, usize)> {
        let mut lines: BTreeMap<&Machine, Vec<Lines>> = BTreeMap::new();
        for ((machine, _), (_, points)) in &self.series {
            lines.entry(machine).or_default().extend(points.iter().flat_map(|p| &p.lines_us));
        }
        let states = |(machine, lines): (&Machine, Vec<Lines>)| {
            let states = LineStates::of(&lines);
            let commonest = states.commonest(&lines);
            states.are_several().then(|| (machine.clone(), (states, commonest)))
        };
        lines.into_iter().filter_map(states).collect()
    }
}

/// Returns the changes among the runs that met the state of the others, or among all if none did. Another state is no
/// change of a build. Among exact numbers every difference is one.
fn changes_in_state(points: &[Point], search: &Search) -> Vec<Change> {
    if points.iter().all(|point| point.exact) {
        let medians: Vec<f64> = points.iter().map(|point| point.median).collect();
        return exact_changes(&medians);
    }
    let have_met = points.iter().any(|point| !point.is_of_another_state);
    let in_state = |index: &usize| !(have_met && points[*index].is_of_another_state);
    let kept: Vec<usize> = (0..points.len()).filter(in_state).collect();
    let medians: Vec<f64> = kept.iter().map(|&index| points[index].median).collect();
    let found = changes(&medians, search);
    found.into_iter().map(|change| Change { at: kept[change.at], ..change }).collect()
}

fn point(run: &Run, measurement: &Measurement) -> Point {
    let header = run.header();
    let summary = &measurement.summary;
    Point {
        run: run.label.clone(),
        started: header.started.clone(),
        host: header.environment.host.clone(),
        version: header.cornerstone_version.clone(),
        revision: header.revision.clone(),
        median: summary.median,
        low: summary.ci_low,
        high: summary.ci_high,
        exact: measurement.is_exact(),
        launches: measurement.launches().to_vec(),
        is_of_another_state: false,
        lines_us: measurement.launch_lines_us.clone(),
        operations_ns: measurement.launch_operations_ns.clone(),
        confidence: summary.ci_confidence,
        requested_confidence: header.confidence,
    }
}

impl Series {
    /// Returns the hosts of its runs.
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.points.iter().map(|point| point.host.as_str()).collect()
    }

    /// Returns the points since the last change.
    pub fn level(&self) -> &[Point] {
        &self.points[self.changes.last().map_or(0, |change| change.at)..]
    }

    /// Returns the median of the runs since the last change; `None` without a run.
    pub fn median_of_level(&self) -> Option<f64> {
        let mut medians: Vec<f64> = self.level().iter().map(|point| point.median).collect();
        medians.sort_by(f64::total_cmp);
        medians.get(medians.len() / 2).copied()
    }

    /// Returns whether a change is for the worse; `None` if it has no direction.
    pub fn is_worse(&self, change: &Change) -> Option<bool> {
        let ratio = change.effect?.ratio;
        Some((ratio > 1.0) == (self.better == Better::Lower))
    }

    /// Returns whether this value is worse by more than `margin` than all runs of the level except one in ten. A value
    /// that an unchanged program has shown before is no regression.
    pub fn is_beyond_level(&self, value: f64, margin: f64) -> bool {
        let level = self.level();
        let is_worse = |point: &&Point| self.is_worse_by(1.0 + margin, value, point.median);
        let not_worse = level.len() - level.iter().filter(is_worse).count();
        not_worse as f64 <= CONSTANTS.outlying_runs * level.len() as f64
    }

    /// Returns whether all of these launches are worse than every launch of the level by more than a machine's states
    /// differ. One launch of the level decides such a number, although ranks alone would not.
    pub fn is_far_beyond_level(&self, launches: &[f64]) -> bool {
        let level = || self.level().iter().flat_map(|point| &point.launches);
        let is_far = |value: f64| {
            level()
                .all(|&than| than > 0.0 && self.is_worse_by(CONSTANTS.beyond_machines, value, than))
        };
        !launches.is_empty() && launches.iter().all(|&value| is_far(value))
    }

    /// Returns whether a value is worse than another by more than a factor.
    fn is_worse_by(&self, factor: f64, value: f64, than: f64) -> bool {
        match self.better {
            Better::Lower => value > than * factor,
            Better::Higher => value * factor < than,
        }
    }
}

#[cfg(test)]
mod tests;
