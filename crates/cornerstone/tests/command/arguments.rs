//! Tests the command line: its help, and its refusals before anything is measured.

use std::process::Stdio;

use crate::lab::Lab;

#[test]
fn without_words_the_help_is_shown_and_the_status_says_usage() {
    let ended = Lab::new().run(&[]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.stderr.contains("Usage: cornerstone <COMMAND>"), "{ended:#?}");
}

#[test]
fn help_teaches_with_examples_and_exit_statuses() {
    let lab = Lab::new();
    let help = lab.succeed(&["--help"]).stdout;
    for word in ["Examples:", "cornerstone run", "Exit status:", "130", "compare"] {
        assert!(help.contains(word), "{word}");
    }
    let help = lab.succeed(&["run", "--help"]).stdout;
    for word in ["--resume", "0..1MiB", "--time-limit", "--format json", "did not converge"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn the_version_names_the_revision() {
    let printed = Lab::new().succeed(&["--version"]).stdout;
    let version = concat!("cornerstone ", env!("CARGO_PKG_VERSION"), " (");
    let revision = printed.strip_prefix(version).and_then(|rest| rest.strip_suffix(")\n"));
    let revision = revision.unwrap_or_else(|| panic!("{printed}"));
    let hash = revision.strip_suffix("-dirty").unwrap_or(revision);
    let is_hash = hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_hash || revision == "unknown", "{printed}");
    // mpiexec prints the same, but for its name.
    let of_mpiexec = Lab::new().succeed(&["mpiexec", "--version"]).stdout;
    assert_eq!(of_mpiexec, printed.replace("cornerstone", "mpiexec (Cornerstone)"));
}

#[test]
fn every_listed_benchmark_explains_itself() {
    let lab = Lab::new();
    let list = lab.succeed(&["list"]).stdout;
    let names: Vec<&str> = list
        .lines()
        .take_while(|line| *line != "from")
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 10, "{list}");
    for name in names {
        let text = lab.succeed(&["list", name]).stdout;
        assert!(text.starts_with(name) && text.lines().count() > 3, "{text}");
    }
}

#[test]
fn an_unknown_benchmark_gets_the_nearest_name() {
    let lab = Lab::new();
    lab.run(&["run", "pingpong"]).refuses(2, &["pingpong", "ping-pong"]);
    lab.run(&["list", "barier"]).refuses(2, &["barier", "barrier"]);
    lab.run(&["run", "zzzzzz"]).refuses(2, &["zzzzzz", "cornerstone list"]);
}

#[test]
fn a_benchmark_without_the_wanted_algorithm_is_refused_if_named_and_said_if_not() {
    let lab = Lab::new();
    let run = |words: &[&str]| {
        lab.run(&[&["run", "--fabric", "sim:ipsc", "--sizes", "8"], words].concat())
    };
    run(&["allreduce", "broadcast", "--algorithm", "ring"])
        .refuses(2, &["`broadcast` has no algorithm ring", "binomial", "omit broadcast"]);
    run(&["allreduce", "ping-pong", "--algorithm", "ring"])
        .refuses(2, &["`ping-pong` has no algorithm ring; it has none"]);
    // Each of several algorithms must be one of a benchmark.
    run(&["allreduce", "--algorithm", "ring,bruck"])
        .refuses(2, &["no benchmark of the selection has an algorithm `bruck`", "allreduce has"]);
    let said = run(&["collectives", "--ranks", "4", "--algorithm", "ring"]);
    assert_eq!(said.status, Some(0), "{said:#?}");
    let note =
        said.stderr.lines().find(|line| line.contains("left out, without the algorithm ring"));
    let note = note.unwrap_or_else(|| panic!("{said:#?}"));
    assert!(note.contains("broadcast") && !note.contains("allreduce"), "{note}");
}

