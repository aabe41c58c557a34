//! Tests `cornerstone launch --report`, `--trace` and `--check` with programs of a known profile (`explained.c`). No
//! test asserts a time beyond its order: a rank that sleeps for 50 ms makes another wait for more than 25.

use std::path::Path;

use serde_json::Value;

use crate::lab::Lab;
use crate::launching::{lab_with, library, line_with, place_in, run_program as run};
use crate::predictions::other_mpi;

const SOURCE: &str = include_str!("explained.c");

/// Options of each fabric, and of 4 ranks.
pub(crate) const VARIANTS: [&[&str]; 4] = [
    &["-n", "4"],
    &["-n", "4", "--fabric", "tcp"],
    &["-n", "4", "--fabric", "cluster"],
    &["-n", "4", "--fabric", "sim:cluster"],
];

/// Returns a lab with the program; `None` if our libraries are not built.
pub(crate) fn prepared(test: &str) -> Option<Lab> {
    lab_with(test, SOURCE)
}

/// Returns the JSON report of a run that succeeds.
pub(crate) fn reported(lab: &Lab, options: &[&str], name: &str) -> Value {
    let ended = run(lab, &[options, &["--report=report.json"]].concat(), name);
    assert_eq!(ended.status, Some(0), "{name} {options:?}: {ended:#?}");
    json(lab)
}

fn json(lab: &Lab) -> Value {
    let text = std::fs::read_to_string(lab.path("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "cornerstone-program-1");
    report
}

/// Returns the place at which a function of the program calls, in the words of the report.
pub(crate) fn place(function: &str, remark: &str) -> String {
    place_in(SOURCE, function, remark)
}

pub(crate) fn rows<'a>(report: &'a Value, table: &str) -> &'a Vec<Value> {
    report[table].as_array().unwrap_or_else(|| panic!("{table} in {report}"))
}

/// Returns the row of the longest wait of a rank.
#[track_caller]
fn wait_of(report: &Value, rank: usize) -> &Value {
    let found = rows(report, "waits").iter().find(|row| row["rank"] == rank);
    found.unwrap_or_else(|| panic!("rank {rank} waits for nobody: {report:#}"))
}

/// Returns the number of calls of a function, by all ranks.
fn calls(report: &Value, function: &str) -> u64 {
    let of = rows(report, "calls").iter().filter(|row| row["function"] == function);
    of.map(|row| row["calls"].as_u64().unwrap()).sum()
}

