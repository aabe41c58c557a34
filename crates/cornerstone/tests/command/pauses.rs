//! Tests the output of `clock` on pauses: the available time, their causes, and whether a limit was kept.

use serde_json::Value;

use crate::lab::{Lab, eventually};
use crate::real_time::PAUSING;

/// Returns the latest summary of each rank's pauses in a results file.
fn summaries(lab: &Lab, file: &str) -> Vec<Value> {
    let found = lab.measurements(file);
    let of_rank = |rank: u64| {
        let lost = |m: &&Value| m["metric"] == "lost" && m["parameters"]["rank"] == rank;
        found.iter().rev().find(lost).map(|m| m["pauses"]["summary"].clone())
    };
    (0..).map_while(of_rank).collect()
}

#[test]
fn a_limit_decides_the_status_and_what_is_left_of_the_time_is_told() {
    let lab = Lab::new();
    lab.write("pausing.toml", PAUSING);
    let words = ["run", "clock", "--ranks", "2", "--duration", "2s", "--fabric"];
    let with_limit = |limit: &str, out: &str| {
        lab.run(&[&words[..], &["sim:pausing.toml", "--limit", limit, "--out", out]].concat())
    };
    let held = with_limit("20ms", "held.jsonl");
    assert_eq!(held.status, Some(0), "{held:#?}");
    for printed in ["available: 96.0", "at least", "lost at worst", "limit 20.0 ms: held"] {
        assert!(held.stdout.contains(printed), "no '{printed}': {held:#?}");
    }
    // 2 ms of each 50: 40 ms of a second, and all of a millisecond.
    let first = &summaries(&lab, "held.jsonl")[0];
    let available = first["available"].as_f64().unwrap();
    assert!((0.958..0.962).contains(&available), "{first}");
    let worst: Vec<f64> = first["worst_windows"].as_array().unwrap().iter().map(lost_us).collect();
    assert!(worst[0] == 1e3 && (3.8e4..4.4e4).contains(&worst[3]), "{first}");
    let exceeded = with_limit("1ms", "exceeded.jsonl");
    assert_eq!(exceeded.status, Some(1), "{exceeded:#?}");
    assert!(exceeded.stdout.contains("limit 1.00 ms: exceeded by 4"), "{exceeded:#?}");
    assert!(exceeded.stderr.contains("exceeded --limit 1.00 ms, the longest"), "{exceeded:#?}");
    for format in ["csv", "json"] {
        let words = ["sim:pausing.toml", "--limit", "1ms", "--format", format];
        lab.run(
            &[&["run", "clock", "--ranks", "2", "--duration", "2s", "--fabric"], &words[..]]
                .concat(),
        )
        .refuses(1, &["exceeded --limit 1.00 ms"]);
    }
    lab.run(&["run", "clock", "--limit", "soon"]).refuses(2, &["--limit", "soon"]);
    // Shorter than the usual threshold of 2 us, and than any gap between two readings here.
    let short = with_limit("100ns", "short.jsonl");
    assert_eq!(short.status, Some(1), "{short:#?}");
    let threshold_us = &lab.measurements("short.jsonl")[0]["pauses"]["threshold_us"];
    assert_eq!(threshold_us, 0.1, "{short:#?}");
}

#[test]
fn options_that_nothing_in_the_run_would_use_are_refused() {
    let lab = Lab::new();
    for (words, parts) in [
        (&["ping-pong", "--limit", "20us"][..], &["--limit", "`clock`"][..]),
        (&["hartstone", "--osnoise"], &["--osnoise", "`clock`"]),
        (
            &["clock", "--limit", "1ms", "--threshold", "2ms"],
            &["--threshold 2.00 ms", "--limit 1.00 ms"],
        ),
        (&["clock", "--load", "1000"], &["--load", "`hartstone`"]),
        (&["ping-pong", "--explain"], &["--explain", "`pipeline`"]),
        (&["clock", "--period", "5ms"], &["--period", "`pipeline`"]),
        (&["hartstone", "--fabric", "sim:cluster", "--explain"], &["--explain", "--search-limit"]),
    ] {
        lab.run(&[&["run"], words].concat()).refuses(2, parts);
    }
    assert!(!lab.path("results").exists());
}

fn lost_us(window: &Value) -> f64 {
    window["lost_us"].as_f64().unwrap()
}

#[test]
fn every_pause_of_this_machine_has_a_cause_or_is_said_to_have_none() {
    let lab = Lab::new();
    lab.succeed(&["run", "clock", "--duration", "300ms", "--out", "a.jsonl"]);
    for summary in summaries(&lab, "a.jsonl") {
        let number = |value: &Value| value["count"].as_u64().unwrap();
        let causes = summary["causes"].as_array().unwrap();
        assert_eq!(causes.iter().map(number).sum::<u64>(), number(&summary), "{summary}");
    }
}

#[test]
fn a_look_of_hours_that_is_ended_keeps_what_it_saw() {
    let lab = Lab::new();
    let running = lab.start(&["run", "clock", "--duration", "2h", "--out", "a.jsonl"]);
    let has_reported = || !summaries(&lab, "a.jsonl").is_empty();
    assert!(eventually(has_reported), "nothing was told");
    running.signal("INT");
    let ended = running.wait();
    assert!(ended.stdout.contains("available:"), "{ended:#?}");
    assert!(ended.stderr.contains("the results so far are kept"), "{ended:#?}");
}
