//! Tests a folder of results as a history, and the check of a new run against it.

use serde_json::{Value, json};

use crate::lab::{Ended, Lab};
use crate::results::brief;

/// Creates a history of `runs` runs on this machine, a day apart, with the times of a short run. From run `change` on
/// they take half as long again. What was timed beside them is left out: a busy machine can change its state within the
/// short run, and then no launch could be compared.
fn history(lab: &Lab, runs: usize, change: usize) {
    std::fs::create_dir(lab.path("past")).unwrap();
    brief(lab, "one.jsonl");
    let records = lab.records("one.jsonl");
    for run in 0..runs {
        let factor = if run < change { 1.0 } else { 1.5 };
        let mut text = String::new();
        for mut record in records.iter().filter(|record| record["kind"] != "end").cloned() {
            if record["kind"] == "run" {
                record["started"] = format!("2026-01-{:02}T12:00:00Z", run + 1).into();
                record["revision"] = format!("build{run}").into();
                text += &format!("{record}\n");
                continue;
            }
            for launch in 0..4 {
                let noise = 1.0 + 0.001 * ((run * 7 + launch * 3) % 10) as f64;
                record["launch"] = launch.into();
                record["turns"] = json!([{"samples": 1, "clock_share": 0.0}]);
                text += &format!("{}\n", scaled(&record, factor * noise));
            }
        }
        lab.write(&format!("past/{run:02}.jsonl"), &text);
    }
}

/// Returns a record whose times are longer by a factor, and whose rates are lower by it.
pub(crate) fn scaled(record: &Value, factor: f64) -> Value {
    let mut record = record.clone();
    let factor = if record["better"] == "lower" { factor } else { 1.0 / factor };
    for name in ["median", "ci_low", "ci_high", "mean", "min", "p99", "p999", "max"] {
        record[name] = (record[name].as_f64().unwrap() * factor).into();
    }
    // A rate that follows from a time has no samples.
    if record["samples"].as_array().is_some_and(|samples| !samples.is_empty()) {
        record["samples"] = json!([record["median"]]);
    }
    record
}

