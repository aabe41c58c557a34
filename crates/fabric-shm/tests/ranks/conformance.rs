//! The suites that every fabric must pass: of ranks at 1 to 9, with and without cross-memory attach, and of the endpoint.

use contract::{Error, Rank, Result, conformance};
use fabric_shm::{LaunchOptions, ShmEndpoint};

use crate::harness::{Test, launch_and_gather};

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match conformance::find(name) {
        Some(case) => case.run(rank),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

pub(crate) fn program_of_endpoint(endpoint: &mut ShmEndpoint, name: &str) -> Result<()> {
    let cases = conformance::endpoint_cases::<ShmEndpoint>();
    match cases.iter().find(|case| case.name == name) {
        Some(case) => (case.program)(endpoint),
        None => Err(Error::Program(format!("no case {name}"))),
    }
}

fn tests_of_endpoint() -> impl Iterator<Item = Test> {
    conformance::endpoint_cases::<ShmEndpoint>().into_iter().map(|case| {
        Test::new(format!("conformance/{}", case.name), move || {
            (2..=5).try_for_each(|ranks| {
                let options = LaunchOptions::new(ranks, format!("endpoint {}", case.name).into());
                let (ended, _) = launch_and_gather(&options);
                ended.map_err(|error| format!("{ranks} ranks: {error}"))
            })
        })
    })
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests: Vec<Test> = tests_of_endpoint().collect();
    let all: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9];
    // The other way of copying is the same code but for long messages; fewer rank counts say as much.
    for (attach, how, counts) in [(true, "attach", all), (false, "no-attach", &[2, 3, 8])] {
        for case in conformance::cases() {
            let name = format!("conformance/{how}/{}", case.name);
            tests.push(Test::new(name, move || {
                let counts = counts.iter().copied();
                counts.filter(|&ranks| case.runs_at(ranks)).try_for_each(|ranks| {
                    let mut options =
                        LaunchOptions::new(ranks, format!("conformance {}", case.name).into());
                    options.cross_memory_attach = attach;
                    let (ended, _) = launch_and_gather(&options);
                    case.judge(ranks, ended.map_err(|error| error.to_string()))
                })
            }));
        }
    }
    tests
}
