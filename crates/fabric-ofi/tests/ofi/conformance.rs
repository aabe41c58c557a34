//! The conformance suites of the contract: of ranks, for 1 to 6 of them, and of the endpoint.
//!
//! A process opens libfabric far more slowly than it runs a case, because the library searches for all its networks.
//! Therefore the same processes run all cases of ranks that must succeed, one after the other.

use contract::conformance;
use fabric_ofi::OfiEndpoint;

use crate::cases::{ALL_THAT_END_WELL, cases_that_end_well, endpoint_tests, test_of};
use crate::harness::{Test, check, launch_and_gather};
use crate::job::options;

/// Numbers that are not powers of two, and more ranks than this machine may have processors.
const RANKS: [usize; 5] = [1, 2, 3, 4, 6];

/// Returns the test of a launch of all cases that must succeed.
fn test_of_all(provider: &'static str, ranks: usize) -> Test {
    Test::new(format!("{provider}/conformance/{ALL_THAT_END_WELL}/{ranks}"), move || {
        let case = format!("conformance {ALL_THAT_END_WELL}");
        let (ended, reports) = launch_and_gather(&options(ranks, provider, &case));
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

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let group = format!("{provider}/conformance");
    let start =
        move |ranks: usize, case: &str| launch_and_gather(&options(ranks, provider, case)).0;
    let all = RANKS.into_iter().map(|ranks| test_of_all(provider, ranks));
    // An error ends the processes too.
    let mistakes = conformance::cases().iter().filter(|case| case.must_fail());
    let mistakes = mistakes.map(|case| test_of(&group, case, &RANKS, start));
    endpoint_tests::<OfiEndpoint>(&group, start).chain(all).chain(mistakes).collect()
}
