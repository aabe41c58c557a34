//! The tables of processing chains: each chain as a whole, then its stages, then the cost of its communication in
//! words.

use std::collections::BTreeSet;

use record::{Measurement, ParameterValue, Parameters, RunHeader};

use super::entry::{Entry, mark};
use super::table;
use crate::chain_limit::chain_limit;
use crate::wording::{chain_cost, quantity, range};

const PIPELINE: &str = "pipeline";
const STAGE: &str = "stage";
/// Parameter that names a target that the sink found.
const TARGET: &str = "target";
/// Parameter that is in the title and has no column.
const CHAIN: &str = "chain";

/// Metrics of a whole chain that are columns, after its period and the interval of the period. A terminal has no room
/// for more.
const COLUMNS: [&str; 4] = ["miss-rate", "response", "latency", "jitter"];
/// Minimum number of samples one of which is beyond the 99th percentile.
const FOR_P99: u64 = 100;

/// Returns the tables of `found`, which are of one benchmark and one number of ranks, or `None` unless they are of
/// chains.
pub(super) fn chains(title: &str, found: &[&Entry], header: &RunHeader) -> Option<String> {
    let first = found.first()?.measurement;
    if first.benchmark != PIPELINE {
        return None;
    }
    let found = Measurements(found.iter().map(|entry| entry.measurement).collect());
    let mut text = String::new();
    for chain in found.values(CHAIN) {
        let title = title.replacen(PIPELINE, &format!("{PIPELINE} {chain}"), 1);
        text += &found.of_chain(&chain).tables(&title, header);
    }
    Some(text)
}

/// Measurements of chains.
struct Measurements<'a>(Vec<&'a Measurement>);

impl<'a> Measurements<'a> {
    /// Returns the different values of a parameter.
    fn values(&self, name: &str) -> Vec<ParameterValue> {
        let values = self.0.iter().filter_map(|m| m.parameters.get(name).cloned());
        values.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn of_chain(&self, chain: &ParameterValue) -> Measurements<'a> {
        let is_of = |m: &&&Measurement| m.parameters.get(CHAIN) == Some(chain);
        Measurements(self.0.iter().filter(is_of).copied().collect())
    }

    /// Returns the metric of the case with these parameters.
    fn get(&self, case: &Parameters, metric: &str) -> Option<&'a Measurement> {
        self.0.iter().copied().find(|m| m.parameters == *case && m.metric == metric)
    }

    fn tables(&self, title: &str, header: &RunHeader) -> String {
        let cases: BTreeSet<&Parameters> = self.0.iter().map(|m| &m.parameters).collect();
        let (targets, cases): (Vec<&Parameters>, Vec<&Parameters>) =
            cases.into_iter().partition(|case| case.contains_key(TARGET));
        let (stages, wholes): (Vec<&Parameters>, Vec<&Parameters>) =
            cases.into_iter().partition(|case| case.contains_key(STAGE));
        let names: BTreeSet<&String> = wholes.iter().flat_map(|case| case.keys()).collect();
        let names: Vec<&String> = names.into_iter().filter(|name| *name != CHAIN).collect();
        let mut text = format!("{title}\n{}\n", self.of_wholes(&names, &wholes));
        if !stages.is_empty() {
            text += &format!("{}\n", self.of_stages(&names, &stages));
        }
        text += &targets.iter().filter_map(|case| self.found(case)).collect::<String>();
        text + &wholes.iter().filter_map(|case| self.cost(&names, case, header)).collect::<String>()
    }

    /// Returns a line for a target that the sink found.
    fn found(&self, case: &Parameters) -> Option<String> {
        let (target, ratio) = (case.get(TARGET)?, self.get(case, "signal-to-noise")?);
        Some(format!("target at {target}: {:.1} dB above the noise\n", ratio.summary.median))
    }

    fn of_wholes(&self, names: &[&String], wholes: &[&Parameters]) -> String {
        let has = |metric: &&str| self.0.iter().any(|m| m.metric == **metric);
        let columns: Vec<&str> = COLUMNS.into_iter().filter(|metric| has(metric)).collect();
        let header = names.iter().map(|name| name.as_str()).chain(["period", "interval"]);
        let header = header.chain(columns.iter().copied()).chain([""]).map(String::from);
        let row = |case: &&Parameters| {
            let mut row = words(names, case);
            let period = self.get(case, "period");
            row.push(period.map_or_else(String::new, median));
            let interval = |m: &Measurement| range(m.summary.ci_low, m.summary.ci_high, &m.unit);
            row.push(period.map_or_else(String::new, interval));
            row.extend(
                columns
                    .iter()
                    .map(|metric| self.get(case, metric).map_or_else(String::new, median)),
            );
            row.push(period.map_or("", mark).into());
            row
        };
        table(&header.collect::<Vec<_>>(), names.len(), wholes.iter().map(row).collect())
    }

    fn of_stages(&self, names: &[&String], stages: &[&Parameters]) -> String {
        let header = names.iter().map(|name| name.as_str());
        let header = header.chain([STAGE, "jitter", "p99", "computing", "p99"]).map(String::from);
        let row = |case: &&Parameters| {
            let mut row = words(names, case);
            row.push(case.get(STAGE).map_or_else(String::new, ToString::to_string));
            for metric in ["jitter", "computing"] {
                let found = self.get(case, metric);
                row.push(found.map_or_else(String::new, median));
                let p99 = |m: &Measurement| match m.summary.n < FOR_P99 {
                    true => format!("of {}", m.summary.n),
                    false => quantity(m.summary.p99, &m.unit),
                };
                row.push(found.map_or_else(String::new, p99));
            }
            row
        };
        table(&header.collect::<Vec<_>>(), names.len() + 1, stages.iter().map(row).collect())
    }

    /// Returns the cost of a chain's communication and what limits the chain, a line for each part.
    fn cost(&self, names: &[&String], case: &Parameters, header: &RunHeader) -> Option<String> {
        let mut cost = chain_cost(|metric| self.get(case, metric))?;
        cost.extend(chain_limit(header, case, |case, metric| self.get(case, metric)));
        let mut case_words = words(names, case);
        case_words.retain(|word| !word.is_empty());
        Some(format!("{}: {}\n\n", case_words.join(" "), cost.join(",\n  ")))
    }
}

fn median(measurement: &Measurement) -> String {
    quantity(measurement.summary.median, &measurement.unit)
}

/// Returns the values of the parameters with these names.
fn words(names: &[&String], case: &Parameters) -> Vec<String> {
    names.iter().map(|name| case.get(*name).map_or_else(String::new, ToString::to_string)).collect()
}
