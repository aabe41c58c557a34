//! Tests chains whose run is ended early.

use super::CHAIN_OF_TWO;
use crate::lab::{Lab, Running, eventually, interrupt, kill_each_rank};

/// Starts a chain on a long trial, after a short measurement that must not be lost.
fn start(lab: &Lab) -> Running<'_> {
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--granularity=8,4", "--out", "run.jsonl"];
    // A search for each of two lengths of messages. The first one's results are in the file while the second continues.
    let running = lab.start(&[&words[..], &["--duration", "100ms"]].concat());
    assert!(eventually(|| !lab.measurements("run.jsonl").is_empty()), "nothing was measured");
    running
}

/// Checks that the measurements are kept.
fn is_kept(lab: &Lab) {
    assert!(!lab.measurements("run.jsonl").is_empty());
}

#[test]
fn a_rank_of_a_chain_that_is_killed_is_named_and_ends_the_run() {
    kill_each_rank(start, "--resume run.jsonl", is_kept);
}

#[test]
fn ctrl_c_ends_a_chain_and_keeps_what_was_measured() {
    interrupt(("INT", 130), start, is_kept);
}