#[test]
fn wrong_values_are_named_with_what_would_be_right() {
    let lab = Lab::new();
    for (words, expected) in [
        (["--ranks", "0"], vec!["--ranks", "at least 1 rank"]),
        (["--ranks", "many"], vec!["--ranks", "'many'"]),
        (["--sizes", "1parsec"], vec!["--sizes", "parsec", "KiB"]),
        (["--sizes", "8..4"], vec!["--sizes", "8..4"]),
        (["--sizes", ""], vec!["--sizes"]),
        (["--precision", "5"], vec!["--precision", "did you mean 5%?"]),
        (["--precision", "0"], vec!["--precision", "between 0 and 1"]),
        (["--confidence", "100%"], vec!["--confidence", "between 0 and 1"]),
        (["--time-limit", "0s"], vec!["--time-limit", "0s"]),
        (["--seed", "x"], vec!["--seed"]),
        (["--fabric", "token-ring"], vec!["--fabric", "token-ring", "local"]),
        (["--format", "xml"], vec!["--format", "table", "json", "csv"]),
        (["--rank", "2"], vec!["--rank", "--ranks"]),
    ] {
        let ended = lab.run(&["run", "ping-pong", words[0], words[1]]);
        ended.refuses(2, &expected);
    }
    assert!(!lab.path("results").exists(), "nothing was measured, so nothing is written");
}

#[test]
fn options_of_simulated_machines_are_refused_elsewhere() {
    for option in [
        ["--level", "packets"],
        ["--ranks-per-processor", "2"],
        ["--check-results", "no"],
        ["--trace", "t.json"],
    ] {
        let ended = Lab::new().run(&["run", "ping-pong", option[0], option[1]]);
        ended.refuses(2, &[option[0], "simulated", "--fabric sim:MACHINE"]);
    }
}

#[test]
fn a_simulated_run_is_at_the_level_and_in_the_places_asked_for() {
    let lab = Lab::new();
    let fabric = ["--fabric", "sim:cluster", "--ranks", "2", "--sizes", "1KiB", "--out", "a.jsonl"];
    let options = ["--level", "packets", "--ranks-per-processor", "2", "--check-results", "no"];
    lab.succeed(&[&["run", "ping-pong"], &fabric[..], &options[..]].concat());
    let text = std::fs::read_to_string(lab.path("a.jsonl")).unwrap();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let details = &header["fabric"]["details"];
    assert_eq!(details["level"], "packets", "{header}");
    assert_eq!(details["ranks_per_processor"], "2", "{header}");
}

#[test]
fn a_new_results_file_and_a_resumed_one_contradict_each_other() {
    let ended = Lab::new().run(&["run", "--out", "a.jsonl", "--resume", "b.jsonl"]);
    ended.refuses(2, &["--out", "--resume"]);
}

#[test]
fn more_ranks_than_the_fabric_can_hold_are_refused_at_once() {
    let ended = Lab::new().run(&["run", "ping-pong", "--ranks", "100000"]);
    ended.refuses(2, &["100000", "ranks", "--ranks"]);
}

#[test]
fn ranks_that_a_benchmark_cannot_run_with_are_refused() {
    let ended = Lab::new().run(&["run", "ping-pong", "--ranks", "1"]);
    ended.refuses(2, &["ping-pong", "2 ranks", "1"]);
}

#[test]
fn sizes_beyond_memory_are_refused_with_what_is_needed_and_what_there_is() {
    let lab = Lab::new();
    let ended = lab.run(&["run", "ping-pong", "--sizes", "8,4096GiB"]);
    ended.refuses(2, &["TiB", "GiB", "memory", "--sizes"]);
    let ended = lab.run(&["run", "all-to-all", "--sizes", "8388607TiB"]);
    ended.refuses(2, &["--sizes"]);
    assert!(!lab.path("results").exists());
}

#[test]
fn a_closed_pipe_ends_the_command_without_a_panic() {
    let lab = Lab::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = lab.command(&["list"]);
    let output = child.stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_full_standard_output_is_an_error() {
    let lab = Lab::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = lab.command(&["list"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cannot write to standard output"), "{said}");
}
