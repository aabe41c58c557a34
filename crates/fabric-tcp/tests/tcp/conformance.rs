//! Conformance suites of every fabric: of ranks, on 1 to 9 ranks, and of the endpoint.

use fabric_tcp::TcpEndpoint;

use crate::cases::{Counts, conformance_tests};
use crate::harness::{Test, launch_and_gather};
use crate::job::options;

const RANKS: Counts = Counts { few: &[1, 2, 3, 5], others: &[4, 6, 7, 8, 9] };

pub(crate) fn tests() -> Vec<Test> {
    conformance_tests::<TcpEndpoint>("conformance", RANKS, |ranks, case| {
        launch_and_gather(&options(ranks, case)).0
    })
}
