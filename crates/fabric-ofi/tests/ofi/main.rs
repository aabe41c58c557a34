//! Tests runs of real processes over libfabric's provider `tcp`. This program starts itself again as the ranks of each
//! case. Without the library, all cases are skipped by name.
//!
//! `cargo test -p fabric-ofi --test ofi -- WORD` runs the cases whose name contains the word.

// Shared with `fabric-shm`, whose launcher starts these ranks.
#[expect(dead_code, reason = "here one launch runs many cases")]
#[path = "../../../fabric-shm/tests/ranks/cases.rs"]
mod cases;
mod conformance;
mod deaths;
#[path = "../../../fabric-shm/tests/ranks/harness.rs"]
mod harness;
mod in_one_launch;
mod job;
mod matching;
mod messages;
mod providers;
#[path = "../../../fabric-tcp/tests/tcp/started.rs"]
mod started;
mod windows;

/// Providers that every libfabric has, that need no hardware, and that keep messages in order.
const PROVIDERS: [&str; 1] = ["tcp"];

fn main() {
    if let Some(status) = job::serve() {
        std::process::exit(status);
    }
    let mut tests = providers::tests();
    for provider in PROVIDERS {
        if let Err(error) = fabric_ofi::check(Some(provider)) {
            println!("skipped: {provider}/*: {error}");
            continue;
        }
        tests.extend(messages::tests(provider));
        tests.extend(matching::tests(provider));
        tests.extend(windows::tests(provider));
        tests.extend(deaths::tests(provider));
        tests.extend(conformance::tests(provider));
    }
    std::process::exit(harness::run(tests));
}
