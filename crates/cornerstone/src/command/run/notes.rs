//! Notes of a run on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use benchmark::Launch;
use record::Run;

use super::rounds::Rounds;
use crate::arguments::FabricChoice;
use crate::remaining::Remaining;
use crate::results::ResultsFile;
use crate::wording::{counted, wait};

/// Maximum number of reasons for which skipped cases are listed.
const REASONS_MAX: usize = 6;

/// Returns a line for each reason for which cases were skipped.
pub(super) fn skipped_cases(skipped: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let line = |(reason, labels)| format!("note: not measured here: {}: {reason}", few(labels));
    let mut lines: Vec<String> = skipped.iter().take(REASONS_MAX).map(line).collect();
    let others = || skipped.values().skip(REASONS_MAX);
    if others().next().is_some() {
        let cases = counted(others().map(BTreeSet::len).sum(), "more case");
        let reasons = counted(others().count(), "similar reason");
        lines.push(format!("note: not measured here: {cases}, for {reasons}"));
    }
    lines
}

/// Returns what to do with the results in `path` of a run of the named benchmarks.
pub(super) fn next_steps(names: &[String], path: &Path) -> String {
    let closer = match names.is_empty() {
        true => {
            "`cornerstone run ping-pong` measures one benchmark at every size, `cornerstone list` has all"
        }
        false => "`cornerstone list NAME` explains a number",
    };
    format!(
        "next     open the report in a browser; {closer};\n         \
         `cornerstone compare {} LATER` compares a later run with this one",
        path.display()
    )
}

/// Returns the first of some labels, and the number of the others.
fn few(labels: &BTreeSet<String>) -> String {
    const NAMED: usize = 2;
    let named: Vec<&str> = labels.iter().take(NAMED).map(String::as_str).collect();
    let more = match labels.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join("; ") + &more
}

/// Returns an announcement: the measurements of a run, their estimated time, and the place of the results.
pub(super) fn announcement(
    launches: &[Launch],
    rounds: Rounds,
    remaining: &Remaining,
    budget_s: Option<f64>,
    (fabric, results): (&FabricChoice, &ResultsFile),
    run: &Run,
) -> String {
    let path = results.path().display();
    let at_most = budget_s
        .map_or_else(String::new, |all_s| format!(" if launches agree, at most {}", wait(all_s)));
    // How long the simulation of it takes depends on the program.
    let is_simulated = fabric.is_simulated();
    let of_time = if is_simulated { " of simulated time" } else { "" };
    let wait = format!("{}{of_time}", wait(remaining.left_s(0.0)));
    let (_, all) = remaining.steps();
    let first = launches.iter().filter(|one| one.number == 0);
    let first = first.map(|launch| launch.job.steps.len()).sum();
    let number = launches.last().map_or(1, |launch| launch.number + 1);
    let in_launches = match rounds.fewest < rounds.most {
        true => format!("{} to {number} launches, about {wait}{at_most}", rounds.fewest),
        false => format!("{number} launches, about {wait}"),
    };
    let cases = counted(first, "case");
    match (all, run.measurements.is_empty()) {
        (0, _) => format!("nothing is missing in {path}"),
        (_, false) => format!("{all} to measure, about {wait}; results are appended to {path}"),
        _ if number == 1 => format!("{cases}, about {wait}; results go to {path}"),
        _ => format!("{cases} in {in_launches}; results go to {path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_cases_the_first_are_named() {
        let labels = |all: &[&str]| few(&all.iter().map(|&label| label.into()).collect());
        assert_eq!((labels(&["a"]), labels(&["b", "a"])), ("a".into(), "a; b".into()));
        assert_eq!(labels(&["a", "b", "c", "d"]), "a; b and 2 more");
    }
}
