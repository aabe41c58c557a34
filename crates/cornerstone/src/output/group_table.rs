//! The table of one benchmark at one number of ranks: a row for each key, with its first metric in full and the medians
//! of the others.

use std::collections::BTreeSet;

use analysis::limits::Bound;
use record::{Key, Measurement, ParameterValue};

use super::entry::{Entry, mark};
use super::table;
use crate::wording::{percent, quantity, range, size};

/// Returns the table of `found`, which is not empty, below its title.
pub(super) fn group_table(title: &str, found: &[&Entry]) -> String {
    let columns = Columns::of(found);
    let mut keys: Vec<Key> = found.iter().map(|entry| entry.measurement.key()).collect();
    // The order is by parameters and then by size, not that of measuring, so that a reader finds the rows.
    keys.sort();
    keys.dedup();
    let rows = keys
        .iter()
        .map(|key| {
            let of_key: Vec<&Entry> =
                found.iter().copied().filter(|f| f.measurement.key() == *key).collect();
            columns.row(key, &of_key)
        })
        .collect();
    let title = match &columns.limits {
        None => title.to_string(),
        Some(limits) => format!("{title}; {limits}"),
    };
    format!("{title}\n{}", table(&columns.header(), columns.parameters.len(), rows))
}

/// Columns of a table.
struct Columns {
    parameters: Vec<String>,
    /// True if the messages have a size.
    sized: bool,
    metrics: Vec<String>,
    /// True if a number of the first metric has an interval.
    with_interval: bool,
    /// True if a number of the first metric differs from event to event.
    with_p99: bool,
    /// Bound of the numbers, in words.
    limits: Option<String>,
    /// Kind of limit that the shares refer to; `None` without shares.
    share_of: Option<&'static str>,
}

impl Columns {
    fn of(found: &[&Entry]) -> Self {
        let mut metrics: Vec<String> = Vec::new();
        let mut parameters: BTreeSet<String> = BTreeSet::new();
        for Entry { measurement, .. } in found {
            if !metrics.contains(&measurement.metric) {
                metrics.push(measurement.metric.clone());
            }
            parameters.extend(measurement.parameters.keys().cloned());
        }
        let first = || found.iter().map(|f| f.measurement).filter(|m| m.metric == metrics[0]);
        Columns {
            with_interval: first().any(|m| !m.is_exact() || m.summary.ci_low < m.summary.ci_high),
            // A period and its bounds are no samples.
            with_p99: first()
                .any(|m| m.search.is_none() && (!m.is_exact() || m.summary.p99 > m.summary.median)),
            parameters: parameters.into_iter().collect(),
            sized: found.iter().any(|entry| entry.measurement.size_bytes > 0),
            metrics,
            limits: limits(found),
            share_of: share_of(found),
        }
    }

    fn header(&self) -> Vec<String> {
        let mut header: Vec<String> =
            self.parameters.iter().map(|name| name.replace('_', " ")).collect();
        if self.sized {
            header.push("size".into());
        }
        header.push(self.metrics[0].clone());
        let optional = [("interval", self.with_interval), ("p99", self.with_p99)];
        header
            .extend(optional.into_iter().filter(|(_, shown)| *shown).map(|(name, _)| name.into()));
        header.extend(self.metrics[1..].iter().cloned());
        header.extend(self.share_of.map(|kind| format!("of {kind}")));
        header.push(String::new());
        header
    }

    fn row(&self, key: &Key, found: &[&Entry]) -> Vec<String> {
        let metric =
            |name: &String| found.iter().map(|entry| entry.measurement).find(|m| m.metric == *name);
        let parameter = |name: &String| {
            key.parameters.get(name).map_or_else(String::new, |value| shown(name, value))
        };
        let mut row: Vec<String> = self.parameters.iter().map(parameter).collect();
        if self.sized {
            row.push(size(key.size_bytes));
        }
        let first = metric(&self.metrics[0]);
        let of_first = |text: &dyn Fn(&Measurement) -> String| first.map_or_else(String::new, text);
        row.push(of_first(&|m| quantity(m.summary.median, &m.unit)));
        if self.with_interval {
            row.push(of_first(&|m| range(m.summary.ci_low, m.summary.ci_high, &m.unit)));
        }
        if self.with_p99 {
            row.push(of_first(&|m| quantity(m.summary.p99, &m.unit)));
        }
        row.extend(self.metrics[1..].iter().map(|name| {
            metric(name).map_or_else(String::new, |m| quantity(m.summary.median, &m.unit))
        }));
        if self.share_of.is_some() {
            let share = found.iter().find_map(|entry| entry.share);
            row.push(share.map_or_else(String::new, |share| percent(share.share)));
        }
        row.push(found.first().map_or("", |entry| mark(entry.measurement)).into());
        row
    }
}

/// Returns the bound of the numbers, in words. In most tables it is the same for all.
fn limits(found: &[&Entry]) -> Option<String> {
    let shares = || found.iter().filter_map(|entry| entry.share);
    let bounds: BTreeSet<String> = shares().map(|share| share.bound.to_string()).collect();
    let bounds = bounds.into_iter().collect::<Vec<_>>().join(" or ");
    shares().next().map(|share| match share.bound {
        Bound::Path(_) => format!("the limit is {bounds}"),
        Bound::Peak { .. } | Bound::Copy { .. } => format!("shares are of {bounds}"),
    })
}

fn share_of(found: &[&Entry]) -> Option<&'static str> {
    found.iter().find_map(|entry| entry.share.map(|share| share.bound.kind()))
}

fn shown(name: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(bytes) if name.ends_with("_bytes") => size(*bytes),
        other => other.to_string(),
    }
}
