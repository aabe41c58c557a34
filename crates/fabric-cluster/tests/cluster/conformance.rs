//! The conformance suites of ranks and of the endpoint.

use contract::{Error, Rank, Result, conformance};
use fabric_cluster::ClusterEndpoint;

use crate::harness::Test;
use crate::job::start_and_gather;

/// From one host with one rank to three hosts, of which one has a single rank.
const RANKS: [usize; 6] = [1, 2, 3, 4, 6, 9];

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match conformance::find(name) {
        Some(case) => case.run(rank),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

pub(crate) fn program_of_endpoint(endpoint: &mut ClusterEndpoint, name: &str) -> Result<()> {
    let cases = conformance::endpoint_cases::<ClusterEndpoint>();
    match cases.iter().find(|case| case.name == name) {
        Some(case) => (case.program)(endpoint),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

fn tests_of_endpoint() -> impl Iterator<Item = Test> {
    conformance::endpoint_cases::<ClusterEndpoint>().into_iter().map(|case| {
        Test::new(format!("conformance/{}", case.name), move || {
            (2..=5).try_for_each(|ranks| {
                let (ended, _) = start_and_gather(ranks, &format!("endpoint {}", case.name));
                ended.map_err(|error| format!("{ranks} ranks: {error}"))
            })
        })
    })
}

pub(crate) fn tests() -> Vec<Test> {
    let test = |case: &'static conformance::Case| {
        Test::new(format!("conformance/{}", case.name), move || {
            RANKS.into_iter().filter(|&ranks| case.runs_at(ranks)).try_for_each(|ranks| {
                let (ended, _) = start_and_gather(ranks, &format!("conformance {}", case.name));
                case.judge(ranks, ended.map_err(|error| error.to_string()))
            })
        })
    };
    tests_of_endpoint().chain(conformance::cases().iter().map(test)).collect()
}
