//! Tests patterns and corner turns as a user runs them.

use crate::lab::{Lab, Running, eventually, interrupt, kill_each_rank};

const PAIR: &str = "# Ping.\nblock = 4 KiB\n0: S 1 block R E\n1: R S 0 0 E\n";
/// Options for few instances of a period that any machine sustains, and a miss rate that they prove.
const SHORT: [&str; 6] = ["--period", "1s", "--instances", "2", "--miss-rate", "99%"];

fn patterns() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../patterns")
}

#[test]
fn a_pattern_is_explained_without_being_run() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let ended = lab.succeed(&["pmp", "pair.pmp", "--check"]);
    for expected in [
        "pair.pmp: 2 nodes, 2 messages and 4 KiB a period",
        "node 0 sends 4 KiB to 1, receives from 1",
        "stage 1: 0 -> 1 (4 KiB)",
    ] {
        assert!(ended.stdout.contains(expected), "{expected}\n{ended:#?}");
    }
    assert_eq!(std::fs::read_dir(lab.path(".")).unwrap().count(), 1, "no results file");
}

#[test]
fn a_period_of_a_pattern_is_kept_up_and_the_results_keep_the_pattern() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let words = [&["pmp", "pair.pmp", "--out", "run.jsonl"][..], &SHORT].concat();
    let ended = lab.succeed(&words);
    assert!(ended.stdout.contains("pmp"), "{ended:#?}");
    let found = lab.measurements("run.jsonl");
    assert!(found.iter().all(|m| m["benchmark"] == "pmp" && m["ranks"] == 2), "{found:#?}");
    assert!(found.iter().all(|m| m["parameters"]["pattern"] == "pair" && m["size_bytes"] == 4096));
    let with_search = found.iter().find(|m| m["search"].is_object()).expect("a search");
    assert_eq!(with_search["search"]["trials"][0]["instances"], 2);
    let header = &lab.records("run.jsonl")[0];
    assert_eq!(header["texts"]["pattern pair.pmp"], PAIR);
    let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
    assert!(page.contains("node 0 sends 4 KiB to node 1"), "the picture is in the report");
}

#[test]
fn the_shortest_period_is_found_on_a_simulated_machine_and_is_the_same_again() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let search = |out: &str| {
        let words =
            ["pmp", "pair.pmp", "--fabric", "sim:paragon-osf1", "--duration", "20ms", "--out", out];
        lab.succeed(&words);
        let found = lab.measurements(out);
        let of = |metric: &str| {
            found.iter().find(|m| m["metric"] == metric).unwrap()["median"].as_f64().unwrap()
        };
        // 4 KiB a period.
        assert!((of("rate") - 4096.0 / of("period")).abs() < 1e-9 * of("rate"));
        of("period")
    };
    assert_eq!(search("a.jsonl"), search("b.jsonl"));
}

#[test]
fn a_run_of_a_pattern_goes_on_without_its_file() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let words = [&["pmp", "pair.pmp", "--out", "run.jsonl"][..], &SHORT].concat();
    lab.succeed(&words);
    let text = std::fs::read_to_string(lab.path("run.jsonl")).unwrap();
    let header = text.lines().next().unwrap();
    lab.write("run.jsonl", &format!("{header}\n"));
    std::fs::remove_file(lab.path("pair.pmp")).unwrap();
    lab.succeed(&["run", "--resume", "run.jsonl"]);
    assert!(!lab.measurements("run.jsonl").is_empty());
}

#[test]
fn what_is_wrong_with_a_pattern_is_told_before_anything_runs() {
    let lab = Lab::new();
    lab.write("bad.pmp", "0: S 1 8 E\n1: R R E\n");
    let printed = [
        "bad.pmp:2:6:",
        "node 1 receives 2 messages, and 1 is sent to it",
        "^",
        "docs/patterns.md",
    ];
    lab.run(&["pmp", "bad.pmp"]).refuses(2, &printed);
    lab.write("pair.pmp", PAIR);
    let printed = ["'pair.pmp' has 2 nodes and runs with as many ranks, not 3"];
    lab.run(&["pmp", "pair.pmp", "--ranks", "3"]).refuses(2, &printed);
    lab.run(&["pmp", "none.pmp"]).refuses(2, &["cannot read the pattern 'none.pmp'"]);
    let nothing = [&["pmp", "pair.pmp"][..], &["--period", "0s"]].concat();
    assert_ne!(lab.run(&nothing).status, Some(0));
}

#[test]
fn a_period_that_cannot_be_kept_is_refused_and_its_results_are_kept() {
    let lab = Lab::new();
    lab.write("pair.pmp", PAIR);
    let words = ["pmp", "pair.pmp", "--period", "50ns", "--instances", "100", "--out", "run.jsonl"];
    lab.run(&words).refuses(1, &["pmp, 2 ranks: 50.0 ns is refused"]);
    let found = lab.measurements("run.jsonl");
    assert!(found.iter().all(|m| m["metric"] != "period"), "{found:#?}");
    let miss_rate = found.iter().find(|m| m["metric"] == "miss-rate").unwrap();
    assert!(miss_rate["median"].as_f64().unwrap() > 90.0, "{miss_rate:#?}");
    assert!(miss_rate["search"]["worst"][0]["late_us"].as_f64().unwrap() > 0.0);
}

