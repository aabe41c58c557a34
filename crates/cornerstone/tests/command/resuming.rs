//! Tests what a resumed run takes from its results file, and what it does not.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::lab::{Lab, words};
use crate::results::{METRICS, brief};

#[test]
fn a_resumed_run_can_be_given_more_to_do() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    lab.succeed(&["run", "--resume", "a.jsonl", "--sizes", "8,16"]);
    let sizes: Vec<Value> =
        lab.measurements("a.jsonl")[METRICS..].iter().map(|m| m["size_bytes"].clone()).collect();
    assert_eq!(sizes, [16, 16], "time and rate of the one size that was missing");
}

/// Rewrites the header of a results file.
fn doctor(lab: &Lab, file: &str, change: impl Fn(&mut Value)) {
    let text = std::fs::read_to_string(lab.path(file)).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(first).unwrap();
    change(&mut header);
    lab.write(file, &format!("{header}\n{rest}"));
}

#[test]
fn a_run_of_another_machine_or_fabric_is_not_gone_on_with() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    doctor(&lab, "a.jsonl", |header| {
        header["environment"]["processor"] = "Abacus".into();
    });
    lab.run(&["run", "--resume", "a.jsonl"])
        .refuses(2, &["another machine", "Abacus", "cornerstone compare"]);
    brief(&lab, "b.jsonl");
    doctor(&lab, "b.jsonl", |header| header["fabric"]["name"] = "sim:paragon".into());
    lab.run(&["run", "--resume", "b.jsonl"]).refuses(2, &["sim:paragon", "local"]);
    brief(&lab, "c.jsonl");
    doctor(&lab, "c.jsonl", |header| header["environment"]["host"] = "elsewhere".into());
    let ended = lab.succeed(&["run", "--resume", "c.jsonl"]);
    assert!(ended.stderr.contains("note: the host changed"), "{ended:#?}");
}

#[test]
fn a_file_starts_no_program_and_opens_no_file_unless_the_command_line_says_so() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    lab.write("agent", "#!/bin/sh\ntouch started\nexit 1\n");
    let executable = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(lab.path("agent"), executable).unwrap();
    doctor(&lab, "a.jsonl", |header| {
        header["fabric"]["name"] = "tcp".into();
        let command = header["command"].as_array_mut().unwrap();
        let more = ["--fabric", "tcp", "--host", "elsewhere:2", "--agent=./agent", "--ranks", "2"];
        command.extend(more.map(Value::from));
    });
    let resume = ["run", "--resume", "a.jsonl"];
    lab.run(&resume)
        .refuses(2, &["--agent ./agent", "--fabric tcp", "--host elsewhere:2", "add it"]);
    assert!(!lab.path("started").exists());
    // A part of the options is not enough.
    let some = [&resume[..], &["--fabric", "tcp", "--host", "elsewhere:2"]].concat();
    lab.run(&some).refuses(2, &["with --agent ./agent:"]);
    assert!(!lab.path("started").exists());
    // With all of them the agent is started, so it would have been before.
    let all =
        [&some[..], &["--agent", "./agent", "--sizes", "16", "--listen", "127.0.0.1:0"]].concat();
    assert_ne!(lab.run(&all).status, Some(0));
    assert!(lab.path("started").exists());
}

#[test]
fn neither_resuming_nor_reporting_opens_a_machine_file_that_a_results_file_names() {
    let lab = Lab::new();
    lab.succeed(&words("run allreduce --sizes 8 --ranks 2 --fabric sim:cluster --out a.jsonl"));
    // Whoever opens this to read waits for a writer.
    assert!(Command::new("mkfifo").arg(lab.path("pipe.toml")).status().unwrap().success());
    doctor(&lab, "a.jsonl", |header| {
        header["fabric"]["name"] = "sim:pipe.toml".into();
        let command = header["command"].as_array_mut().unwrap();
        let fabric = command.iter_mut().find(|word| **word == "sim:cluster").unwrap();
        *fabric = "sim:pipe.toml".into();
    });
    lab.run(&["run", "--resume", "a.jsonl"]).refuses(2, &["--fabric sim:pipe.toml"]);
    lab.succeed(&["report", "a.jsonl"]);
}

#[test]
fn a_run_on_a_machine_file_is_resumed_with_that_file() {
    let lab = Lab::new();
    let text = std::fs::read_to_string("../../machines/cluster.toml").unwrap();
    lab.write("mine.toml", &text.replacen("name = \"cluster\"", "name = \"mine\"", 1));
    lab.succeed(&words("run ping-pong --sizes 8 --fabric sim:mine.toml --trace t --out a.jsonl"));
    let resume = "run --resume a.jsonl --sizes 8,16";
    lab.run(&words(resume)).refuses(2, &["--fabric sim:mine.toml"]);
    let ended = lab.succeed(&words(&format!("{resume} --fabric sim:mine.toml")));
    assert!(ended.stderr.contains("note: the run had --trace t; add it again"), "{ended:#?}");
}
