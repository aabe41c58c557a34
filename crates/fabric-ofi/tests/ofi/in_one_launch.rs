//! The conformance suites for fabrics whose processes start slowly. Opening libfabric takes far longer than a case,
//! because the library searches for all its networks. Therefore the same processes run all cases of ranks that must end
//! well, one after the other.
//!
//! The tests of `fabric-cluster` use this file too.

use contract::Endpoint;
use fabric_shm::LaunchError;

use crate::cases::{ALL_THAT_END_WELL, cases_that_end_well, endpoint_tests, test_of};
use crate::harness::{Test, check};

/// How a launch has ended, and the reports of its ranks.
type Gathered = (Result<(), LaunchError>, Vec<Vec<u8>>);

/// Returns the tests of both suites, those of ranks on each of the numbers of ranks. `start` runs a case on a number of
/// ranks.
pub(crate) fn tests<E: Endpoint + 'static>(
    group: &str,
    counts: &'static [usize],
    start: impl Fn(usize, &str) -> Gathered + Copy + 'static,
) -> Vec<Test> {
    let ended = move |ranks: usize, case: &str| start(ranks, case).0;
    let all = counts.iter().map(|&ranks| test_of_all(group, ranks, start));
    // An error ends the processes too.
    let mistakes = conformance::cases().iter().filter(|case| case.must_fail());
    let mistakes = mistakes.map(|case| test_of(group, case, counts, ended));
    endpoint_tests::<E>(group, ended).chain(all).chain(mistakes).collect()
}

/// A launch of all cases that must end well.
fn test_of_all(
    group: &str,
    ranks: usize,
    start: impl Fn(usize, &str) -> Gathered + 'static,
) -> Test {
    Test::new(format!("{group}/{ALL_THAT_END_WELL}/{ranks}"), move || {
        let (ended, reports) = start(ranks, &format!("conformance {ALL_THAT_END_WELL}"));
        ended.map_err(|error| {
            let last = reports.last().map(|name| String::from_utf8_lossy(name));
            format!("in {}: {error}", last.unwrap_or_default())
        })?;
        let expected = cases_that_end_well(ranks).map(|case| case.name.as_bytes());
        check(reports.iter().map(Vec::as_slice).eq(expected), || {
            format!("{} cases have begun", reports.len())
        })
    })
}
