//! Chains of one file over increasing numbers of ranks: a table, and the stage that limits each.

use std::collections::BTreeMap;
use std::fmt::Write;

use record::Measurement;

use super::entry::Entry;
use super::table;
use crate::wording::quantity;

const NODES: &str = "nodes";
const PART: &str = "part";

/// The times of one chain of the file.
#[derive(Default)]
struct Variant<'a> {
    period: Option<&'a Measurement>,
    in_turn: Option<&'a Measurement>,
    latency: Option<&'a Measurement>,
    back_to_back: Option<&'a Measurement>,
}

/// Returns the chains of a run by the ranks of a stage and by their part, or `None` if no measurement has these
/// parameters.
pub(super) fn mapping(found: &[Entry]) -> Option<String> {
    let mut variants: BTreeMap<(u64, String), Variant> = BTreeMap::new();
    for Entry { measurement: m, .. } in found {
        let Some((nodes, part)) = m.parameters.get(NODES).zip(m.parameters.get(PART)) else {
            continue;
        };
        let nodes = nodes.to_string().parse().unwrap_or_default();
        let variant = variants.entry((nodes, part.to_string())).or_default();
        match m.metric.as_str() {
            "period" => variant.period = Some(m),
            "period-in-turn" => variant.in_turn = Some(m),
            "latency" => variant.latency = Some(m),
            "back-to-back" => variant.back_to_back = Some(m),
            _ => {}
        }
    }
    if variants.is_empty() {
        return None;
    }
    let header = ["ranks a stage", "part", "period", "in turn", "latency", "back to back"];
    let row = |((nodes, part), variant): (&(u64, String), &Variant)| {
        let cell = |found: Option<&Measurement>| found.map_or_else(String::new, median);
        let Variant { period, in_turn, latency, back_to_back } = *variant;
        let metrics = [period, in_turn, latency, back_to_back].map(cell);
        [nodes.to_string(), part.clone()].into_iter().chain(metrics).collect()
    };
    let rows = variants.iter().map(row).collect();
    let mut text =
        format!("The chain over more ranks\n{}", table(&header.map(String::from), 2, rows));
    let mut counts: Vec<u64> = variants.keys().map(|(nodes, _)| *nodes).collect();
    counts.dedup();
    for nodes in counts {
        text += &slowest(nodes, &variants).unwrap_or_default();
    }
    Some(text + "\n")
}

/// Returns the stage that takes the longest by itself, and by which factor.
fn slowest(nodes: u64, variants: &BTreeMap<(u64, String), Variant>) -> Option<String> {
    let period = |((count, part), variant): (&(u64, String), &Variant)| {
        // Single stages have numbers as parts.
        let is_stage = *count == nodes && part.starts_with(|first: char| first.is_ascii_digit());
        is_stage.then(|| Some((variant.period?.summary.median, part.clone())))?
    };
    let mut stages: Vec<(f64, String)> = variants.iter().filter_map(period).collect();
    stages.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [(longest_us, name), (next_us, next), ..] = &stages[..] else { return None };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "  over {nodes} ranks a stage {name} limits the period: it takes {:.2} times as long as {next}",
        longest_us / next_us
    );
    Some(text)
}

fn median(measurement: &Measurement) -> String {
    quantity(measurement.summary.median, &measurement.unit)
}
