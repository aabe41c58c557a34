//! Conformance suites of every fabric: of ranks, on 1 to 9 ranks, and of the endpoint.

use contract::{Error, Rank, Result, conformance};
use fabric_tcp::TcpEndpoint;

use crate::harness::{Test, launch_and_gather};
use crate::job::options;

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match conformance::find(name) {
        Some(case) => case.run(rank),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

pub(crate) fn program_of_endpoint(endpoint: &mut TcpEndpoint, name: &str) -> Result<()> {
    let cases = conformance::endpoint_cases::<TcpEndpoint>();
    match cases.iter().find(|case| case.name == name) {
        Some(case) => (case.program)(endpoint),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

fn tests_of_endpoint() -> impl Iterator<Item = Test> {
    conformance::endpoint_cases::<TcpEndpoint>().into_iter().map(|case| {
        Test::new(format!("conformance/{}", case.name), move || {
            (2..=5).try_for_each(|ranks| {
                let (ended, _) =
                    launch_and_gather(&options(ranks, &format!("endpoint {}", case.name)));
                ended.map_err(|error| format!("{ranks} ranks: {error}"))
            })
        })
    })
}

pub(crate) fn tests() -> Vec<Test> {
    let test = |case: &'static conformance::Case| {
        Test::new(format!("conformance/{}", case.name), move || {
            (1..=9).filter(|&ranks| case.runs_at(ranks)).try_for_each(|ranks| {
                let (ended, _) =
                    launch_and_gather(&options(ranks, &format!("conformance {}", case.name)));
                case.judge(ranks, ended.map_err(|error| error.to_string()))
            })
        })
    };
    tests_of_endpoint().chain(conformance::cases().iter().map(test)).collect()
}
