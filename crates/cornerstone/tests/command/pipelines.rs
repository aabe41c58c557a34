//! Processing chains as a user runs them.

use crate::lab::Lab;

const CHAIN: &str = "\
title = 'a small image'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[[stage]]
name = 'range'
functions = ['weight', 'fft', 'corner-turn']
[[stage]]
functions = ['fft']
";
/// Few instances of a period that any machine keeps.
const SHORT: [&str; 4] = ["--period", "100ms", "--instances", "4"];

fn pipelines() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines")
}

#[test]
fn a_chain_is_explained_without_being_run() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let ended = lab.succeed(&["pipeline", "image.toml", "--check"]);
    for expected in [
        "a small image: 2 stages on 4 ranks, a matrix of 32 x 16 elements (4096 bytes) each period",
        "rank 1: range, 32 rows of 16 elements each, then hands on columns as rows",
        "rank 3: sink, 16 x 32 elements",
    ] {
        assert!(ended.stdout.contains(expected), "{expected}\n{ended:#?}");
    }
}

#[test]
fn every_chain_that_comes_along_can_be_read() {
    let lab = Lab::new();
    for file in std::fs::read_dir(pipelines()).unwrap() {
        let path = file.unwrap().path();
        lab.succeed(&["pipeline", path.to_str().unwrap(), "--check"]);
    }
}

#[test]
fn a_period_of_a_chain_is_kept_up_with_checked_results() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = [&["pipeline", "image.toml", "--timing", "both", "--out", "run.jsonl"][..], &SHORT]
        .concat();
    lab.succeed(&words);
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
}

#[test]
fn the_hidden_communication_is_found_on_a_simulated_machine() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = [
        "pipeline",
        "image.toml",
        "--fabric",
        "sim:paragon-osf1-plain",
        "--instances",
        "100",
        "--check-results",
        "yes",
        "--out",
        "run.jsonl",
    ];
    lab.succeed(&words);
    let found = lab.measurements("run.jsonl");
    let period = |mode: &str| {
        let is_it =
            |m: &&serde_json::Value| m["metric"] == "period" && m["parameters"]["mode"] == mode;
        found.iter().find(is_it).unwrap_or_else(|| panic!("{mode}: {found:#?}"))["median"]
            .as_f64()
            .unwrap()
    };
    let (whole, functions, messages) =
        (period("self-timed"), period("functions only"), period("messages only"));
    assert!(whole >= functions, "{whole} {functions}");
    let hidden =
        found.iter().find(|m| m["metric"] == "hidden").unwrap()["median"].as_f64().unwrap();
    let right = 100.0 * (1.0 - (whole - functions) / messages).clamp(0.0, 1.0);
    assert!((hidden - right).abs() < 1e-9, "{hidden} {right}");
}

#[test]
fn each_granularity_is_a_measurement_and_one_that_does_not_fit_is_refused() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words =
        [&["pipeline", "image.toml", "--granularity", "4,16", "--out", "a.jsonl"][..], &SHORT]
            .concat();
    lab.succeed(&words);
    let found = lab.measurements("a.jsonl");
    for rows in [4, 16] {
        assert!(found.iter().any(|m| m["parameters"]["rows"] == rows), "{rows}: {found:#?}");
    }
    lab.run(&["pipeline", "image.toml", "--granularity", "5"])
        .refuses(2, &["5 rows in a message do not fit 'image.toml'", "1, 2, 4, 8, 16"]);
}

#[test]
fn what_is_wrong_with_a_chain_is_told_before_anything_runs() {
    let lab = Lab::new();
    lab.write("bad.toml", &CHAIN.replace("'fft']", "'ftt']"));
    lab.run(&["pipeline", "bad.toml"])
        .refuses(2, &["bad.toml, line 11: there is no function `ftt`", "docs/pipelines.md"]);
    lab.run(&["pipeline", "none.toml"]).refuses(2, &["cannot read the pipeline none.toml"]);
    lab.write("image.toml", CHAIN);
    lab.run(&["pipeline", "image.toml", "--period", "0"]).refuses(2, &["--period"]);
}

#[test]
fn a_chain_goes_on_without_its_file() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    lab.succeed(&[&["pipeline", "image.toml", "--out", "run.jsonl"][..], &SHORT].concat());
    let text = std::fs::read_to_string(lab.path("run.jsonl")).unwrap();
    lab.write("run.jsonl", &format!("{}\n", text.lines().next().unwrap()));
    std::fs::remove_file(lab.path("image.toml")).unwrap();
    lab.succeed(&["run", "--resume", "run.jsonl"]);
    assert!(!lab.measurements("run.jsonl").is_empty());
}
