//! What a run found, as tables for people: the machine's limits first, then every number.

use std::collections::BTreeSet;

use analysis::limits::{GROUP, Limits};
use contract::record::{Key, Measurement, ParameterValue, Run};

use super::quantity::{quantity, range, size};
use super::table;

/// The mark of a number that did not converge.
const UNCONVERGED: &str = "*";

/// The tables of a run.
pub(crate) fn findings(run: &Run) -> String {
    let limits = Limits::of(run);
    let share = |measurement: &Measurement| limits.share(run, measurement).map(|s| s.to_string());
    let latest = latest(run);
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for measurement in &latest {
        let group = (measurement.benchmark.as_str(), measurement.ranks);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    // Every later number is read against the limits, so they stand first wherever the run measured them.
    groups.sort_by_key(|(benchmark, _)| {
        latest.iter().any(|m| m.benchmark == *benchmark && m.group != GROUP)
    });
    let mut text = String::new();
    for (benchmark, ranks) in groups {
        let of_group: Vec<&Measurement> = latest
            .iter()
            .copied()
            .filter(|m| m.benchmark == benchmark && m.ranks == ranks)
            .collect();
        let plural = if ranks == 1 { "rank" } else { "ranks" };
        text += &format!("{benchmark}, {ranks} {plural}\n{}\n", group_table(&of_group, &share));
    }
    if latest.iter().any(|m| !m.stop_reason.converged()) {
        text += &format!(
            "{UNCONVERGED} did not converge: the interval is wider than asked for when the time or the samples ran out\n\n"
        );
    }
    text
}

/// The measurements without those that were made again later.
fn latest(run: &Run) -> Vec<&Measurement> {
    let mut seen = BTreeSet::new();
    let mut latest: Vec<&Measurement> =
        run.measurements.iter().rev().filter(|m| seen.insert((m.key(), &m.metric))).collect();
    latest.reverse();
    latest
}

/// One benchmark at one number of ranks: a row for each key, its first metric in full and the others as medians.
fn group_table(
    measurements: &[&Measurement],
    share: &impl Fn(&Measurement) -> Option<String>,
) -> String {
    let columns = Columns::of(measurements);
    let mut keys: Vec<Key> = Vec::new();
    for measurement in measurements {
        let key = measurement.key();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    // By parameters and then by size, as a reader looks for them, not in the order of measuring.
    keys.sort();
    let rows = keys
        .iter()
        .map(|key| {
            let of_key: Vec<&Measurement> =
                measurements.iter().copied().filter(|m| m.key() == *key).collect();
            columns.row(key, &of_key, share)
        })
        .collect();
    table(&columns.header(), columns.texts(), rows)
}

/// Which columns a benchmark's table has.
struct Columns {
    parameters: Vec<String>,
    /// Whether messages have a size at all.
    sized: bool,
    metrics: Vec<String>,
    shares: bool,
}

impl Columns {
    fn of(measurements: &[&Measurement]) -> Self {
        let mut metrics: Vec<String> = Vec::new();
        let mut parameters: BTreeSet<String> = BTreeSet::new();
        for measurement in measurements {
            if !metrics.contains(&measurement.metric) {
                metrics.push(measurement.metric.clone());
            }
            parameters.extend(measurement.parameters.keys().cloned());
        }
        Columns {
            parameters: parameters.into_iter().collect(),
            sized: measurements.iter().any(|m| m.size_bytes > 0),
            metrics,
            shares: measurements.iter().any(|m| m.group != GROUP),
        }
    }

    fn texts(&self) -> usize {
        self.parameters.len()
    }

    fn header(&self) -> Vec<String> {
        let mut header: Vec<String> =
            self.parameters.iter().map(|name| name.replace('_', " ")).collect();
        if self.sized {
            header.push("size".into());
        }
        header.extend([self.metrics[0].clone(), "interval".into(), "p99".into()]);
        header.extend(self.metrics[1..].iter().cloned());
        if self.shares {
            header.push("of the limit".into());
        }
        header.push(String::new());
        header
    }

    fn row(
        &self,
        key: &Key,
        measurements: &[&Measurement],
        share: &impl Fn(&Measurement) -> Option<String>,
    ) -> Vec<String> {
        let metric = |name: &String| measurements.iter().find(|m| m.metric == *name);
        let mut row: Vec<String> = self
            .parameters
            .iter()
            .map(|name| key.parameters.get(name).map_or_else(String::new, |v| shown(name, v)))
            .collect();
        if self.sized {
            row.push(size(key.size_bytes));
        }
        row.extend(match metric(&self.metrics[0]) {
            Some(m) => [
                quantity(m.summary.median, &m.unit),
                range(m.summary.ci_low, m.summary.ci_high, &m.unit),
                quantity(m.summary.p99, &m.unit),
            ],
            None => Default::default(),
        });
        row.extend(self.metrics[1..].iter().map(|name| {
            metric(name).map_or_else(String::new, |m| quantity(m.summary.median, &m.unit))
        }));
        if self.shares {
            row.push(measurements.iter().find_map(|m| share(m)).unwrap_or_default());
        }
        let converged = measurements.iter().all(|m| m.stop_reason.converged());
        row.push(if converged { String::new() } else { UNCONVERGED.into() });
        row
    }
}

fn shown(name: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(bytes) if name.ends_with("_bytes") => size(*bytes),
        other => other.to_string(),
    }
}
