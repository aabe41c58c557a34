//! Runs the examples as ranks of a launcher, over each fabric of this host.

use std::path::PathBuf;

use fabric_shm::launch_options;
use launcher::{LaunchError, launch_and_read};

/// Returns the path of an example, which cargo builds beside the tests.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().with_file_name("examples").join(name)
}

/// Runs an example. Returns how the run ended, and the output of its ranks.
fn run(name: &str, ranks: usize, job: Vec<u8>) -> (Result<(), LaunchError>, String) {
    let mut options = launch_options(ranks, job);
    options.program = example(name);
    options.any_program = true;
    let (ended, written) = launch_and_read(options);
    (ended, String::from_utf8(written).unwrap())
}

/// Runs an example over each fabric of this host, and checks that its output contains `words`.
fn says(name: &str, ranks: usize, words: &str) {
    for (fabric, job) in launched::jobs_on_this_host().unwrap() {
        let (ended, text) = run(name, ranks, job);
        assert!(ended.is_ok(), "{ranks} ranks over {fabric}: {ended:?}\n{text}");
        assert!(text.contains(words), "{ranks} ranks over {fabric}: {text}");
    }
}

#[test]
fn no_update_of_the_table_is_lost() {
    // Each rank makes 20000 updates of 1, and each has 1000 entries.
    says("active_messages", 1, "1 ranks: 20000 updates in 1000 entries");
    says("active_messages", 2, "2 ranks: 40000 updates in 2000 entries");
    says("active_messages", 5, "5 ranks: 100000 updates in 5000 entries");
}

/// With three ranks and more, one worker leaves and comes back after each task, and another takes a task and is lost.
#[test]
fn no_task_is_lost_with_the_worker_that_had_it() {
    let element = |at: usize, row: usize| ((row * 7 + at * 3) % 11) * ((at * 5 + row) % 13);
    let trace: usize = (0..48).flat_map(|row| (0..48).map(move |at| element(at, row))).sum();
    for ranks in [2, 4] {
        let words = format!("{ranks} ranks: the diagonal of the product sums to {trace}");
        says("bag_of_tasks", ranks, &words);
    }
}

/// In asynchronous mode each rank continues at its own pace with the latest values, and must come to the same rod.
#[test]
fn both_modes_find_the_same_rod() {
    for ranks in [1, 2, 4] {
        for mode in ["synchronous", "asynchronous"] {
            let words = format!("{ranks} ranks, {mode}: the rod is a straight line");
            says("send_and_receive", ranks, &words);
        }
    }
}

#[test]
fn a_cluster_sorts_and_leaves_nothing() {
    for nodes in [1, 2, 4] {
        // Each node sorts 20000 numbers.
        let (all, others) = (nodes * 20_000, (nodes - 1) * 20_000);
        let words = format!("{nodes} nodes: {all} numbers in order, {others} of them by workers");
        says("cluster_sort", nodes, &words);
    }
}

#[test]
fn all_nodes_of_a_ring_come_to_the_mean() {
    for nodes in [1, 2, 4] {
        // The numbers are 0 to 4 nodes - 1.
        let mean = (4 * nodes - 1) as f64 / 2.0;
        says("ring_relaxation", nodes, &format!("{nodes} nodes: all numbers have become {mean}"));
    }
}

#[test]
fn an_unknown_fabric_is_named_by_its_first_line() {
    let job = b"cornerstone-carrier-pigeon-2\nsecret".to_vec();
    let (ended, text) = run("active_messages", 1, job);
    assert!(ended.is_err(), "{text}");
    let text = format!("{text}{ended:?}");
    assert!(text.contains("'cornerstone-carrier-pigeon-2'") && !text.contains("secret"), "{text}");
}
