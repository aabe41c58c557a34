//! Tests the end of an interrupted run: nothing hangs, no process is left, and no measurement is lost.

use crate::lab::{Lab, Running, eventually, interrupt, kill_each_rank};

/// Measurements that take about a second each, so that there is time to end the run among them.
const LONG_RUN: [&str; 12] = [
    "run",
    "ping-pong",
    "--sizes",
    "8,16,32MiB,33MiB,34MiB,35MiB,36MiB,37MiB,38MiB",
    "--ranks",
    "2",
    "--time-limit",
    "1s",
    "--precision",
    "0.01%",
    "--out",
    "run.jsonl",
];

/// Starts the run and waits until it has measured something.
fn start(lab: &Lab) -> Running<'_> {
    let running = lab.start(&LONG_RUN);
    assert!(eventually(|| !lab.measurements("run.jsonl").is_empty()), "nothing was measured");
    running
}

/// Checks the state after every end: no process, and a file of whole lines that can be resumed to the full set.
fn goes_on(lab: &Lab) {
    assert!(lab.becomes_empty(), "processes are left: {:?}", lab.processes());
    let before = lab.measurements("run.jsonl");
    assert!(!before.is_empty());
    let ended = lab.succeed(&["run", "--resume", "run.jsonl", "--time-limit", "50ms"]);
    assert!(ended.stderr.contains("run.jsonl"), "{ended:#?}");
    let records = lab.records("run.jsonl");
    assert_eq!(records.iter().filter(|record| record["kind"] == "run").count(), 2);
    assert_eq!(records.last().unwrap()["kind"], "end");
    let after = lab.measurements("run.jsonl");
    assert_eq!(after[..before.len()], before, "what was measured before is untouched");
    let mut times: Vec<u64> = after
        .iter()
        .filter(|measurement| measurement["metric"] == "time")
        .map(|measurement| measurement["size_bytes"].as_u64().unwrap())
        .collect();
    times.sort_unstable();
    let mib = |count: u64| count << 20;
    let mut sizes = vec![8, 16];
    sizes.extend((32..=38).map(mib));
    assert_eq!(times, sizes, "each size once");
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_says_how_to_go_on() {
    interrupt(("INT", 130), start, goes_on);
}

#[test]
fn a_request_to_terminate_ends_a_run_in_order() {
    interrupt(("TERM", 143), start, goes_on);
}

#[test]
fn a_killed_rank_is_named_and_ends_the_run() {
    kill_each_rank(start, "--resume run.jsonl", goes_on);
}

#[test]
fn ranks_do_not_outlive_a_killed_launcher() {
    let lab = Lab::new();
    let running = start(&lab);
    assert!(running.rank(1).is_some());
    running.signal("KILL");
    assert_eq!(running.wait().status, None);
    goes_on(&lab);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let lab = Lab::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut words = LONG_RUN.to_vec();
    words.extend(["--format", "json"]);
    let mut command = lab.command(&words);
    let output = command.stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(141), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    goes_on(&lab);
}
