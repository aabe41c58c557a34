//! Combines the measurements of several launches into one each.
//!
//! Launches of the same program differ more than the samples within one, because of other places in memory or another
//! state of the machine. A case's median is therefore the median of its launches' medians. Its interval is the
//! nonparametric one of these medians, which six launches reach at 95 %. It is that of the minutes of the run: another
//! minute may have another median, which no run shows. The other quantiles are medians over the launches, too.
//!
//! Where launches met several performance states of the machine ([`LineStates`]), both are of the launches in the state
//! that is the commonest in the run.

mod derived;
mod one_period;

use std::collections::BTreeMap;

use record::{Key, Measurement, Repetition, Run, StopReason, Summary};

use crate::line_states::{LineStates, Lines};
use crate::statistics::{MedianInterval, Sample, median_interval, reaches, summarise};

/// Returns the number of launches for which the interval of their median reaches this confidence, between 0 and 1: the
/// whole range of n medians misses the true one with probability 2^(1 - n).
pub fn launches_needed(confidence: f64) -> usize {
    (1.0 - (1.0 - confidence).log2()).ceil().max(1.0) as usize
}

/// Returns the number of launches on each of two sides for which the interval of their ratio reaches this confidence.
pub fn launches_to_compare(confidence: f64) -> usize {
    (1..).find(|&n| distinguishes([n, n], confidence)).expect("one arrangement of many is rare")
}

/// Returns whether as many launches on each side can distinguish both at this confidence: of all arrangements of them,
/// two separate the sides completely.
pub fn distinguishes([first, second]: [usize; 2], confidence: f64) -> bool {
    // C(n + m, n) is the product of (m + i) / i.
    let arrangements: f64 = (1..=first).map(|i| (second + i) as f64 / i as f64).product();
    reaches(1.0 - 2.0 / arrangements, confidence)
}

/// Returns the interval of the median of launches with these medians; `None` without any.
pub fn interval_of_launches(medians: &[f64], confidence: f64) -> Option<MedianInterval> {
    Some(median_interval(&Sample::new(medians).ok()?, confidence))
}

/// Returns whether the interval of launches reaches the confidence, and half of it is within this share of the median.
pub fn launches_are_precise(medians: &[f64], confidence: f64, precision: f64) -> bool {
    let middle = Sample::new(medians).map_or(0.0, |sample| sample.median());
    interval_of_launches(medians, confidence).is_some_and(|interval| {
        interval.reaches(confidence) && interval.relative_half_width(middle) <= precision
    })
}

/// The performance state that the numbers of a run describe: the commonest of its measurements.
#[derive(Debug, Default)]
pub struct RunState {
    states: LineStates,
    commonest: usize,
    /// What was timed with each measurement of each launch.
    turns: BTreeMap<OfLaunch, Repetition>,
}

/// A measurement of one launch: its identity, its fabric and the launch.
type OfLaunch = (Key, String, u32);

impl RunState {
    /// Returns the state of a run whose launches are separate measurements.
    pub fn of(run: &Run) -> RunState {
        // Only the metric that was sampled has turns. Several turns of one launch meet several states.
        let of_one_turn = |m: &Measurement| match &m.turns[..] {
            [turn] => Some((of_launch(m), turn.clone())),
            _ => None,
        };
        let turns: BTreeMap<_, _> = run.measurements.iter().filter_map(of_one_turn).collect();
        let lines: Vec<Lines> = turns.values().filter_map(|turn| turn.line_us).collect();
        let states = LineStates::of(&lines);
        let commonest = states.commonest(&lines);
        RunState { states, commonest, turns }
    }

    /// Returns the lines beside a measurement of one launch, if they were timed.
    pub fn lines(&self, measurement: &Measurement) -> Option<Lines> {
        self.turns.get(&of_launch(measurement))?.line_us
    }

