//! Tests a chain back to back, its functions alone and its messages alone, in turns.

use super::{CHAIN, CHAIN_OF_TWO, SHORT, STOPPING, median_of, simulated};
use crate::lab::Lab;

#[test]
fn the_chain_its_functions_and_its_messages_take_turns_on_a_simulated_machine() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let found = simulated(&lab, &["--instances", "100", "--check-results", "yes"], 0);
    let turns = |metric: &str| -> Vec<f64> {
        let one = found.iter().find(|m| m["metric"] == metric).unwrap();
        one["samples"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).collect()
    };
    let (whole, functions, messages) =
        (turns("back-to-back"), turns("busiest-processor"), turns("messages-only"));
    let (ratios, hidden) = (turns("back-to-back-per-computing"), turns("hidden"));
    for turn in 0..whole.len() {
        let [whole, functions, messages] = [whole[turn], functions[turn], messages[turn]];
        assert!(whole >= functions && whole >= messages, "{whole} {functions} {messages}");
        assert!((ratios[turn] - whole / functions).abs() < 1e-9);
        let right = 100.0 * (1.0 - (whole - functions) / messages).clamp(0.0, 1.0);
        assert!((hidden[turn] - right).abs() < 1e-9, "{right}");
    }
    // Except for an occasional pause, the time back to back is a period that the chain sustains.
    let of = |metric| median_of(&found, metric, "self-timed");
    let (period, whole) = (of("period"), of("back-to-back"));
    assert!((0.95 * whole..1.05 * whole).contains(&period), "{period} {whole}");
    let ratio = period / of("busiest-processor");
    assert!((of("period-per-computing") / ratio - 1.0).abs() < 1e-9);
}

/// Two ranks that share every stage, and send nothing.
const CHAIN_WITHOUT_MESSAGES: &str = "\
title = 'weights'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[source]
on = [0, 1]
[[stage]]
on = [0, 1]
functions = ['weight']
[sink]
on = [0, 1]
";

#[test]
fn a_chain_without_messages_takes_its_computing_and_no_more() {
    let lab = Lab::new();
    // It does not stop within the test, and reading its clock takes no time.
    let machine = STOPPING.replace("period_us = 100000", "period_us = 100000000");
    lab.write("stopping.toml", &machine.replace("[processor]", "[processor]\npolling_us = 1e-6"));
    lab.write("image.toml", CHAIN_WITHOUT_MESSAGES);
    let words = ["pipeline", "image.toml", "--fabric", "sim:stopping.toml", "--period", "2ms"];
    let ended = lab.run(&[&words[..], &["--instances", "160", "--out", "run.jsonl"]].concat());
    // 0.99^160 is 20 %: 160 instances do not prove a miss rate of 1 %, 0.99^299 is 5 %.
    ended.refuses(3, &["2.00 ms is not refused", "takes 299 instances without a miss"]);
    let found = lab.measurements("run.jsonl");
    let of = |metric| median_of(&found, metric, "self-timed");
    // 16 rows of 16 elements are 512 operations: 5.12 us at 100 MFLOP/s.
    for metric in ["back-to-back", "busiest-processor"] {
        assert!((of(metric) - 5.12).abs() < 0.001, "{metric}: {}", of(metric));
    }
    assert!((of("back-to-back-per-computing") - 1.0).abs() < 0.001);
    let turns = found.iter().find(|m| m["metric"] == "back-to-back").unwrap();
    assert_eq!(turns["samples"].as_array().unwrap().len(), 1, "another would say the same");
    // 2 ms are 390.625 times that.
    assert!((of("period-per-computing") - 390.625).abs() < 0.1);
    for printed in ["back to back 5.12 µs a matrix", "the chain 1.00 times that", "390.62 times"] {
        assert!(ended.stdout.contains(printed), "{printed}: {ended:#?}");
    }
    let report = std::fs::read_to_string(lab.path("run.html")).unwrap();
    for printed in ["Back to back 5.12 µs a matrix", "the chain 1.00 times that", "390.62 times"] {
        assert!(report.contains(printed), "{printed} is not in the report");
    }
}

#[test]
fn a_real_machine_takes_nine_turns() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    lab.succeed(&[&["pipeline", "image.toml", "--out", "run.jsonl"][..], &SHORT].concat());
    let found = lab.measurements("run.jsonl");
    for metric in ["back-to-back", "busiest-processor", "messages-only", "hidden"] {
        let one = found.iter().find(|m| m["metric"] == metric).unwrap();
        let turns = one["samples"].as_array().unwrap();
        assert!(turns.len() == 9 && turns.iter().all(|us| us.as_f64().is_some()), "{one:#?}");
    }
}
