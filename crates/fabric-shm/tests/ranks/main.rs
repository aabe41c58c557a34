//! Runs of real processes: this program starts itself again as the ranks of each case.
//!
//! `cargo test -p fabric-shm --test ranks -- WORD` runs the cases whose name contains the word.

mod allocations;
mod conformance;
mod deaths;
mod harness;
mod launches;
mod messages;

use contract::Rank;
use fabric_shm::{Reporter, attach_if_rank};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

fn main() {
    if let Some(attached) = attach_if_rank() {
        let mut process = attached.expect("joining the run");
        let job = String::from_utf8(process.job().to_vec()).expect("a job of words");
        let (group, name) = job.split_once(' ').expect("a group and a name");
        let reporter = process.reporter();
        let outcome = if group == "endpoint" {
            conformance::program_of_endpoint(process.endpoint_mut(), name)
        } else {
            program(&mut process.world(), &reporter, group, name)
        };
        std::process::exit(process.finish(outcome));
    }
    if let Some(case) = deaths::launcher_case() {
        std::process::exit(deaths::be_a_launcher(&case));
    }
    let mut tests = launches::tests();
    tests.extend(deaths::tests());
    tests.extend(messages::tests());
    tests.extend(allocations::tests());
    tests.extend(conformance::tests());
    std::process::exit(harness::run(tests));
}

fn program(
    rank: &mut dyn Rank,
    reporter: &Reporter,
    group: &str,
    name: &str,
) -> contract::Result<()> {
    match group {
        "allocations" => allocations::program(rank),
        "conformance" => conformance::program(rank, name),
        "deaths" => contract::conformance::deaths::one_dies(rank, |own| reporter.report(own), name),
        "launches" => launches::program(rank, reporter, name),
        "messages" => messages::program(rank, name),
        other => Err(contract::Error::Program(format!("no group of cases named {other}"))),
    }
}
