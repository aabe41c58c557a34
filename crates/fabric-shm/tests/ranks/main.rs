//! Runs of real processes: this program starts itself again as the ranks of each case.
//!
//! `cargo test -p fabric-shm --test ranks -- WORD` runs the cases whose name contains the word.

mod allocations;
#[expect(dead_code, reason = "here the suites run in several ways")]
mod cases;
mod conformance;
mod deaths;
mod harness;
mod launches;
mod messages;

use contract::Rank;
use fabric_shm::join_if_rank;
use launcher::Reporter;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

fn main() {
    if let Some(joined) = join_if_rank() {
        let mut process = joined.expect("joining the run");
        let job = String::from_utf8(process.job().to_vec()).expect("a job of words");
        let reporter = process.reporter();
        let outcome = cases::program_of_endpoint(process.endpoint_mut(), &job)
            .unwrap_or_else(|| program(&mut process.world(), &reporter, &job));
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

fn program(rank: &mut dyn Rank, reporter: &Reporter, case: &str) -> contract::Result<()> {
    match case.split_once(' ') {
        Some(("allocations", _)) => allocations::program(rank),
        Some(("launches", name)) => launches::program(rank, reporter, name),
        Some(("messages", name)) => messages::program(rank, name),
        _ => cases::program(rank, |own| reporter.report(own), case)
            .unwrap_or_else(|| cases::no_case(case)),
    }
}
