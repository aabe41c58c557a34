//! Tests files of chains: read, explained, refused, and shown.

use super::{CHAIN, SHORT, write_paragon};
use crate::lab::Lab;

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
fn matrices_that_do_not_fit_the_memory_are_refused_before_anything_runs() {
    let lab = Lab::new();
    let huge =
        CHAIN.replace("rows = 32", "rows = 65536").replace("columns = 16", "columns = 65536");
    lab.write("huge.toml", &huge);
    let refused = lab.run(&["pipeline", "huge.toml", "--period", "1s"]);
    refused.refuses(
        2,
        &["of memory, but", "are available on this machine", "give the chain a smaller matrix"],
    );
}

#[test]
fn each_granularity_is_a_measurement_and_one_that_does_not_fit_is_refused() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = [&["pipeline", "image.toml", "--granularity=4,16", "--out", "a.jsonl"][..], &SHORT]
        .concat();
    lab.succeed(&words);
    let found = lab.measurements("a.jsonl");
    for rows in [4, 16] {
        assert!(found.iter().any(|m| m["parameters"]["rows"] == rows), "{rows}: {found:#?}");
    }
    lab.run(&["pipeline", "image.toml", "--granularity=5"])
        .refuses(2, &["5 rows in a message do not fit 'image.toml'", "1, 2, 4, 8, 16"]);
}

#[test]
fn the_tables_of_a_chain_fit_a_terminal() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    write_paragon(&lab);
    let words = ["pipeline", "image.toml", "--fabric", "sim:paragon.toml"];
    let ended = lab.succeed(&[&words[..], &["--instances", "100"]].concat());
    for line in ended.stdout.lines().filter(|line| !line.contains("late: ")) {
        let is_table = line.contains("self-timed") && !line.contains("pipeline chain=");
        assert!(!is_table || line.chars().count() <= 100, "{line}");
    }
    assert!(ended.stdout.contains("of the communication is hidden"), "{ended:#?}");
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
