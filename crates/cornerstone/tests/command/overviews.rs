//! Tests runs without names, which measure an overview, runs of everything, and cases that a machine cannot have.

use crate::lab::{Lab, Running, eventually, interrupt};

#[test]
fn a_run_without_names_is_an_overview_that_fits_a_screen() {
    let lab = Lab::new();
    let ended = lab.succeed(&["run", "--fabric", "sim:cluster", "--out", "a.jsonl"]);
    let lines = ended.stdout.lines().count() + ended.stderr.lines().count();
    assert!(lines <= 30, "{ended:#?}");
    for part in
        ["the simulated machine cluster", "message of 8 B, half a round trip", "allreduce of 8 B"]
    {
        assert!(ended.stdout.contains(part), "no '{part}' in {ended:#?}");
    }
    // What a simulated machine cannot show is listed, and the last lines say what to do next.
    assert!(ended.stderr.contains("note: not measured here: peak precision=double"), "{ended:#?}");
    let next = ended.stderr.lines().rev().take(2).collect::<Vec<_>>();
    assert!(next[1].starts_with("next     open the report"), "{ended:#?}");
    assert!(next[0].contains("`cornerstone compare a.jsonl LATER`"), "{ended:#?}");
    // Each number of the table is exact: a simulated machine measures the same in each run.
    let numbers: Vec<&str> = ended.stdout.lines().filter(|line| line.contains(" rank")).collect();
    let cases = lab.measurements("a.jsonl").iter().filter(|m| m["metric"] == "time").count();
    assert_eq!(numbers.len(), cases, "{ended:#?}");
    assert!(numbers.iter().all(|line| line.contains(" exact")), "{ended:#?}");
    assert!(ended.stdout.contains(&format!("all {cases} are exact")), "{ended:#?}");
    lab.succeed(&["report", "a.jsonl", "--output", "page.html"]);
    let compared = lab.succeed(&["compare", "a.jsonl", "a.jsonl"]).stdout;
    assert!(compared.contains("0 slower, 0 faster"), "{compared}");
}

#[test]
fn the_cases_of_the_overview_are_fixed() {
    let lab = Lab::new();
    for option in [["--sizes", "8"], ["--only", "from=0"], ["--algorithm", "ring"]] {
        let words = ["run", option[0], option[1]];
        lab.run(&words).refuses(2, &[option[0], "overview", "cornerstone run everything"]);
    }
    lab.run(&["run", "everythin"]).refuses(2, &["did you mean `everything`?"]);
}

#[test]
fn work_without_a_rate_is_refused_by_one_sentence() {
    let lab = Lab::new();
    for (name, why) in [
        ("copy", "its file lacks `copy_mb_per_s` in the table `processor`"),
        ("fft", "its file lacks `fft_mflops` in the table `processor`"),
        ("corner-turn-memory", "its file lacks `corner_turn_mb_per_s` in the table `processor`"),
        ("dhrystone", "does not run programs"),
        ("peak", "does not run programs"),
    ] {
        let file = format!("{name}.jsonl");
        let ended = lab.run(&["run", name, "--fabric", "sim:ipsc", "--out", &file]);
        ended.refuses(1, &["nothing was measured: ", why]);
    }
}

#[test]
fn cases_that_a_machine_cannot_have_are_skipped_and_listed() {
    let lab = Lab::new();
    // Only neighbours can send to each other: of four ranks, rank 3 has no channel to rank 0.
    let words =
        ["run", "incast", "ping-pong", "--fabric", "sim:mark-iii", "--ranks", "4", "--sizes", "8"];
    let ended = lab.succeed(&[&words[..], &["--out", "a.jsonl"]].concat());
    assert!(ended.stderr.contains("note: not measured here: incast"), "{ended:#?}");
    assert!(ended.stderr.contains("its operating system passes no messages on"), "{ended:#?}");
    let measured = lab.measurements("a.jsonl");
    assert!(measured.iter().any(|m| m["benchmark"] == "ping-pong"), "{ended:#?}");
}

/// A simulated run of minutes.
fn simulated(lab: &Lab) -> Running<'_> {
    let running = lab.start(&[
        "run",
        "ping-pong",
        "traffic",
        "--fabric",
        "sim:ipsc",
        "--ranks",
        "16",
        "--sizes",
        "8",
        "--out",
        "run.jsonl",
    ]);
    assert!(eventually(|| !lab.measurements("run.jsonl").is_empty()), "nothing was measured");
    running
}

#[test]
fn a_request_to_terminate_ends_a_simulation_and_keeps_what_it_measured() {
    interrupt(("TERM", 143), simulated, |lab| assert!(!lab.measurements("run.jsonl").is_empty()));
}