    /// Returns the times of an operation during a measurement of one launch in nanoseconds; `None` without any.
    fn operations_ns(&self, measurement: &Measurement) -> Option<Vec<f64>> {
        let times = &self.turns.get(&of_launch(measurement))?.operations_ns;
        (!times.is_empty()).then(|| times.clone())
    }

    /// Returns the values of the launches in the state of the run, or all if none was in it or if the lines of some are
    /// not known.
    pub fn select<T: Clone>(&self, values: &[T], lines: &[Lines]) -> Vec<T> {
        let selected = launches_in(&self.states, self.commonest, values.len(), lines);
        selected.into_iter().map(|launch| values[launch].clone()).collect()
    }
}

fn of_launch(measurement: &Measurement) -> OfLaunch {
    (measurement.key(), measurement.fabric.clone(), measurement.launch)
}

/// Returns which of some launches are in one state: all if none is in it, or if the lines of some are not known.
pub(crate) fn launches_in(
    states: &LineStates,
    state: usize,
    launches: usize,
    lines: &[Lines],
) -> Vec<usize> {
    let is_in = |&launch: &usize| states.state(lines[launch]) == Some(state);
    let is_known = lines.len() == launches;
    let selected: Vec<usize> = (0..launches).filter(|one| is_known && is_in(one)).collect();
    if selected.is_empty() { (0..launches).collect() } else { selected }
}

/// Returns the run with one measurement for each case and metric, over all its launches. If a measurement was repeated
/// in the same launch, as in a resumed run, the later one counts. The same applies to measurements that contain a
/// search for a period or pauses.
pub fn pooled(mut run: Run) -> Run {
    let Some(header) = run.headers.last() else { return run };
    let (precision, confidence) = (header.precision, header.confidence);
    let trials = one_period::Trials::take(&mut run.measurements);
    let state = RunState::of(&run);
    let mut order = Vec::new();
    let mut cases: BTreeMap<_, BTreeMap<u32, Measurement>> = BTreeMap::new();
    for mut measurement in std::mem::take(&mut run.measurements) {
        measurement.launch_lines_us = state.lines(&measurement).into_iter().collect();
        measurement.launch_operations_ns = state.operations_ns(&measurement).into_iter().collect();
        let m = &measurement;
        let case = (m.key(), m.metric.clone(), m.unit.clone(), m.fabric.clone());
        let launches = cases.entry(case.clone()).or_insert_with(|| {
            order.push(case);
            BTreeMap::new()
        });
        launches.insert(measurement.launch, measurement);
    }
    let in_order = order.into_iter().filter_map(|case| cases.remove(&case));
    let cases: Vec<Vec<Measurement>> =
        in_order.map(|launches| launches.into_values().collect()).collect();
    let cases: Vec<Case> = cases.into_iter().map(|launches| Case::of(launches, &state)).collect();
    let pool = |case| pool(case, &state, precision, confidence);
    run.measurements.extend(cases.into_iter().filter_map(pool));
    derived::derive(&mut run.measurements);
    trials.give_back(&mut run.measurements);
    run
}

/// Returns what the measurements of a case have in common.
fn case(m: &Measurement) -> (Key, String) {
    (m.key(), m.fabric.clone())
}

/// The launches of a case.
struct Case {
    launches: Vec<Measurement>,
    medians: Vec<f64>,
    lines: Vec<Lines>,
    /// The medians that determine the number.
    selected: Vec<f64>,
}

impl Case {
    fn of(launches: Vec<Measurement>, state: &RunState) -> Case {
        let medians: Vec<f64> = launches.iter().map(|m| m.summary.median).collect();
        let lines = of_each(&launches, |m| &m.launch_lines_us);
        let selected = state.select(&medians, &lines);
        Case { launches, medians, lines, selected }
    }
}

