//! The suite that every fabric must pass, at 1 to 9 ranks.

use contract::{Error, Rank, Result, conformance};

use crate::harness::{Test, launch_and_gather};
use crate::job::options;

pub(crate) fn program(rank: &mut dyn Rank, name: &str) -> Result<()> {
    match conformance::find(name) {
        Some(case) => case.run(rank),
        None => Err(Error::Program(format!("no case {name}"))),
    }
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
    conformance::cases().iter().map(test).collect()
}
