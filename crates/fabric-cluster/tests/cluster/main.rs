//! Runs of real processes on "hosts" that are all this one: this program starts itself again as the process of each
//! host, and that as its ranks.
//!
//! `cargo test -p fabric-cluster --test cluster -- WORD` runs the cases whose name contains the word.

// Shared with `fabric-shm`.
#[path = "../../../fabric-shm/tests/ranks/cases.rs"]
mod cases;
mod conformance;
mod deaths;
// The harness for named cases is that of `fabric-shm`.
#[path = "../../../fabric-shm/tests/ranks/harness.rs"]
#[expect(dead_code, reason = "ranks are launched by the processes of hosts")]
mod harness;
mod job;
mod mixed;
#[path = "../../../fabric-tcp/tests/tcp/started.rs"]
#[expect(dead_code, reason = "ranks are launched by the processes of hosts")]
mod started;

fn main() {
    if let Some(status) = job::serve() {
        std::process::exit(status);
    }
    let mut tests = mixed::tests();
    tests.extend(deaths::tests());
    tests.extend(conformance::tests());
    std::process::exit(harness::run(tests));
}
