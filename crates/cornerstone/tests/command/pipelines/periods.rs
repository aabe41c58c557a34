//! Tests periods of chains: met, missed, and searched.

use super::{CHAIN, CHAIN_OF_TWO, SHORT, STOPPING, median_of, simulated};
use crate::lab::{Lab, words};

#[test]
fn a_period_of_a_chain_is_kept_up_with_checked_results() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    // Twelve matrices, of which eight fill the chain.
    let period = "--period 100ms --instances 12 --miss-rate 99%";
    lab.succeed(&words(&format!("pipeline image.toml --timing both --out run.jsonl {period}")));
    let found = lab.measurements("run.jsonl");
    let has = |mode: &str, metric: &str| {
        found.iter().any(|m| m["parameters"]["mode"] == mode && m["metric"] == metric)
    };
    for mode in ["self-timed", "synchronised"] {
        assert!(has(mode, "period") && has(mode, "latency") && has(mode, "jitter"), "{found:#?}");
    }
    let stages: Vec<_> = found.iter().filter(|m| m["metric"] == "computing").collect();
    assert!(stages.iter().any(|m| m["parameters"]["stage"] == "1 range"), "{stages:#?}");
    assert_eq!(lab.records("run.jsonl")[0]["texts"]["pipeline image.toml"], CHAIN);
    let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
    assert_eq!(page.matches("Jitter at each stage over time").count(), 2, "one for each mode");
    assert!(page.contains("1 range: median"), "a strip for each stage");
}

#[test]
fn ranks_that_share_stages_run_with_checked_results() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    let check = lab.succeed(&["pipeline", "image.toml", "--check"]);
    for expected in ["2 stages on 2 ranks", "rank 0: source", "ranks 0 to 1: range", "rank 1: sink"]
    {
        assert!(check.stdout.contains(expected), "{expected}\n{check:#?}");
    }
    let words = ["pipeline", "image.toml", "--timing", "both", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &SHORT].concat());
    let found = lab.measurements("run.jsonl");
    assert!(found.iter().all(|m| m["ranks"] == 2), "{found:#?}");
    let of = |metric: &str| found.iter().filter(|m| m["metric"] == metric).count();
    assert_eq!(of("miss-rate"), 2, "{found:#?}");
}

#[test]
fn ranks_that_share_stages_keep_a_long_period_by_the_clock_as_by_themselves() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    // At most 20 % missed: 0.8^16 is 2.8 %.
    let words = ["--timing", "both", "--period", "100ms", "--instances", "16"];
    let found = simulated(&lab, &[&words[..], &["--miss-rate", "20%"]].concat(), 0);
    for mode in ["self-timed", "synchronised"] {
        assert_eq!(median_of(&found, "miss-rate", mode), 0.0, "{mode}");
    }
    // By the clock the second stage begins two periods after the matrix.
    assert!(median_of(&found, "latency", "synchronised") >= 200_000.0, "{found:#?}");
}

#[test]
fn few_matrices_are_enough_to_see_a_chain_fall_behind() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let period_us = median_of(&simulated(&lab, &["--instances", "100"], 0), "period", "self-timed");
    // A tenth too short: after 16 matrices the results are a period late, which three buffers at each stage hide.
    let (period, words) = (format!("{}us", 0.9 * period_us), ["--instances", "16", "--period"]);
    let found = simulated(&lab, &[&words[..], &[&period]].concat(), 1);
    assert!(median_of(&found, "miss-rate", "self-timed") > 30.0, "{found:#?}");
}