#[test]
fn a_late_sender_is_named_with_both_calls_on_every_fabric() {
    let Some(lab) = prepared("a late sender is named") else { return };
    for variant in VARIANTS {
        let report = reported(&lab, variant, "sender");
        let row = wait_of(&report, 1);
        assert_eq!(row["kind"], "late sender", "{variant:?}");
        assert_eq!((&row["for_rank"], &row["times"]), (&0.into(), &4.into()), "{variant:?}: {row}");
        assert_eq!(
            (&row["function"], &row["for_function"]),
            (&"MPI_Recv".into(), &"MPI_Send".into())
        );
        assert_eq!(row["place"], place("sender", "receive"), "{variant:?}");
        assert_eq!(row["for_place"], place("sender", "send"), "{variant:?}");
        // Four times 50 ms, less the earlier start of the sender; the first may be short.
        assert!(row["total_s"].as_f64().unwrap() > 0.075, "{variant:?}: {row}");
        // The path is mostly in rank 0, which sleeps outside of MPI.
        let path = &report["critical_path"];
        let first = &path["by_rank"][0];
        assert_eq!(first["rank"], 0);
        assert!(first["total_s"].as_f64() > path["length_s"].as_f64().map(|s| s / 2.0), "{path}");
        assert!(path["outside_s"].as_f64().unwrap() > 0.15, "{path}");
        assert_eq!(
            report["messages"],
            serde_json::json!([{"from": 0, "to": 1, "messages": 4, "bytes": 16}])
        );
        assert_eq!(report["sizes"][0]["from_bytes"], 4);
        assert_eq!(report["sizes"][0]["count"], 4);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn late_receivers_collectives_and_several_requests_are_told_apart() {
    let Some(lab) = prepared("late receivers and collectives") else { return };
    let report = reported(&lab, VARIANTS[0], "receiver");
    let row = wait_of(&report, 0);
    assert_eq!((&row["kind"], &row["for_rank"]), (&"late receiver".into(), &1.into()), "{row}");
    assert_eq!(row["place"], place("receiver", "synchronous"));
    assert!(row["total_s"].as_f64().unwrap() > 0.025, "{row}");

    let report = reported(&lab, VARIANTS[0], "collective");
    for rank in [0, 1, 3] {
        let of_rank = rows(&report, "waits").iter().filter(|row| row["rank"] == rank);
        let late: Vec<&Value> =
            of_rank.filter(|row| row["total_s"].as_f64().unwrap() > 0.025).collect();
        assert_eq!(late.len(), 2, "rank {rank}: {report:#}");
        assert!(late.iter().all(|row| row["kind"] == "collective" && row["for_rank"] == 2));
        let mut places: Vec<&str> = late.iter().map(|row| row["place"].as_str().unwrap()).collect();
        places.sort_unstable();
        let mut expected = [place("collective", "barrier"), place("collective", "ibarrier")];
        expected.sort_unstable();
        assert_eq!(places, expected);
    }

    let report = reported(&lab, VARIANTS[0], "requests");
    let row = wait_of(&report, 0);
    assert_eq!((&row["kind"], &row["function"]), (&"late sender".into(), &"MPI_Waitall".into()));
    assert_eq!(row["for_place"], place("requests", "isend"));
    assert_eq!(row["times"], 1, "of several requests the last one counts: {row}");
}

#[test]
fn messages_are_counted_between_ranks_of_the_run_whatever_the_communicator() {
    let Some(lab) = prepared("messages between ranks of the run") else { return };
    for variant in VARIANTS {
        let report = reported(&lab, variant, "reversed");
        // Rank 0 of the other communicator is rank 3.
        let pair = serde_json::json!([{"from": 3, "to": 2, "messages": 1, "bytes": 100}]);
        assert_eq!(report["messages"], pair, "{variant:?}");
    }
}

#[test]
fn all_kinds_of_calls_are_counted_and_disturb_nothing() {
    let Some(lab) = prepared("all kinds of calls are counted") else { return };
    for variant in VARIANTS {
        let report = reported(&lab, &[variant, &["--check"]].concat(), "much");
        for (function, times) in [
            ("MPI_Startall", 40),
            ("MPI_Waitall", 40),
            ("MPI_Sendrecv", 8),
            ("MPI_Put", 4),
            ("MPI_Win_fence", 8),
            ("MPI_Allreduce", 4),
            ("MPI_Finalize", 4),
        ] {
            assert_eq!(calls(&report, function), times, "{function} {variant:?}");
        }
        // Ten persistent messages, an exchange, a put and a send to the next rank.
        let pairs = rows(&report, "messages");
        assert!(pairs.iter().all(|pair| pair["messages"] == 13), "{pairs:?}");
        assert_eq!(report["findings"], serde_json::json!([]), "{variant:?}");
        let ranks = rows(&report, "by_rank");
        assert_eq!(ranks.len(), 4);
        for row in ranks {
            let second = |name: &str| row[name].as_f64().unwrap();
            assert_eq!(row["state"], "finalized");
            assert!(second("mpi_s") > 0.0 && second("memory_mib") > 0.1, "{row}");
            assert!((second("mpi_s") + second("outside_s") - second("run_s")).abs() < 1e-6);
        }
    }
}

#[test]
fn a_program_that_dies_aborts_or_hangs_leaves_what_was_seen() {
    let Some(lab) = prepared("a program that dies leaves what was seen") else { return };
    let options = ["-n", "3", "--report=report.json", "--report=page.html"];
    for fabric in ["local", "tcp", "cluster"] {
        let options = [&options[..], &["--fabric", fabric]].concat();
        let ended = run(&lab, &options, "dies");
        ended.refuses(128 + 9, &["rank 1", "killed"]);
        let report = json(&lab);
        assert_eq!(calls(&report, "MPI_Bcast"), 3, "{fabric}");
        assert!(report["outcome"].as_str().unwrap().contains("killed"), "{report}");
        assert_eq!(report["by_rank"][1]["state"], "running");
        let page = std::fs::read_to_string(lab.path("page.html")).unwrap();
        assert!(page.contains("MPI_Bcast"));
    }
    run(&lab, &options, "aborts").refuses(7, &["rank 1"]);
    assert_eq!(json(&lab)["by_rank"][1]["state"], "aborted");
    let words = [
        "all ranks wait, and no message is under way",
        "rank 0 waits in MPI_Recv (stuck, program.c:",
    ];
    run(&lab, &options, "stuck").refuses(122, &words);
    assert_eq!(rows(&json(&lab), "by_rank").len(), 3);
    assert!(lab.becomes_empty());
}

#[test]
fn very_many_places_and_calls_are_counted_in_bounded_memory() {
    let Some(lab) = prepared("very many places and calls") else { return };
    let report = reported(&lab, &["-n", "1"], "places");
    // This includes MPI_Finalize, for which there may have been no room either.
    let rows = rows(&report, "calls");
    assert_eq!(rows.iter().map(|row| row["calls"].as_u64().unwrap()).sum::<u64>(), 5121);
    let counted = calls(&report, "MPI_Barrier");
    assert!((3500..4096).contains(&counted), "{counted}");
    assert!(rows.iter().any(|row| row["place"] == "other places"));
    let report = reported(&lab, &["-n", "2"], "calls");
    assert_eq!(calls(&report, "MPI_Sendrecv"), 2_000_000);
    let remark = report["remarks"][0].as_str().unwrap();
    assert!(remark.contains("critical path are those of the first"), "{remark}");
    // Time of unknown calls is not on the path.
    assert!(report["critical_path"]["length_s"].as_f64() < report["run_s"].as_f64(), "{report}");
}

#[test]
fn the_summary_fits_a_screen_and_the_page_has_every_section() {
    let Some(lab) = prepared("the summary and the page") else { return };
    let ended = run(&lab, &["-n", "4", "--report"], "sender");
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    let words = &ended.stderr;
    assert!(words.lines().count() <= 50, "{words}");
    for part in [
        "4 ranks, local",
        "MPI_Recv",
        &place("sender", "receive"),
        "for rank 0 (late sender), which came with MPI_Send",
        "critical path: ",
        "program-report.html",
    ] {
        assert!(words.contains(part), "no {part} in {words}");
    }
    let page = std::fs::read_to_string(lab.path("program-report.html")).unwrap();
    for part in ["<svg", "Who waits for whom", "Critical path", "heat-8", "late sender"] {
        assert!(page.contains(part), "no {part}");
    }
    for outside in ["http://", "https://", "src="] {
        let body = page.split("</head>").nth(1).unwrap().split("<script").next().unwrap();
        assert!(!body.contains(outside), "{outside}");
    }
}

#[test]
fn the_trace_has_calls_arrows_and_the_path() {
    let Some(lab) = prepared("the trace") else { return };
    let ended = run(&lab, &["-n", "2", "--trace", "trace.json"], "sender");
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    let text = std::fs::read_to_string(lab.path("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |phase: &str, what: &str| {
        let is_it =
            |event: &&Value| event["ph"] == phase && event["name"].as_str().unwrap().contains(what);
        events.iter().filter(is_it).count()
    };
    assert_eq!(count("X", &format!("MPI_Recv ({})", place("sender", "receive"))), 4);
    assert_eq!(count("X", "MPI_Send ("), 4);
    assert_eq!((count("s", "4 bytes, 0 to 1"), count("f", "4 bytes, 0 to 1")), (4, 4));
    assert!(count("X", "rank 0") >= 1);
}

/// Returns the lines with mistakes. A simulation also prints its times.
fn checks(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains(": check: ")).collect()
}

/// Tests a run in which computing takes no time, so that all time is sleep.
#[test]
fn the_report_of_a_simulated_run_is_in_virtual_time() {
    let Some(lab) = prepared("a report in virtual time") else { return };
    let simulated = ["-n", "4", "--fabric", "sim:cluster", "--compute", "none"];
    let report = reported(&lab, &simulated, "sender");
    let row = wait_of(&report, 1);
    let near = |value: &Value, expected: f64| {
        let s = value.as_f64().unwrap();
        assert!((s - expected).abs() < 0.002, "{s} for {expected} in {report:#}");
    };
    // The sleeps of rank 0. The messages take very little time in comparison.
    near(&row["total_s"], 0.2);
    near(&report["critical_path"]["length_s"], 0.2);
    for rank in rows(&report, "by_rank") {
        near(&rank["start_s"], 0.0);
        near(&rank["run_s"], 0.2);
        near(&rank["outside_s"], if rank["rank"] == 0 { 0.2 } else { 0.0 });
    }
    let limits = [&simulated[..], &["--report=other.json", "--limits", "report.json"]].concat();
    run(&lab, &limits, "sender").refuses(2, &["--limits", "this machine"]);
    assert!(!lab.path("other.json").exists());
}

#[test]
fn mistakes_in_the_use_of_buffers_are_told_with_both_calls_and_others_are_not() {
    let Some(lab) = prepared("mistakes in the use of buffers") else { return };
    for variant in VARIANTS {
        let ended = run(&lab, &[variant, &["--check"]].concat(), "mistakes");
        ended.refuses(1, &["--check found 3 mistakes"]);
        let mistakes =
            |remark: &str| format!("program.c:{}", line_with(SOURCE, &format!("// {remark}")));
        let mut lines = checks(&ended.stderr);
        lines.sort_unstable();
        assert_eq!(lines.len(), 3, "{lines:?}");
        let expected = [
            ("rank 0: the 32 bytes that MPI_Issend", "changed", "ended"),
            ("rank 1: MPI_Irecv (mistakes, ", "second", "first"),
            ("rank 1: MPI_Isend (mistakes, ", "third", "second"),
        ];
        for (line, (words, one, other)) in lines.iter().zip(expected) {
            assert!(line.contains(words), "{line}");
            assert!(line.contains(&mistakes(one)) && line.contains(&mistakes(other)), "{line}");
        }
        for name in ["correct", "order"] {
            let ended = run(&lab, &[variant, &["--check"]].concat(), name);
            let nothing = "cornerstone: no mistakes found";
            let is_all =
                ended.stderr.trim_end().lines().count() == 1 || variant.contains(&"sim:cluster");
            assert!(ended.stderr.contains(nothing), "{name} {variant:?}: {ended:#?}");
            assert!(ended.status == Some(0) && is_all, "{name} {variant:?}: {ended:#?}");
            assert!(checks(&ended.stderr).is_empty(), "{name} {variant:?}: {ended:#?}");
        }
    }
}

#[test]
fn a_program_of_another_kind_is_said_to_be_one_and_runs_all_the_same() {
    if library("a program of another kind").is_none() {
        return;
    }
    let lab = Lab::new();
    let ended = lab.run(&["launch", "-n", "2", "--report", "sh", "-c", "echo done"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(0), "done\ndone\n"), "{ended:#?}");
    assert!(ended.stderr.contains("no rank has called MPI_Init of libmpi_abi.so.1"), "{ended:#?}");
    assert!(lab.path("sh-report.html").exists());
}

#[test]
fn programs_whose_calls_cannot_be_recorded_are_refused_before_they_start() {
    if library("programs whose calls cannot be recorded").is_none() {
        return;
    }
    let lab = Lab::new();
    for (name, words) in [
        ("libmpi.so.12", ["libmpi.so.12", "MPICH are not recorded", "Cornerstone's mpicc"]),
        ("libmpi.so.40", ["libmpi.so.40", "whose calls are not recorded", "libmpi_abi.so.1"]),
    ] {
        let program = other_mpi(&lab, name);
        for option in ["--report", "--check", "--trace=trace.json"] {
            let ended = lab.run(&["launch", "-n", "2", option, program.to_str().unwrap()]);
            ended.refuses(2, &words);
        }
    }
    assert!(!lab.path("trace.json").exists() && !lab.path("caller-report.html").exists());
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_starts() {
    if library("what cannot be written").is_none() {
        return;
    }
    let lab = Lab::new();
    lab.write("mine.html", "my own page");
    lab.write("mine.json", "{}");
    std::fs::create_dir(lab.path("folder")).unwrap();
    for (option, words) in [
        ("--report=folder", "is a folder"),
        ("--report=no/such/place.html", "no/such/place.html"),
        ("--report=page.pdf", "ends in .html"),
        ("--report=mine.html", "already exists"),
        ("--report=mine.json", "already exists"),
        ("--trace=mine.json", "already exists"),
    ] {
        let ended = lab.run(&["launch", "-n", "1", option, "echo", "started"]);
        ended.refuses(2, &[words]);
        assert_eq!(ended.stdout, "", "{option}");
    }
    let options = ["launch", "-n", "1", "--report", "new.html", "echo", "started"];
    lab.run(&options).refuses(2, &["no program 'new.html'", "--report=new.html"]);
    let twice = ["launch", "-n", "1", "--report=a.json", "--trace=a.json", "echo", "started"];
    lab.run(&twice).refuses(2, &["named for two files"]);
    assert_eq!(std::fs::read_to_string(lab.path("mine.html")).unwrap(), "my own page");
    // A full disk is only detected when something is written.
    if Path::new("/dev/full").exists() {
        let ended = lab.run(&["launch", "-n", "1", "--trace=/dev/full", "echo", "started"]);
        ended.refuses(1, &["cannot write the trace", "/dev/full"]);
        assert_eq!(ended.stdout, "started\n");
    }
}