/// Returns one measurement of the launches of a case.
fn pool(case: Case, state: &RunState, precision: f64, confidence: f64) -> Option<Measurement> {
    let Case { mut launches, medians, lines, selected } = case;
    // Exact launches do not differ.
    let is_other_kind = |m: &Measurement| m.search.is_some() || m.pauses.is_some() || m.is_exact();
    if launches.len() < 2 || launches.iter().any(is_other_kind) {
        return launches.pop();
    }
    let operations_ns = of_each(&launches, |m| &m.launch_operations_ns);
    let converged = launches_are_precise(&selected, confidence, precision);
    let interval = interval_of_launches(&selected, confidence);
    let all: Vec<usize> = (0..launches.len()).collect();
    let of_number = state.select(&all, &lines).into_iter().map(|launch| &launches[launch]);
    let summary = summary(&of_number.collect::<Vec<_>>(), &selected, interval, confidence);
    let mut pooled = launches.remove(0);
    for other in launches {
        let samples = (pooled.samples.len(), other.samples.len());
        pooled.timing = pooled.timing.and(samples.0, other.timing, samples.1);
        pooled.samples.extend(other.samples);
        pooled.warm_up_samples.extend(other.warm_up_samples);
        pooled.turns.extend(other.turns);
        if pooled.stop_reason.converged() {
            pooled.stop_reason = other.stop_reason;
        }
    }
    pooled.stop_reason = match pooled.stop_reason {
        _ if converged => StopReason::Precision,
        // Each launch converged, and they differ, so only more launches, which take more time, improve the result.
        StopReason::Precision => StopReason::TimeLimit,
        limit => limit,
    };
    (pooled.summary, pooled.launch_medians, pooled.launch_lines_us) = (summary, medians, lines);
    pooled.launch_operations_ns = operations_ns;
    Some(pooled)
}

/// Returns what was timed beside each launch of a case, or nothing if it was not in each.
fn of_each<T: Clone>(launches: &[Measurement], timed: impl Fn(&Measurement) -> &[T]) -> Vec<T> {
    let all: Vec<T> = launches.iter().flat_map(|m| timed(m).iter().cloned()).collect();
    if all.len() == launches.len() { all } else { Vec::new() }
}

/// Returns the summary of the launches that determine a number, whose medians these are. Like the median, the other
/// quantiles are medians over the launches, so that they are in order even if launches differ in their samples' number.
fn summary(
    launches: &[&Measurement],
    medians: &[f64],
    interval: Option<MedianInterval>,
    confidence: f64,
) -> Summary {
    let of_samples = || {
        let samples: Vec<f64> = launches.iter().flat_map(|m| m.samples.iter().copied()).collect();
        Sample::new(samples).ok().map(|sample| summarise(&sample, confidence))
    };
    let all = of_samples().unwrap_or_else(|| without_samples(launches));
    let middle = |values: Vec<f64>| Sample::new(values).ok().map(|sample| sample.median());
    let quantile =
        |of: fn(&Summary) -> f64| middle(launches.iter().map(|m| of(&m.summary)).collect());
    let (Some(median), Some(interval)) = (middle(medians.to_vec()), interval) else {
        return all;
    };
    Summary {
        median,
        ci_low: interval.low,
        ci_high: interval.high,
        ci_confidence: interval.confidence,
        p99: quantile(|one| one.p99).unwrap_or(all.p99),
        p999: quantile(|one| one.p999).unwrap_or(all.p999),
        ..all
    }
}

/// Returns the summary of a metric that was computed from another one, from those of its launches.
fn without_samples(launches: &[&Measurement]) -> Summary {
    let first = launches[0].summary.clone();
    launches[1..].iter().map(|m| &m.summary).fold(first, |all, one| {
        let n = all.n + one.n;
        let mean = (all.mean * all.n as f64 + one.mean * one.n as f64) / n.max(1) as f64;
        Summary { mean, min: all.min.min(one.min), max: all.max.max(one.max), n, ..all }
    })
}

#[cfg(test)]
mod tests;
