//! Tests launches that are spread over a time, and runs most of whose numbers differ.

use std::time::{Duration, Instant};

use crate::lab::Lab;
use crate::reading::{six_times, slowed};
use crate::results::METRICS;

#[test]
fn launches_begin_where_their_place_in_the_spread_is() {
    let lab = Lab::new();
    let words = ["run", "ping-pong", "--sizes", "0,8,64,1KiB,64KiB", "--time-limit", "30ms"];
    let more = ["--launches", "3", "--spread", "1500ms", "--out", "a.jsonl"];
    let begin = Instant::now();
    lab.succeed(&[&words[..], &more].concat());
    // The third of three begins when two thirds of the time are over, on a machine under any load.
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert_eq!(lab.measurements("a.jsonl").len(), 3 * METRICS);
}

#[test]
fn one_launch_cannot_be_spread_nor_turns() {
    let lab = Lab::new();
    let one = ["run", "ping-pong", "--launches", "1", "--spread", "1s"];
    lab.run(&one).refuses(2, &["--spread", "--launches"]);
    let simulated = ["run", "ping-pong", "--fabric", "sim:cluster", "--spread", "1s"];
    lab.run(&simulated).refuses(2, &["--spread"]);
    lab.run(&["run", "--turns", "2", "--spread", "1s"]).refuses(2, &["--turns"]);
}

#[test]
fn runs_of_which_most_numbers_differ_are_not_told_apart_and_the_way_to_tell_is_named() {
    // Which state the machine was in for each number depends on the machine.
    let lab = Lab::new();
    let sizes = ["--sizes", "0,8,64,512,1KiB,8KiB,64KiB"];
    let words = ["run", "ping-pong", "--time-limit", "50ms", "--out", "a.jsonl"];
    lab.succeed(&[&words[..], &sizes].concat());
    six_times(&lab, "a.jsonl");
    let compared = |factor: f64| {
        slowed(&lab, "a.jsonl", "b.jsonl", factor);
        lab.run(&["compare", "a.jsonl", "b.jsonl", "--without", "states"])
    };
    let ended = compared(1.3);
    for part in ["7 undecided", "most numbers became worse", "compare --measure"] {
        assert!(ended.status == Some(3) && ended.stdout.contains(part), "no '{part}': {ended:#?}");
    }
    // No state of a machine makes everything three times as slow.
    let ended = compared(3.0);
    assert!(ended.status == Some(1) && ended.stdout.contains("7 slower"), "{ended:#?}");
    // Without the assumption that most numbers are unchanged every one is slower by 30 %.
    slowed(&lab, "a.jsonl", "b.jsonl", 1.3);
    let alone =
        lab.run(&["compare", "a.jsonl", "b.jsonl", "--without", "states,shared", "--json"]).json();
    assert!(alone[0]["shared"].is_null(), "{alone:?}");
    let all = lab.run(&["compare", "a.jsonl", "b.jsonl", "--without", "states", "--json"]).json();
    let worse_by = all[0]["shared"]["worse_by"].as_f64().unwrap();
    assert!((worse_by - 1.3).abs() < 1e-9, "{worse_by}");
}
