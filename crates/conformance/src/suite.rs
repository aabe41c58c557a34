//! The list of all cases.

use std::sync::LazyLock;

use super::case::Case;

/// Returns all cases, simple ones first, so that the first failure is the most informative one.
pub fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let groups = [
            super::clock::cases(),
            super::order::cases(),
            super::sizes::cases(),
            super::refused::cases(),
            super::wildcards::cases(),
            super::probe::cases(),
            super::posted::cases(),
            super::in_place::cases(),
            super::streams::cases(),
            super::unexpected::cases(),
            super::shared_line::cases(),
            super::collectives::cases(),
            super::reductions::cases(),
            super::mistakes::cases(),
            super::random::cases(),
            super::contexts::cases(),
        ];
        groups.into_iter().flatten().collect()
    });
    &CASES
}

/// Returns the case with this name.
pub fn find(name: &str) -> Option<&'static Case> {
    cases().iter().find(|case| case.name == name)
}

/// Launches every case at every applicable number of ranks, and continues after failures. `launch` runs one case on
/// that many ranks and returns the error of a failed rank, in words, if any failed.
///
/// Returns the number of launches.
///
/// # Errors
/// All failures, one per line.
pub fn run_all(
    rank_counts: impl IntoIterator<Item = usize>,
    mut launch: impl FnMut(&'static Case, usize) -> std::result::Result<(), String>,
) -> std::result::Result<usize, String> {
    let mut runs = 0;
    let mut failures = Vec::new();
    for ranks in rank_counts {
        for case in cases().iter().filter(|case| case.runs_at(ranks)) {
            runs += 1;
            failures.extend(case.judge(ranks, launch(case, ranks)).err());
        }
    }
    if failures.is_empty() { Ok(runs) } else { Err(failures.join("\n")) }
}
