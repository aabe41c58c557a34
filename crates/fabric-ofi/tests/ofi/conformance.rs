//! The conformance suites of the contract: of ranks, for 1 to 6 of them, and of the endpoint.

use contract::{Error, Rank, Result, conformance};
use fabric_ofi::OfiEndpoint;

use crate::harness::{Test, launch_and_gather};
use crate::job::options;

/// Numbers that are not powers of two, and more ranks than this machine may have processors.
const RANKS: [usize; 5] = [1, 2, 3, 4, 6];

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match conformance::find(name) {
        Some(case) => case.run(rank),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

pub(crate) fn program_of_endpoint(endpoint: &mut OfiEndpoint, name: &str) -> Result<()> {
    let cases = conformance::endpoint_cases::<OfiEndpoint>();
    match cases.iter().find(|case| case.name == name) {
        Some(case) => (case.program)(endpoint),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

fn tests_of_endpoint(provider: &'static str) -> impl Iterator<Item = Test> {
    conformance::endpoint_cases::<OfiEndpoint>().into_iter().map(move |case| {
        Test::new(format!("{provider}/conformance/{}", case.name), move || {
            (2..=4).try_for_each(|ranks| {
                let case = format!("endpoint {}", case.name);
                let (ended, _) = launch_and_gather(&options(ranks, provider, &case));
                ended.map_err(|error| format!("{ranks} ranks: {error}"))
            })
        })
    })
}

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let test = move |case: &'static conformance::Case| {
        Test::new(format!("{provider}/conformance/{}", case.name), move || {
            RANKS.into_iter().filter(|&ranks| case.runs_at(ranks)).try_for_each(|ranks| {
                let name = format!("conformance {}", case.name);
                let (ended, _) = launch_and_gather(&options(ranks, provider, &name));
                case.judge(ranks, ended.map_err(|error| error.to_string()))
            })
        })
    };
    tests_of_endpoint(provider).chain(conformance::cases().iter().map(test)).collect()
}
