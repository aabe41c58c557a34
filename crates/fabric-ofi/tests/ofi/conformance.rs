//! The conformance suites of the contract: of ranks, for 1 to 6 of them, and of the endpoint.

use fabric_ofi::OfiEndpoint;

use crate::cases::conformance_tests;
use crate::harness::{Test, launch_and_gather};
use crate::job::options;

/// Numbers that are not powers of two, and more ranks than this machine may have processors.
const RANKS: [usize; 5] = [1, 2, 3, 4, 6];

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let group = format!("{provider}/conformance");
    conformance_tests::<OfiEndpoint>(&group, &RANKS, move |ranks, case| {
        launch_and_gather(&options(ranks, provider, case)).0
    })
}
