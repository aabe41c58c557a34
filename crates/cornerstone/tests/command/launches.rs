//! Tests cases that are measured in several launches.

use std::collections::BTreeMap;

use crate::lab::{Lab, eventually, signal};
use crate::results::{BRIEF, METRICS};

fn launched(lab: &Lab, more: &[&str]) -> String {
    launched_to(lab, "a.jsonl", more)
}

fn launched_to(lab: &Lab, file: &str, more: &[&str]) -> String {
    lab.succeed(&[&BRIEF[..], &[file], more].concat()).stdout
}

/// Returns the number of measurements of each launch in a results file.
fn by_launch(lab: &Lab) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    for measurement in lab.measurements("a.jsonl") {
        *found.entry(measurement["launch"].as_u64().unwrap_or(0)).or_default() += 1;
    }
    found
}

#[test]
fn each_launch_is_kept_and_the_tables_have_a_row_for_each_case() {
    let lab = Lab::new();
    let shown = launched(&lab, &["--launches", "3"]);
    assert_eq!(by_launch(&lab), (0..3).map(|launch| (launch, METRICS)).collect());
    // A row for the size in the table of ping-pong, and one among the most important numbers.
    assert_eq!(shown.matches("64 KiB").count(), 2, "{shown}");
    let page = std::fs::read_to_string(lab.path("a.html")).unwrap();
    assert!(page.contains("3 launches"));
}

#[test]
fn of_one_launch_nothing_is_claimed_of_others() {
    let lab = Lab::new();
    let shown = launched(&lab, &["--launches", "1"]);
    assert!(shown.contains("Measured in one launch: ping-pong."), "{shown}");
    // The most important numbers have an empty cell for the interval: no other column has a percentage.
    let headline = shown.lines().find(|line| line.contains("64 KiB") && line.contains("rank"));
    assert!(!headline.unwrap_or_else(|| panic!("{shown}")).contains('%'), "{shown}");
    let several = launched_to(&lab, "b.jsonl", &["--launches", "2"]);
    assert!(!several.contains("in one launch"), "{several}");
    let simulated = ["run", "ping-pong", "--sizes", "8", "--fabric", "sim:cluster"];
    assert!(!lab.succeed(&simulated).stdout.contains("in one launch"));
}

#[test]
fn wake_up_is_measured_in_each_launch_and_a_search_in_one_with_a_note() {
    let lab = Lab::new();
    let words = "run wake-up --only for=moment --only by=spin --only load=none --duration 20ms \
                 --launches 2 --out a.jsonl";
    lab.succeed(&words.split_whitespace().collect::<Vec<_>>());
    // The latency and the worst.
    assert_eq!(by_launch(&lab), [(0, 2), (1, 2)].into());
    let words = "run hartstone --ranks 2 --sizes 8 --search-limit 300ms --launches 3";
    let ended = lab.run(&words.split_whitespace().collect::<Vec<_>>());
    assert!(ended.stderr.contains("note: hartstone is measured in one launch"), "{ended:#?}");
}

#[test]
fn a_period_is_tried_in_each_launch_and_the_launches_are_counted() {
    let lab = Lab::new();
    let words = "run hartstone --ranks 2 --sizes 8 --period 20ms --instances 3 --miss-rate 99% \
                 --hygiene pin --launches 3 --out a.jsonl";
    let ended = lab.run(&words.split_whitespace().collect::<Vec<_>>());
    // Whether such a short period is sustained depends on the machine.
    assert!(matches!(ended.status, Some(0 | 3)), "{ended:#?}");
    assert!(!ended.stderr.contains("one launch"), "{ended:#?}");
    assert!(!ended.stdout.contains("one launch"), "{ended:#?}");
    // One line for each set of priorities and launch.
    let trials = lab.records("a.jsonl").into_iter().filter(|line| line["kind"] == "trial");
    let launches: Vec<u64> = trials.map(|line| line["launch"].as_u64().unwrap_or(0)).collect();
    let each = launches.iter().filter(|launch| **launch == 0).count();
    assert_eq!(launches, (0..3).flat_map(|launch| vec![launch; each]).collect::<Vec<_>>());
    assert!(each > 0);
    assert_eq!(ended.stdout.matches("; 3 launches: ").count(), each, "{}", ended.stdout);
    // Values that are read from the file later are the same.
    let page = std::fs::read_to_string(lab.path("a.html")).unwrap();
    assert!(page.contains("3 launches: "), "no count of launches");
}

#[test]
fn a_resumed_run_makes_the_launches_that_are_missing() {
    let lab = Lab::new();
    launched(&lab, &["--launches", "1"]);
    let ended = lab.succeed(&["run", "--resume", "a.jsonl", "--launches", "2"]);
    assert!(ended.stderr.contains("5 to measure"), "{ended:#?}");
    assert_eq!(by_launch(&lab), [(0, METRICS), (1, METRICS)].into());
}

#[test]
fn launches_that_would_be_alike_are_one_and_those_that_cannot_be_made_are_refused() {
    let lab = Lab::new();
    let words = ["run", "ping-pong", "--sizes", "8", "--launches", "2", "--fabric", "sim:cluster"];
    let ended = lab.succeed(&words);
    assert!(ended.stderr.contains("note: one launch: a simulated machine"), "{ended:#?}");
    assert!(ended.stderr.contains("1 case, about 1 s"), "{ended:#?}");
    lab.run(&["run", "ping-pong", "--launches", "0"]).refuses(2, &["--launches", "1..=1000"]);
    let words = ["run", "ping-pong", "--launches", "2", "--turns", "2"];
    lab.run(&words).refuses(2, &["--launches", "--turns"]);
}

#[test]
fn a_launch_that_dies_among_several_is_told_and_the_others_count() {
    let lab = Lab::new();
    let words =
        ["run", "ping-pong", "--sizes", "8,32MiB,33MiB", "--ranks", "2", "--precision", "0.01%"];
    let more = ["--time-limit", "900ms", "--launches", "3", "--out", "a.jsonl"];
    let running = lab.start(&[&words[..], &more].concat());
    let is_in_second = || by_launch(&lab).contains_key(&1);
    assert!(eventually(is_in_second), "the second launch measured nothing");
    signal(running.started(1), "KILL");
    let ended = running.wait();
    ended.refuses(
        1,
        &[
            "a launch died, and the results are from the others",
            "launch 2 of 2 ranks",
            "SIGKILL",
            "--resume a.jsonl",
        ],
    );
    assert!(ended.stderr.contains("the run continues with the others"), "{ended:#?}");
    assert!(ended.stdout.contains("ping-pong, 2 ranks"), "{ended:#?}");
    let before = by_launch(&lab);
    assert!(before[&0] == before[&2] && before[&1] < before[&0], "{before:?}");
    lab.succeed(&["run", "--resume", "a.jsonl", "--time-limit", "50ms"]);
    assert_eq!(by_launch(&lab)[&1], before[&0]);
}
