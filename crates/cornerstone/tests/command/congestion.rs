//! Benchmarks of congestion, on a network whose answers are derived by hand and on real fabrics.

use serde_json::Value;

use crate::lab::Lab;

/// Computers around a switch, which takes a whole message in before it sends it on. A message of 125000 bytes takes 125 us on each link and costs
/// nothing else.
const SWITCH: &str = r#"
name = "plain-switch"
title = "a switch and nothing that costs, but links"

[processor]
polling_us = 0.001

[endpoint]
send_us = 0
receive_us = 0

[network]
shape = "switch"
link_mb_per_s = 1000
latency_us = 0
switching = "store-and-forward"
buffer_packets = 64

[[source]]
of = ["processor", "endpoint", "network"]
kind = "assumed"
from = "an example"
"#;
const LINK_US: f64 = 125.0;

/// The medians of a metric, with the parameter that tells them apart.
fn medians(all: &[Value], benchmark: &str, metric: &str, parameter: &str) -> Vec<(String, f64)> {
    let wanted = |one: &&Value| one["benchmark"] == benchmark && one["metric"] == metric;
    let of = |one: &Value| {
        let told = one["parameters"][parameter].to_string();
        (told.trim_matches('"').to_string(), one["median"].as_f64().unwrap())
    };
    all.iter().filter(wanted).map(of).collect()
}

#[test]
fn a_plain_switch_gives_what_its_links_give() {
    let lab = Lab::new();
    lab.write("switch.toml", SWITCH);
    let words = ["run", "congestion", "--sizes", "125000", "--ranks", "5", "--time-limit", "20ms"];
    lab.succeed(&[&words[..], &["--fabric", "sim:switch.toml", "--out", "run.jsonl"]].concat());
    let all = lab.measurements("run.jsonl");
    let same = |found: Vec<(String, f64)>, expected: &[(&str, f64)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((name, median), (wanted, us)) in found.iter().zip(expected) {
            assert!(name == wanted && (median - us).abs() < 1e-6, "{found:?}, {expected:?}");
        }
    };
    // One link up and one down, without anybody in the way; a ring goes both ways, one after the other.
    let twice = 2.0 * LINK_US;
    let rings = [("natural", 2.0 * twice), ("random", 2.0 * twice)];
    same(medians(&all, "rings", "time", "order"), &rings);
    same(medians(&all, "rings", "rate", "order"), &[("natural", 500.0), ("random", 500.0)]);
    same(
        medians(&all, "bisection", "time", "half"),
        &["1", "2", "3", "4"].map(|half| (half, twice)),
    );
    // Two pairs of five ranks: four blocks in 250 us.
    same(
        medians(&all, "bisection", "rate", "half"),
        &["1", "2", "3", "4"].map(|half| (half, 2000.0)),
    );
    // All come up at once and go down one after the other.
    let incast = [("1", 2.0), ("2", 3.0), ("4", 5.0)].map(|(name, links)| (name, links * LINK_US));
    same(medians(&all, "incast", "time", "senders"), &incast);
    // Ten pairs of five ranks, each there and back.
    let pairs = medians(&all, "pair-map", "time", "to");
    assert_eq!(pairs.len(), 10);
    assert!(pairs.iter().all(|(_, us)| (us - twice).abs() < 1e-6), "{pairs:?}");
}

#[test]
fn congestion_is_measured_on_real_fabrics() {
    for fabric in ["local", "tcp"] {
        let lab = Lab::new();
        let words = ["run", "congestion", "--sizes", "8,64KiB", "--ranks", "3"];
        let more = ["--time-limit", "20ms", "--fabric", fabric, "--out", "run.jsonl"];
        lab.succeed(&[&words[..], &more].concat());
        let all = lab.measurements("run.jsonl");
        let count = |name| medians(&all, name, "rate", "order").len();
        assert_eq!(["rings", "incast", "bisection", "pair-map"].map(count), [4, 4, 8, 6]);
        assert!(lab.becomes_empty());
    }
}
