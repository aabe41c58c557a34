//! The slow pairs of ranks, below the table of all pairs or instead of it.

use std::collections::BTreeMap;

use analysis::pairs::PairMap;
use benchmark::View;

use super::entry::Entry;
use super::wrapped;
use crate::wording::{ranks, slow_pairs};

/// Returns a line for each map of pairs of a run. Empty if there is none.
pub(super) fn pair_maps(found: &[Entry]) -> String {
    let mut benchmarks: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in found {
        let m = entry.measurement;
        let is_map = benchmark::find(&m.benchmark).is_some_and(|one| one.view == View::RankPairs);
        if is_map && m.metric == "time" {
            benchmarks.entry(&m.benchmark).or_default().push(entry);
        }
    }
    let mut text = String::new();
    for (name, times) in benchmarks {
        for map in PairMap::of(times.iter().map(|entry| entry.measurement)) {
            let line = format!("{name}, {}, {}", ranks(map.ranks), slow_pairs(&map));
            text += &format!("{}\n", wrapped(&line, "  ").trim_start());
        }
    }
    if text.is_empty() {
        return text;
    }
    let rule = "A pair is slow if its time is more than 1.5 interquartile ranges above the upper quartile of all pairs, and \
                more than 5 % above their median.";
    format!("{text}{}\n\n", wrapped(rule, ""))
}
