//! The example as ranks of a launcher, over shared memory and over TCP.

use std::path::PathBuf;

use fabric_shm::{LaunchOptions, launch_and_read};
use fabric_tcp::Secret;

/// Returns the example, which cargo builds beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().with_file_name("examples").join("ring_and_halo")
}

/// Runs the example, and returns the output of its ranks.
fn run(ranks: usize, job: Vec<u8>) -> String {
    let mut options = LaunchOptions::new(ranks, job);
    options.program = example();
    options.any_program = true;
    let (ended, written) = launch_and_read(options);
    let text = String::from_utf8(written).unwrap();
    assert!(ended.is_ok(), "{ranks} ranks: {ended:?}\n{text}");
    text
}

/// Checks that the token has counted every rank, and that the heat does not depend on the fabric.
fn check(job: impl Fn() -> Vec<u8>) -> Vec<String> {
    [1, 2, 4]
        .map(|ranks| {
            let text = run(ranks, job());
            let token = format!("{ranks} ranks: the token came back as {ranks}");
            assert!(text.contains(&token), "{text}");
            text.lines().find(|line| line.contains("the middle of the rod")).unwrap().to_string()
        })
        .to_vec()
}

#[test]
fn the_example_runs_alike_over_shared_memory_and_over_tcp() {
    let shared_memory = check(Vec::new);
    let tcp = check(|| fabric_tcp::library::job(&Secret::generate().unwrap()));
    assert_eq!(shared_memory, tcp);
}
