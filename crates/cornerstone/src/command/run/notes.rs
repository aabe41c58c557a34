//! Notes of a run on standard error.

use std::collections::BTreeSet;

use benchmark::Launch;
use record::Run;

use super::rounds::Rounds;
use crate::results::ResultsFile;
use crate::wording::{counted, wait};

/// Returns the first of some labels, and the number of the others.
pub(super) fn few(labels: &BTreeSet<String>) -> String {
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
    estimate_s: f64,
    results: &ResultsFile,
    run: &Run,
) -> String {
    let path = results.path().display();
    let wait = wait(estimate_s);
    let steps = |launches: &mut dyn Iterator<Item = &Launch>| -> usize {
        launches.map(|launch| launch.job.steps.len()).sum()
    };
    let (first, all) =
        (steps(&mut launches.iter().filter(|one| one.number == 0)), steps(&mut launches.iter()));
    let number = launches.last().map_or(1, |launch| launch.number + 1);
    let in_launches = match rounds.fewest < rounds.most {
        true => format!("{} to {number} launches, about {wait} or more", rounds.fewest),
        false => format!("{number} launches, about {wait}"),
    };
    let measurements = counted(first, "measurement");
    match (all, run.measurements.is_empty()) {
        (0, _) => format!("nothing is missing in {path}"),
        (_, false) => format!("{all} to measure, about {wait}; results are appended to {path}"),
        _ if number == 1 => format!("{measurements}, about {wait}; results go to {path}"),
        _ => format!("{measurements} in {in_launches}; results go to {path}"),
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
