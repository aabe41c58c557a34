//! The conformance suites of ranks and of the endpoint.

use fabric_cluster::ClusterEndpoint;

use crate::cases::{Counts, conformance_tests};
use crate::harness::Test;
use crate::in_one_launch;
use crate::job::start_and_gather;

/// From one host with one rank to three hosts, of which one has a single rank.
const RANKS: Counts = Counts { few: &[3, 6], others: &[1, 2, 4, 9] };
/// One, two and three hosts.
const RANKS_OVER_OFI: Counts = Counts { few: &[4], others: &[1, 9] };

pub(crate) fn tests() -> Vec<Test> {
    let start = |ranks, case: &str| start_and_gather(None, ranks, case).0;
    conformance_tests::<ClusterEndpoint>("conformance", RANKS, start)
}

/// Returns the same over a provider of libfabric.
pub(crate) fn tests_over(provider: &'static str) -> Vec<Test> {
    let start = move |ranks: usize, case: &str| start_and_gather(Some(provider), ranks, case);
    in_one_launch::tests::<ClusterEndpoint>("ofi/conformance", RANKS_OVER_OFI, start)
}
