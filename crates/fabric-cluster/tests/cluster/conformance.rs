//! The conformance suites of ranks and of the endpoint.

use fabric_cluster::ClusterEndpoint;

use crate::cases::conformance_tests;
use crate::harness::Test;
use crate::job::start_and_gather;

/// From one host with one rank to three hosts, of which one has a single rank.
const RANKS: [usize; 6] = [1, 2, 3, 4, 6, 9];

pub(crate) fn tests() -> Vec<Test> {
    let start = |ranks, case: &str| start_and_gather(ranks, case).0;
    conformance_tests::<ClusterEndpoint>("conformance", &RANKS, start)
}
