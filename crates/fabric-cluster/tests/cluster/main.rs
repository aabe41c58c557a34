//! Runs of real processes on "hosts" that are all this one: this program starts itself again as the process of each
//! host, and that as its ranks. Between hosts they use TCP, or libfabric (`ofi/`) if it is installed.
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
// The conformance suites over libfabric, shared with `fabric-ofi`.
#[path = "../../../fabric-ofi/tests/ofi/in_one_launch.rs"]
mod in_one_launch;
mod job;
mod mixed;
#[path = "../../../fabric-tcp/tests/tcp/started.rs"]
#[expect(dead_code, reason = "ranks are launched by the processes of hosts")]
mod started;
mod twins;

/// The provider of libfabric that every installation has.
const PROVIDER: &str = "tcp";

fn main() {
    if let Some(status) = job::serve() {
        std::process::exit(status);
    }
    let mut tests = mixed::tests("", None);
    tests.extend(twins::tests("", None));
    tests.extend(deaths::tests("", None));
    tests.extend(conformance::tests());
    match fabric_ofi::check(Some(PROVIDER)) {
        Ok(()) => {
            tests.extend(mixed::tests("ofi/", Some(PROVIDER)));
            tests.extend(twins::tests("ofi/", Some(PROVIDER)));
            tests.extend(deaths::tests("ofi/", Some(PROVIDER)));
            tests.extend(conformance::tests_over(PROVIDER));
        }
        Err(error) => println!("skipped: ofi/*: {error}"),
    }
    std::process::exit(harness::run(tests));
}
