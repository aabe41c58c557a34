//! The conformance suites of the contract: of ranks, for 1 to 6 of them, and of the endpoint.

use fabric_ofi::OfiEndpoint;

use crate::cases::Counts;
use crate::harness::{Test, launch_and_gather};
use crate::in_one_launch;
use crate::job::options;

/// Numbers that are not powers of two, and more ranks than this machine may have processors.
const RANKS: Counts = Counts { few: &[1, 3, 4], others: &[2, 6] };

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let start = move |ranks: usize, case: &str| launch_and_gather(&options(ranks, provider, case));
    in_one_launch::tests::<OfiEndpoint>(&format!("{provider}/conformance"), RANKS, start)
}
