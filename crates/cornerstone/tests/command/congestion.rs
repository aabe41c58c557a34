//! Tests benchmarks of congestion, on a network with results that are derived by hand and on real fabrics.

use serde_json::Value;

use crate::lab::Lab;

/// Computers around a switch, which receives a whole message before it forwards it. A message of 125000 bytes takes 125
/// us on each link and has no other cost.
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

/// Returns the medians of a metric, with the parameter that distinguishes them.
fn medians(all: &[Value], benchmark: &str, metric: &str, parameter: &str) -> Vec<(String, f64)> {
    let wanted = |one: &&Value| one["benchmark"] == benchmark && one["metric"] == metric;
    let of = |one: &Value| {
        let printed = one["parameters"][parameter].to_string();
        (printed.trim_matches('"').to_string(), one["median"].as_f64().unwrap())
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
    // One link up and one down, without other traffic; a ring is used in both directions, one after the other.
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
    // All go up at once and down one after the other.
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

        let words = ["run", "congestion-impact", "--sizes", "1KiB", "--ranks", "5"];
        let more = ["--time-limit", "5ms", "--fabric", fabric, "--out", "impact.jsonl"];
        lab.succeed(&[&words[..], &more].concat());
        let found =
            medians(&lab.measurements("impact.jsonl"), "congestion-impact", "impact", "victim");
        // Two victims beside three loads. Their slowdown here depends on the host.
        assert_eq!(found.len(), 6);
        assert!(found.iter().all(|(_, factor)| *factor > 0.0), "{found:?}");
        assert!(lab.becomes_empty());
    }
}

/// Four computers on two switches with one link between them, in packets of 1024 bytes that take 1.024 us on each link.
const TWO_SWITCHES: &str = r#"
name = "two-switches"
title = "two switches with one link between"
level = "packets"

[processor]
polling_us = 0.001

[endpoint]
send_us = 0
receive_us = 0

[network]
shape = "graph"
links = LINKS
link_mb_per_s = 1000
latency_us = 0
packet_bytes = 1024

[[source]]
of = ["processor", "endpoint", "network"]
kind = "assumed"
from = "an example"
"#;

#[test]
fn congestors_take_half_of_a_shared_link_and_nothing_of_others() {
    // With seed 1 ranks 0 and 1 are the victims, 2 and 3 the congestors. A message of 128 packets takes 130 of their
    // times over three links, or 129 over two, and a ring of two victims has two such messages after each other.
    let lab = Lab::new();
    lab.write("shared.toml", &TWO_SWITCHES.replace("LINKS", "[[0,4], [2,4], [1,5], [3,5], [4,5]]"));
    lab.write("apart.toml", &TWO_SWITCHES.replace("LINKS", "[[0,4], [1,4], [2,5], [3,5], [4,5]]"));
    for (machine, links) in [("shared", 130.0), ("apart", 129.0)] {
        let fabric = format!("sim:{machine}.toml");
        let words =
            ["run", "congestion-impact", "--ranks", "4", "--sizes", "128KiB", "--seed", "1"];
        let more = ["--time-limit", "20ms", "--fabric", &fabric, "--out", "run.jsonl"];
        lab.succeed(&[&words[..], &more].concat());
        let all = lab.measurements("run.jsonl");
        let of = |metric: &str, load: &str| -> Vec<f64> {
            let is = |one: &&Value, name: &str, value: &str| one["parameters"][name] == value;
            let wanted = |one: &&Value| {
                one["metric"] == metric && is(one, "congestors", load) && is(one, "victim", "ring")
            };
            all.iter().filter(wanted).map(|one| one["median"].as_f64().unwrap()).collect()
        };
        for load in ["incast", "all-to-all", "puts"] {
            let alone = of("alone", load);
            assert!((alone[0] - 2.0 * links * 1.024).abs() < 1e-6, "{machine} {load}: {alone:?}");
            for metric in ["impact", "impact_99", "impact_99_9"] {
                let found = of(metric, load);
                let [factor] = found[..] else { panic!("{machine} {load} {metric}: {found:?}") };
                let range = match (machine, load) {
                    ("apart", _) => 1.0..=1.0,
                    // Packets of the victim and of the congestor alternate: 255 from the first to the last of the
                    // victim's, and two on links that are free. Two more of the congestor's may precede them. As these
                    // arrive one by one until then, one may be missing at its first turn.
                    (_, "incast") => (254.0 + 2.0) / 130.0..=(257.0 + 2.0) / 130.0,
                    // The congestors also wait for each other.
                    _ => 1.5..=(257.0 + 2.0) / 130.0,
                };
                assert!(range.contains(&factor), "{machine} {load} {metric}: {factor}");
            }
        }
        std::fs::remove_file(lab.path("run.jsonl")).unwrap();
    }
}

/// Six computers, the last of which is at the end of a chain of three nodes that only forward.
const DISTANT: &str = "[[0,6], [1,6], [2,6], [3,6], [4,6], [6,7], [7,8], [8,9], [9,5]]";

#[test]
fn slow_pairs_are_named_and_mapped() {
    let lab = Lab::new();
    let machine =
        TWO_SWITCHES.replace("LINKS", DISTANT).replace("latency_us = 0", "latency_us = 1");
    lab.write("distant.toml", &machine);
    let words = ["run", "pair-map", "--ranks", "6", "--sizes", "8,64KiB", "--time-limit", "20ms"];
    let more = ["--fabric", "sim:distant.toml", "--out", "run.jsonl"];
    let ended = lab.succeed(&[&words[..], &more].concat());
    // Ten of 15 pairs have two links, five have five: 2.016 us and 5.04 us. Quartiles at positions 3.5 and 10.5 of the
    // sorted times are 2.016 and 5.04, so nothing is beyond the fence of 9.576 us.
    let in_a_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = in_a_line(&ended.stdout);
    let none = "8 B: 15 pairs, median 2.02 µs; no slow pair (none above 9.58 µs)";
    assert!(text.contains(none), "{text}");

    // With nine ranks nearby, nine of 45 pairs are far: below the upper quartile all are near, and the fence is 5 %
    // above.
    let near = (0..9).map(|rank| format!("[{rank},10], ")).collect::<String>();
    let machine = machine.replace(DISTANT, &format!("[{near} [10,11], [11,12], [12,13], [13,9]]"));
    lab.write("many.toml", &machine);
    let words = ["run", "pair-map", "--ranks", "10", "--sizes", "8,64KiB", "--time-limit", "20ms"];
    let more = ["--fabric", "sim:many.toml", "--out", "many.jsonl"];
    let ended = lab.succeed(&[&words[..], &more].concat());
    let text = in_a_line(&ended.stdout);
    assert!(
        text.contains(
            "8 B: 45 pairs, median 2.02 µs; slow (above 2.12 µs): ranks 0 and 9: 5.04 µs (2.50 x)"
        ),
        "{text}"
    );
    assert!(text.contains("8 and 9: 5.04 µs (2.50 x)."), "{text}");

    lab.succeed(&["report", "many.jsonl"]);
    let page = std::fs::read_to_string(lab.path("many.html")).unwrap();
    assert!(page.contains("Half of the round trip of each pair of 10 ranks, 8 B, in µs"));
    assert!(page.contains("Rate of each pair of 10 ranks, 64 KiB, in MB/s"));
    assert!(page.contains("title=\"ranks 9 and 0: 5.04 µs, 1.59 MB/s\""));
}
