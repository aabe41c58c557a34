//! The conformance suites for fabrics whose processes start slowly. Opening libfabric takes far longer than a case,
//! because the library searches for all its networks. Therefore the same processes run all cases of ranks that must end
//! well, one after the other.
//!
//! The tests of `fabric-cluster` use this file too.

use contract::Endpoint;
use launcher::LaunchError;

use crate::cases::{ALL_THAT_END_WELL, Counts, cases_that_end_well, endpoint_tests, tests_of};
use crate::harness::{Test, check};

/// Numbers of ranks of cases with processes of their own.
const ONE: Counts = Counts { few: &[3], others: &[2, 4, 5] };

/// How a launch has ended, and the reports of its ranks.
type Gathered = (Result<(), LaunchError>, Vec<Vec<u8>>);

/// Returns the tests of both suites, those of ranks on each of the numbers of ranks. `start` runs a case on a number of
/// ranks.
pub(crate) fn tests<E: Endpoint + 'static>(
    group: &str,
    counts: Counts,
    start: impl Fn(usize, &str) -> Gathered + Copy + 'static,
) -> Vec<Test> {
    let ended = move |ranks: usize, case: &str| start(ranks, case).0;
    let all = counts.tests(
        &format!("{group}/{ALL_THAT_END_WELL}"),
        |_| true,
        move |ranks| all_end_well(ranks, start),
    );
    // An error ends the processes too.
    let mistakes = conformance::cases().iter().filter(|case| case.must_fail());
    let mistakes = mistakes.flat_map(|case| tests_of(group, case, ONE, ended));
    endpoint_tests::<E>(group, ONE, ended).chain(all).chain(mistakes).collect()
}

/// A launch of all cases that must end well.
fn all_end_well(ranks: usize, start: impl Fn(usize, &str) -> Gathered) -> Result<(), String> {
    let (ended, reports) = start(ranks, &format!("conformance {ALL_THAT_END_WELL}"));
    ended.map_err(|error| {
        let last = reports.last().map(|name| String::from_utf8_lossy(name));
        format!("in {} on {ranks} ranks: {error}", last.unwrap_or_default())
    })?;
    let expected = cases_that_end_well(ranks).map(|case| case.name.as_bytes());
    check(reports.iter().map(Vec::as_slice).eq(expected), || {
        format!("{} cases have begun on {ranks} ranks", reports.len())
    })
}
