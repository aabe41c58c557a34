//! Runs of real processes over TCP: this program starts itself again as the ranks of each case.
//!
//! `cargo test -p fabric-tcp --test tcp -- WORD` runs the cases whose name contains the word.

// Shared with the shared-memory fabric, whose launcher also starts these ranks.
#[path = "../../../fabric-shm/tests/ranks/cases.rs"]
mod cases;
mod conformance;
mod deaths;
#[path = "../../../fabric-shm/tests/ranks/harness.rs"]
mod harness;
mod job;
mod library;
mod messages;
mod several_hosts;
mod started;

fn main() {
    if let Some(status) = library::serve().or_else(job::serve) {
        std::process::exit(status);
    }
    let mut tests = several_hosts::tests();
    tests.extend(messages::tests());
    tests.extend(library::tests());
    tests.extend(deaths::tests());
    tests.extend(conformance::tests());
    std::process::exit(harness::run(tests));
}
