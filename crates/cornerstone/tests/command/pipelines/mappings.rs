//! Tests a chain over growing numbers of ranks.

use crate::lab::Lab;

/// Returns a small mapping: 64 x 64 points.
fn small() -> String {
    let text = std::fs::read_to_string(mapping()).unwrap();
    let text = text.replace("rows = 512", "rows = 64").replace("columns = 512", "columns = 64");
    text.replace("rows_per_message = 32", "rows_per_message = 16")
}

fn mapping() -> String {
    format!("{}/../../pipelines/scalable-mapping.toml", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the median of a metric of the mapping over `nodes` ranks a stage, or of a part of it.
fn median(found: &[serde_json::Value], (nodes, part): (u32, &str), metric: &str) -> f64 {
    let of = |m: &&serde_json::Value| {
        let parameters = &m["parameters"];
        m["metric"] == metric && parameters["nodes"] == nodes && parameters["part"] == part
    };
    let one =
        found.iter().find(of).unwrap_or_else(|| panic!("{nodes} {part} {metric}: {found:#?}"));
    one["median"].as_f64().unwrap()
}

#[test]
fn a_mapping_is_doubled_by_one_command_and_its_limiting_stage_is_told() {
    let lab = Lab::new();
    lab.write("small.toml", &small());
    let words =
        ["--doublings", "1", "--stages-alone", "--copies", "--fabric", "sim:paragon-osf1-plain"];
    let more = ["--instances", "20", "--out", "run.jsonl"];
    let ended = lab.succeed(&[&["pipeline", "small.toml"][..], &words, &more].concat());
    let found = lab.measurements("run.jsonl");
    let median = |nodes, part: &str, metric| median(&found, (nodes, part), metric);
    // 32 rows of 64 points a rank at 57.5 MFLOP/s: 32 x 1920 / 57.5 = 1068.5 us, for any number of ranks. Pauses of 112
    // us in each 10 ms add 1.1 %, and one more pause in a round of some 15 matrices 0.7 %.
    for nodes in [2, 4] {
        let first_us = median(nodes, "1 row FFT", "busiest-processor");
        assert!((1.0..1.019).contains(&(first_us / 1_068.5)), "{nodes}: {first_us}");
    }
    // Each of 4 ranks has 16 rows of 128 points: 7/6 as much as 32 of 64.
    let last = |nodes| median(nodes, "3 column FFT", "busiest-processor");
    assert!((last(4) / last(2) - 7.0 / 6.0).abs() < 0.01, "{} {}", last(2), last(4));
    let copy = median(4, "one of 2 copies", "period");
    assert_eq!(median(4, "one of 2 copies", "period-in-turn"), copy / 2.0);
    // One copy takes as long for a matrix as the doubled chain takes for two.
    assert!((copy / 2.0 / median(4, "chain", "period") - 1.0).abs() < 0.3, "{copy}");
    for printed in
        ["The chain over more ranks", "over 4 ranks a stage ", " limits the period: it takes "]
    {
        assert!(ended.stdout.contains(printed), "{printed}\n{}", ended.stdout);
    }
}

/// A machine on which only transforms, messages and polls for messages take time.
const ENDPOINTS: &str = "\
name = \"endpoints\"
title = \"a machine whose messages cost processor time\"
[processor]
polling_us = 0.1
fft_mflops = 143.36
corner_turn_mb_per_s = 1000000
[endpoint]
send_us = 1
receive_us = 1
[network]
shape = \"switch\"
link_mb_per_s = 100000
[[source]]
of = [\"processor\", \"endpoint\", \"network\"]
kind = \"assumed\"
from = \"a test\"
";

#[test]
fn a_mapping_over_2_to_8_ranks_a_stage_is_right_and_computes_as_long_as_its_transforms_say() {
    let lab = Lab::new();
    let sizes = [("rows = 512", "rows = 64"), ("columns = 512", "columns = 128")];
    let text = std::fs::read_to_string(mapping()).unwrap();
    let text = sizes.iter().fold(text, |text, (from, to)| text.replace(from, to));
    lab.write("small.toml", &text.replace("rows_per_message = 32", "rows_per_message = 8"));
    lab.write("endpoints.toml", ENDPOINTS);
    let words = ["pipeline", "small.toml", "--doublings", "2", "--check-results", "yes"];
    let more = ["--fabric", "sim:endpoints.toml", "--instances", "4", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &more].concat());
    let found = lab.measurements("run.jsonl");
    // 64 rows of 128 points over two ranks: over k ranks, one of the first stage has 32 rows of 128 points, one of the
    // last 128 / k rows of 32 k points. A row of n points has 5 n log2 n operations.
    let transform_us =
        |rows: u32, points: u32| f64::from(rows * 5 * points * points.ilog2()) / 143.36;
    for k in [2, 4, 8] {
        let expected_us = transform_us(32, 128).max(transform_us(128 / k, 32 * k));
        let computing_us = median(&found, (k, "chain"), "busiest-processor");
        // A rank polls for messages once, which takes `polling_us`.
        assert!((0.0..0.2).contains(&(computing_us - expected_us)), "{k}: {computing_us}");
    }
}

#[test]
fn a_mapping_that_cannot_be_doubled_so_often_is_refused() {
    let lab = Lab::new();
    let refused = lab.run(&["pipeline", &mapping(), "--doublings", "4"]);
    refused.refuses(
        2,
        &["with matrices of 8192 x 512", "which are no whole number of messages of 32 rows"],
    );
}