#[test]
fn matrices_that_may_wait_at_the_source_ride_out_a_pause_and_hide_no_chain_that_falls_behind() {
    let lab = Lab::new();
    lab.write("stopping.toml", STOPPING);
    let missed = |backlog: usize, period: &str, instances: &str, status: i32| {
        let flow = format!("[flow]\nbacklog = {backlog}");
        lab.write("image.toml", &CHAIN_OF_TWO.replace("[flow]", &flow));
        let words = ["pipeline", "image.toml", "--fabric", "sim:stopping.toml"];
        let rest = ["--period", period, "--instances", instances, "--out", "run.jsonl"];
        let ended = lab.run(&[&words[..], &rest].concat());
        assert_eq!(ended.status, Some(status), "{ended:#?}");
        let found = lab.measurements("run.jsonl");
        std::fs::remove_file(lab.path("run.jsonl")).unwrap();
        median_of(&found, "miss-rate", "self-timed")
    };
    // Each pause of 9 ms makes four matrices late that have 2 ms each, but none that may wait for ten periods.
    assert!(missed(0, "2ms", "400", 1) > 1.0);
    assert_eq!(missed(10, "2ms", "400", 0), 0.0);
    // A period that is too short for the chain is too short with any memory.
    assert!(missed(10, "50us", "256", 1) > 30.0);
}

#[test]
fn a_pause_as_long_as_real_time_throttling_is_named_for_ranks_of_a_fixed_priority() {
    let lab = Lab::new();
    // Linux's default: stopped for 50 ms in each second.
    let throttled = STOPPING.replace("length_us = 9000", "length_us = 50000");
    assert_ne!(throttled, STOPPING);
    lab.write("throttled.toml", &throttled.replace("period_us = 100000", "period_us = 1000000"));
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--fabric", "sim:throttled.toml", "--period", "2ms"];
    let named = |hygiene: &str| {
        let more = ["--instances", "600", "--hygiene", hygiene];
        lab.run(&[&words[..], &more].concat()).stdout.contains("real-time throttling")
    };
    assert_eq!([named("fifo"), named("none")], [true, false]);
}

#[test]
fn late_matrices_are_told_with_the_pauses_that_put_them_off() {
    let lab = Lab::new();
    lab.write("stopping.toml", STOPPING);
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--fabric", "sim:stopping.toml", "--period", "2ms"];
    let ended = lab.run(&[&words[..], &["--instances", "300", "--out", "run.jsonl"]].concat());
    ended.refuses(1, &["pipeline, 2 ranks: 2.00 ms is refused"]);
    // A pause at the beginning of a period delays the source by the whole pause, and every late matrix is late because
    // of it.
    for printed in [
        "did something else for 9.00 ms",
        "when the rank should have begun",
        "explain 100 % of the time that the 8 latest instances took beyond the usual, and 8 of them wholly",
    ] {
        assert!(ended.stdout.contains(printed), "{printed}: {ended:#?}");
    }
    let found = lab.measurements("run.jsonl");
    let search = &found.iter().find(|m| m["search"].is_object()).unwrap()["search"];
    let lengths = search["pauses"].as_array().unwrap().iter().map(|p| p["length_us"].as_f64());
    let longest = lengths.flatten().fold(0.0, f64::max);
    assert!((longest - 9000.0).abs() < 1.0, "{longest}");
    let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
    for shown in ["The latest instances beside the pauses", "rank 0: ", "mark kind-0\""] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn a_period_that_no_machine_keeps_is_told_not_waited_for() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = ["pipeline", "image.toml", "--period", "1us", "--out", "run.jsonl"];
    let ended = lab.run(&words);
    ended.refuses(1, &["1.00 µs is refused: "]);
    assert!(ended.stdout.contains("1.00 µs is refused"), "{ended:#?}");
    lab.run(&["pipeline", "image.toml", "--period", "0.00001us"])
        .refuses(1, &["ask for a longer one"]);
}

#[test]
fn each_part_of_the_hygiene_is_left_out_in_turn() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--ablate", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &SHORT].concat());
    let found = lab.measurements("run.jsonl");
    for without in ["lock", "pin"] {
        let period = found.iter().find(|m| m["parameters"]["without"] == without).unwrap();
        let printed =
            found.iter().find(|m| m["parameters"]["without"] == without && !m["search"].is_null());
        assert_eq!(printed.unwrap()["search"]["hygiene"][without], "off", "{period:#?}");
    }
}
