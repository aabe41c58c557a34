//! The example as ranks of a launcher, over shared memory and over TCP.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fabric_shm::{LaunchOptions, Streams, launch};
use fabric_tcp::Secret;

/// One launch at a time: a process has one set of signal handlers.
static LAUNCHES: Mutex<()> = Mutex::new(());

/// The example, which cargo builds beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().with_file_name("examples").join("ring_and_halo")
}

/// Runs it; gives what its ranks wrote.
fn run(ranks: usize, job: Vec<u8>) -> String {
    let _alone = LAUNCHES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (mut output, input) = std::io::pipe().unwrap();
    let input = Arc::new(File::from(OwnedFd::from(input)));
    let mut options = LaunchOptions::new(ranks, job);
    options.program = example();
    options.any_program = true;
    options.streams = vec![Streams { output: input.clone(), error: input.clone() }; ranks];
    drop(input);
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    });
    let ended = launch(&options, &mut |_| ControlFlow::Continue(()));
    drop(options);
    let text = reader.join().unwrap();
    assert!(ended.is_ok(), "{ranks} ranks: {ended:?}\n{text}");
    text
}

/// The token has counted every rank, and the heat is the same however the rod is divided between fabrics.
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
