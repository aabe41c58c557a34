//! The example as ranks of a launcher, over each fabric of this host.

use std::path::PathBuf;

use fabric_shm::launch_options;
use launcher::launch_and_read;

/// Returns the example, which cargo builds beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().with_file_name("examples").join("ring_and_halo")
}

/// Runs the example, and returns the output of its ranks.
fn run(ranks: usize, job: Vec<u8>) -> String {
    let mut options = launch_options(ranks, job);
    options.program = example();
    options.any_program = true;
    let (ended, written) = launch_and_read(options);
    let text = String::from_utf8(written).unwrap();
    assert!(ended.is_ok(), "{ranks} ranks: {ended:?}\n{text}");
    text
}

/// Checks that the token has counted every rank, and that the heat does not depend on the fabric.
fn check(job: &[u8]) -> Vec<String> {
    [1, 2, 4]
        .map(|ranks| {
            let text = run(ranks, job.to_vec());
            let token = format!("{ranks} ranks: the token came back as {ranks}");
            assert!(text.contains(&token), "{text}");
            text.lines().find(|line| line.contains("the middle of the rod")).unwrap().to_string()
        })
        .to_vec()
}

#[test]
fn the_example_runs_alike_over_every_fabric() {
    let jobs = launched::jobs_on_this_host().unwrap();
    let expected = check(&jobs[0].1);
    for (fabric, job) in &jobs[1..] {
        assert_eq!(check(job), expected, "{fabric}");
    }
}