/// Starts a long search, and waits for its first trial.
fn start(lab: &Lab) -> Running<'_> {
    lab.write("pair.pmp", PAIR);
    let words =
        ["pmp", "pair.pmp", "--duration", "300ms", "--searches", "50", "--out", "run.jsonl"];
    let running = lab.start(&words);
    assert!(eventually(|| trials(lab) > 0), "no trial was made");
    running
}

fn trials(lab: &Lab) -> usize {
    lab.records("run.jsonl").iter().filter(|record| record["kind"] == "trial").count()
}

fn trials_are_kept(lab: &Lab) {
    assert!(trials(lab) > 0);
}

#[test]
fn a_rank_that_dies_in_mid_period_ends_the_run_and_what_was_tried_is_kept() {
    kill_each_rank(start, "results so far", trials_are_kept);
}

#[test]
fn ctrl_c_ends_a_search_and_keeps_what_was_tried() {
    interrupt(("INT", 130), start, trials_are_kept);
}

#[test]
fn a_corner_turn_of_real_data_is_checked_on_every_fabric_here() {
    let lab = Lab::new();
    for (fabric, ranks) in [("local", "2"), ("sim:paragon-osf1", "4")] {
        let out = format!("{ranks}.jsonl");
        let words = ["corner-turn", "--matrix", "16x32", "--element", "4", "--fabric", fabric];
        let rest = ["--ranks", ranks, "--out", &out];
        lab.succeed(&[&words[..], &rest, &SHORT].concat());
        let found = lab.measurements(&out);
        assert!(!found.is_empty());
        assert!(found.iter().all(|m| m["parameters"]["order"] == "balanced"), "{found:#?}");
    }
    let untouched = ["corner-turn", "--ranks", "4", "--fabric", "sim:paragon-osf1"];
    lab.succeed(&[&untouched[..], &["--check-results", "no"], &SHORT].concat());
    let words = ["corner-turn", "--ranks", "2", "--matrix", "15x16"];
    let ended = lab.run(&[&words[..], &SHORT].concat());
    ended.refuses(1, &["a matrix of 15 x 16 cannot be shared evenly by 2 ranks"]);
}

#[test]
fn the_pattern_of_a_corner_turn_is_written_and_runs_as_the_messages_alone_do() {
    let lab = Lab::new();
    let words = ["corner-turn", "--ranks", "8", "--order", "recursive", "--pattern-to", "ct.pmp"];
    lab.succeed(&words);
    let ended = lab.succeed(&["pmp", "ct.pmp", "--check"]);
    // Table 6.1: 8 nodes send messages of 1/8 MB.
    assert!(ended.stdout.contains("8 nodes, 56 messages and 7 MiB a period"), "{ended:#?}");
    assert!(ended.stdout.contains("node 0 receives from 7, sends 128 KiB to 7"), "{ended:#?}");
    let period = |words: &[&str], out: &str| {
        let common = ["--fabric", "sim:paragon-osf1", "--duration", "500ms"];
        lab.succeed(&[words, &common, &["--out", out]].concat());
        let found = lab.measurements(out);
        found.iter().find(|m| m["metric"] == "period").unwrap()["median"].clone()
    };
    let alone = ["corner-turn", "--ranks", "8", "--order", "recursive", "--messages-only"];
    assert_eq!(period(&["pmp", "ct.pmp"], "a.jsonl"), period(&alone, "b.jsonl"));
    lab.run(&["corner-turn", "--ranks", "2", "--in-step"])
        .refuses(2, &["--in-step is for patterns"]);
    lab.run(&["corner-turn", "--ranks", "6", "--order", "recursive", "--messages-only"])
        .refuses(2, &["takes 2, 4, 8, 16 ... nodes, not 6"]);
}

#[test]
fn every_pattern_that_comes_along_is_sound_explains_itself_and_is_as_it_is_made() {
    let lab = Lab::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(patterns()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{path:?} begins with what it is");
        lab.succeed(&["pmp", path.to_str().unwrap(), "--check"]);
        let name = path.file_stem().unwrap().to_str().unwrap();
        for (prefix, order) in
            [("corner-turn-", "recursive"), ("balanced-corner-turn-", "balanced")]
        {
            let Some(ranks) = name.strip_prefix(prefix) else { continue };
            lab.succeed(&[
                "corner-turn",
                "--ranks",
                ranks,
                "--order",
                order,
                "--pattern-to",
                "made.pmp",
            ]);
            assert_eq!(text, std::fs::read_to_string(lab.path("made.pmp")).unwrap(), "{name}");
        }
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}