#[test]
fn a_change_is_found_where_it_is_and_told_in_every_format() {
    let lab = Lab::new();
    history(&lab, 20, 12);
    let shown =
        |words: &[&str]| lab.succeed(&[&["history", "--folder", "past"], words].concat()).stdout;
    let overview = shown(&[]);
    for part in [
        "20 runs, 2026-01-01T12:00:00Z to 2026-01-20T12:00:00Z",
        "2026-01-13 build12: +50",
        "worse",
    ] {
        assert!(overview.contains(part), "no '{part}' in\n{overview}");
    }
    assert!(overview.contains("5 of 5 numbers changed"), "{overview}");
    let runs = shown(&["ping-pong"]);
    assert!(runs.contains("2026-01-20T12:00:00Z") && runs.contains("build19"), "{runs}");
    let series: Value = serde_json::from_str(&shown(&["--json"])).unwrap();
    for one in series.as_array().unwrap() {
        assert_eq!(one["points"].as_array().unwrap().len(), 20);
        assert_eq!(one["changes"][0]["at"], 12, "{one}");
        assert_eq!(one["changes"].as_array().unwrap().len(), 1);
    }
    let bencher: Value = serde_json::from_str(&shown(&["--format", "bencher"])).unwrap();
    assert!(bencher["ping-pong time, 2 ranks, 8 B"]["latency"]["value"].as_f64().unwrap() > 0.0);
    assert!(
        shown(&["--format", "prometheus"]).contains("cornerstone_median{benchmark=\"ping-pong\"")
    );
    assert!(shown(&["--format", "github"]).contains("| ping-pong time, 2 ranks, 8 B |"));
    assert_eq!(shown(&["--html", "page.html"]), "page.html\n");
    let page = std::fs::read_to_string(lab.path("page.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 5);
    assert!(page.contains("build12") && !page.contains("<script"));
    lab.succeed(&["history", "--folder", "past", "--html", "page.html"]);
}

#[test]
fn files_that_cannot_be_read_and_clocks_that_jump_are_named_and_the_others_count() {
    let lab = Lab::new();
    history(&lab, 3, 9);
    lab.write("past/x-schema.jsonl", "{\"kind\":\"run\",\"schema_version\":99}\n");
    lab.write("past/x-text.jsonl", "hello\n");
    lab.write("past/x-empty.jsonl", "");
    let late = std::fs::read_to_string(lab.path("past/00.jsonl")).unwrap();
    lab.write("past/x-late.jsonl", &late.replace("2026-01-01T", "2199-01-01T"));
    let ended = lab.succeed(&["history", "--folder", "past"]);
    for part in [
        "x-schema.jsonl has schema version 99",
        "x-text.jsonl, line 1",
        "x-empty.jsonl",
        "x-late.jsonl' began at 2199",
    ] {
        assert!(ended.stderr.contains(part), "no '{part}': {ended:#?}");
    }
    assert!(ended.stdout.contains("4 runs"), "{ended:#?}");
    lab.run(&["history", "barrier", "--folder", "past"])
        .refuses(2, &["barrier", "there are ping-pong"]);
    lab.run(&["history", "--folder", "nowhere"]).refuses(2, &["nowhere"]);
    std::fs::create_dir(lab.path("empty")).unwrap();
    lab.run(&["history", "--folder", "empty"]).refuses(2, &["contains no run"]);
}

#[test]
fn hosts_with_one_processor_share_a_series_that_names_them() {
    let lab = Lab::new();
    history(&lab, 2, 9);
    let shown = || lab.succeed(&["history", "--folder", "past"]).stdout;
    assert!(!shown().contains("on the hosts"), "{}", shown());
    let text = std::fs::read_to_string(lab.path("past/01.jsonl")).unwrap();
    let host = lab.records("past/01.jsonl")[0]["environment"]["host"].to_string();
    let renamed = text.replace(&format!("\"host\":{host}"), "\"host\":\"abacus-7\"");
    lab.write("past/01.jsonl", &renamed);
    let shown = shown();
    assert!(shown.contains(": 2 runs,") && shown.contains("on the hosts"), "{shown}");
    assert!(shown.contains("abacus-7"), "{shown}");
}

#[test]
fn runs_of_other_machines_are_series_of_their_own() {
    let lab = Lab::new();
    history(&lab, 2, 9);
    let other = std::fs::read_to_string(lab.path("past/00.jsonl")).unwrap();
    let mut lines: Vec<Value> =
        other.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[0]["environment"]["processor"] = "Abacus 9000".into();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    lab.write("past/other.jsonl", &text);
    let shown = lab.succeed(&["history", "--folder", "past"]).stdout;
    assert!(
        shown.contains("Abacus 9000") && shown.contains(": 1 run,") && shown.contains(": 2 runs,"),
        "{shown}"
    );
}

/// A program that prints a table as the OSU micro-benchmarks do, with the content of the file `us`.
const PROGRAM: &str = "echo '# OSU MPI Latency Test v7.4'\necho '# Size          Avg Latency(us)'\n\
    echo \"8 $(cat us)\"\n";

fn check(lab: &Lab, more: &[&str]) -> Ended {
    lab.run(&[&["check", "--against", "past"], more, &["sh program"]].concat())
}

/// Returns a lab with a program whose history has ten runs of about 1 ms.
fn checked() -> Lab {
    let lab = Lab::new();
    lab.write("program", PROGRAM);
    for run in 0..10 {
        lab.write("us", &format!("1000.{run}"));
        let ended = check(&lab, &["--add"]);
        assert_eq!(ended.status, Some(0), "{ended:#?}");
    }
    lab
}

#[test]
fn a_number_that_is_slower_twice_fails_the_check_and_one_that_is_so_once_does_not() {
    let lab = Lab::new();
    history(&lab, 8, 99);
    // The same run, half as fast: the command only copies it to the requested place.
    let slow: String = lab
        .records("past/00.jsonl")
        .iter()
        .map(|record| match record["kind"] == "measurement" {
            true => format!("{}\n", scaled(record, 2.0)),
            false => format!("{record}\n"),
        })
        .collect();
    lab.write("slow.jsonl", &slow);
    std::fs::copy(lab.path("past/03.jsonl"), lab.path("same.jsonl")).unwrap();
    // A `cornerstone` that is a script: $1 is run, $2 selects the results, and the last word is their destination.
    lab.write(
        "cornerstone",
        "echo x >> count\nfrom=$2\ntest $2 = once && { from=same; test $(wc -l < count) = 1 && from=slow; }\n\
         while test $# -gt 1; do shift; done\ncp $from.jsonl $1\n",
    );
    let check = |which: &str| {
        let _ = std::fs::remove_file(lab.path("count"));
        lab.run(&["check", "--against", "past", &format!("sh cornerstone run {which}")])
    };
    let same = check("same");
    assert_eq!(same.status, Some(0), "{same:#?}");
    assert!(same.stdout.contains("5 numbers measured, of which 5 have a level"), "{same:#?}");
    let slow = check("slow");
    assert_eq!(slow.status, Some(1), "{slow:#?}");
    assert!(slow.stdout.contains("slower by more than 5 % in both measurements"), "{slow:#?}");
    let once = check("once");
    assert_eq!(once.status, Some(0), "{once:#?}");
    assert!(once.stdout.contains("slower only in the first measurement"), "{once:#?}");
}

/// Returns a lab whose history is one run of one launch of `program`, with the sizes 8 and 16 at 1 ms. The program then
/// takes this number of microseconds, for the size 8 alone.
fn with_a_short_history(us: &str) -> Lab {
    let lab = Lab::new();
    lab.write("program", &format!("{PROGRAM}echo \"16 $(cat us)\"\n"));
    lab.write("us", "1000");
    lab.succeed(&["check", "--against", "first", "--add", "sh program"]);
    let first = std::fs::read_dir(lab.path("first")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(first).unwrap();
    let kept = |line: &&str| !line.contains("\"launch\":") || line.contains("\"launch\":0");
    let text: String = text.lines().filter(kept).map(|line| format!("{line}\n")).collect();
    std::fs::create_dir(lab.path("past")).unwrap();
    lab.write("past/one.jsonl", &text);
    assert_eq!(lab.measurements("past/one.jsonl").len(), 2, "{text}");
    lab.write("program", PROGRAM);
    lab.write("us", us);
    lab
}

#[test]
fn what_is_undecided_or_no_longer_measured_is_named_in_every_format() {
    let lab = with_a_short_history("3000");
    let ended = check(&lab, &[]);
    assert_eq!(ended.status, Some(3), "{ended:#?}");
    for part in [
        "1 number measured, of which 1 has a level",
        "undecided, slower by more than 5 % or not",
        "2 more launches in the history, or 33 more launches now",
        "in the history, and not measured now",
        "Latency time, 16 B",
        "nothing is known to be slower by more than 5 %: 1 undecided, 1 not measured",
    ] {
        assert!(ended.stdout.contains(part), "no '{part}': {ended:#?}");
    }
    for (format, parts) in [
        ("github", ["| undecided: 2 more", "| Latency time, 16 B |  |  |  | missing"]),
        ("json", ["\"verdict\":\"undecided\"", "\"verdict\":\"missing\""]),
        ("prometheus", ["verdict=\"undecided\"", "verdict=\"missing\""]),
        ("bencher", ["\"undecided\": {", "\"missing\": {"]),
    ] {
        let ended = check(&lab, &["--format", format]);
        assert_eq!(ended.status, Some(3), "{ended:#?}");
        let named =
            ["undecided if slower: Latency time, 8 B", "not measured now: Latency time, 16"];
        let is_printed = parts.iter().all(|part| ended.stdout.contains(part));
        assert!(is_printed && named.iter().all(|name| ended.stderr.contains(name)), "{ended:#?}");
    }
}

#[test]
fn a_number_a_hundred_times_as_slow_fails_the_check_although_the_history_has_one_launch() {
    let ended = check(&with_a_short_history("100000"), &[]);
    assert_eq!(ended.status, Some(1), "{ended:#?}");
    assert!(ended.stdout.contains("slower by more than 5 % in both measurements"), "{ended:#?}");
    assert!(ended.stdout.contains("1 slower, 1 not measured"), "{ended:#?}");
}

#[test]
fn a_history_is_begun_and_one_of_another_machine_is_refused() {
    let lab = checked();
    assert_eq!(std::fs::read_dir(lab.path("past")).unwrap().count(), 10);
    // A program that does not report launches is launched six times, so that a change can be decided.
    let shown = lab.succeed(&["history", "Latency", "--folder", "past", "--json"]).json();
    assert_eq!(shown[0][0]["points"][0]["launches"].as_array().unwrap().len(), 6);
    lab.write("us", "3000.5");
    let ended = check(&lab, &["--format", "github"]);
    assert_eq!(ended.status, Some(1), "{ended:#?}");
    assert!(ended.stdout.contains("| Latency time, 8 B | 3.00 ms |"), "{ended:#?}");
    assert!(ended.stdout.contains("| +200 % | slower |"), "{ended:#?}");
    lab.run(&["check", "--against", "nowhere", "sh program"]).refuses(2, &["nowhere"]);
    lab.run(&["check", "--against", "past", "false"]).refuses(1, &["'false' failed", "status 1"]);
    lab.run(&["check", "--against", "past", "--within", "100ms", "sleep 100"])
        .refuses(1, &["--within"]);
    let ours = format!(
        "{} run ping-pong --sizes 8 --fabric sim:cluster",
        env!("CARGO_BIN_EXE_cornerstone")
    );
    lab.run(&["check", "--against", "past", &ours])
        .refuses(2, &["no run of this machine", "--add"]);
}
