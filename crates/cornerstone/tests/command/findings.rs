//! Tests `--check-report` and `--suppressions` with programs that have one mistake each (`findings.c`).

use serde_json::Value;

use crate::lab::{Ended, Lab, eventually};
use crate::launching::{lab_with, line_with, run_program, start_program};

const SOURCE: &str = include_str!("findings.c");

/// One launcher, a launcher for each of two hosts, and a simulation.
const VARIANTS: [&[&str]; 4] = [
    &["-n", "2"],
    &["-n", "2", "--fabric", "tcp"],
    &["-n", "2", "--host", "localhost:1,127.0.0.1:1"],
    &["-n", "2", "--fabric", "sim:cluster"],
];

fn lab(test: &str) -> Option<Lab> {
    lab_with(test, SOURCE)
}

fn read(lab: &Lab, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(lab.path(name)).unwrap()).unwrap()
}

/// Runs a program with a report as JSON, and returns both.
fn reported(lab: &Lab, options: &[&str], name: &str) -> (Ended, Value) {
    let _ = std::fs::remove_file(lab.path("found.json"));
    let ended = run_program(lab, &[options, &["--check-report", "found.json"]].concat(), name);
    let report = read(lab, "found.json");
    assert_eq!(report["schema"], "cornerstone-findings-1");
    assert_eq!(report["status"].as_i64().map(|status| status as i32), ended.status, "{report:#}");
    (ended, report)
}

/// The ranks, functions of MPI and remarks at the lines of a finding's sides.
fn sides(finding: &Value) -> Vec<(Option<u64>, String, u64)> {
    let side = |side: &Value| {
        assert!(side["file"].as_str().unwrap().ends_with("program.c"), "{side:#}");
        let call = side["call"].as_str().unwrap_or_default().to_owned();
        (side["rank"].as_u64(), call, side["line"].as_u64().unwrap())
    };
    finding["sides"].as_array().unwrap().iter().map(side).collect()
}

fn line(remark: &str) -> u64 {
    line_with(SOURCE, &format!("// {remark}")) as u64
}

#[test]
fn a_report_has_the_kind_ranks_and_calls_of_what_ended_the_program() {
    let Some(lab) = lab("a report of what ended the program") else { return };
    for variant in VARIANTS {
        let call = |name: &str| name.to_owned();
        // The status of an error is its class: MPI_ERR_TAG is 4, MPI_ERR_OTHER 16.
        for (name, status, kind, calls) in [
            ("deadlock", 122, "deadlock", vec![(Some(0), call("MPI_Recv"), line("waits"))]),
            ("wrong_tag", 4, "invalid-tag", vec![(Some(1), call("MPI_Send"), line("fails"))]),
            (
                "other_type",
                16,
                "types-differ",
                vec![(Some(0), call(""), line("sent")), (Some(1), call(""), line("received"))],
            ),
            ("crash", 128 + 11, "crash", vec![]),
        ] {
            let (ended, report) = reported(&lab, variant, name);
            assert_eq!(ended.status, Some(status), "{variant:?} {name}: {ended:#?}");
            let [finding] = &report["findings"].as_array().unwrap()[..] else {
                panic!("{variant:?} {name}: {report:#}");
            };
            assert_eq!(finding["kind"], kind, "{variant:?}: {report:#}");
            assert_eq!(sides(finding), calls, "{variant:?}: {report:#}");
            let message = finding["message"].as_str().unwrap().lines().next().unwrap();
            assert!(ended.stderr.contains(message), "{message}: {ended:#?}");
        }
        let (ended, report) = reported(&lab, variant, "clean");
        assert_eq!((ended.status, &report["outcome"]), (Some(0), &Value::Null), "{ended:#?}");
        assert_eq!(report["findings"], Value::Array(Vec::new()));
    }
    assert!(lab.becomes_empty());
}

#[test]
fn what_the_program_survives_is_told_once_with_its_ranks_and_times() {
    let Some(lab) = lab("findings told once") else { return };
    for variant in VARIANTS {
        let (ended, report) =
            reported(&lab, &[variant, &["--check", "--check-leaks"]].concat(), "both");
        ended.refuses(1, &["--check found 1 mistake, and --check-leaks found objects"]);
        let lines_with =
            |words: &str| ended.stderr.lines().filter(|line| line.contains(words)).count();
        assert_eq!(
            lines_with(": check: ranks 0, 1: MPI_Sendrecv (overlap, program.c:"),
            1,
            "{ended:#?}"
        );
        assert_eq!(
            lines_with("ranks 0, 1: not freed at MPI_Finalize: 1 communicator"),
            1,
            "{ended:#?}"
        );
        assert_eq!(lines_with("rank 0: not freed at MPI_Finalize: 1 datatype"), 1, "{ended:#?}");
        assert!(ended.stderr.contains("(6 times)"), "{ended:#?}");
        let found = report["findings"].as_array().unwrap();
        let of = |message: &str| {
            let is_it = |one: &&Value| one["message"].as_str().unwrap().contains(message);
            found.iter().find(is_it).unwrap()
        };
        let overlap = of("receives into 8 bytes that it sends");
        assert_eq!((&overlap["times"], &overlap["ranks"]), (&6.into(), &vec![0, 1].into()));
        assert_eq!(sides(overlap)[0].1, "MPI_Sendrecv");
        let communicator = of("1 communicator");
        assert_eq!(communicator["kind"], "leak");
        assert_eq!(sides(communicator)[0].2, line("duplicated"));
        assert_eq!((&of("1 datatype")["ranks"], found.len()), (&vec![0].into(), 3), "{report:#}");
    }
}

#[test]
fn suppressed_findings_do_not_count_and_unused_lines_are_named() {
    let Some(lab) = lab("suppressed findings") else { return };
    let run = |text: &str, name: &str| {
        lab.write("known.txt", text);
        let options = ["-n", "2", "--check", "--check-leaks", "--suppressions", "known.txt"];
        reported(&lab, &options, name)
    };
    let all = "# known\nleak program.c leak\nown-overlap *.c over*\nleak other.c\n";
    let (ended, report) = run(all, "both");
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    for words in [
        "cornerstone: 3 findings suppressed",
        "known.txt:4: 'leak other.c' has suppressed nothing",
        "no mistakes found",
    ] {
        assert!(ended.stderr.contains(words), "{words}: {ended:#?}");
    }
    assert!(!ended.stderr.contains("not freed at"), "{ended:#?}");
    assert_eq!((&report["suppressed"], &report["findings"]), (&3.into(), &Value::Array(vec![])));
    // What remains counts.
    let (ended, _) = run("leak\n", "both");
    ended.refuses(1, &["--check found 1 mistake", "2 findings suppressed"]);
    // A failure of the program counts, whatever is suppressed.
    let (ended, _) = run("leak\n", "crash");
    assert_eq!(ended.status, Some(128 + 11), "{ended:#?}");
    for (text, words) in [
        ("leak\nleek program.c\n", &["known.txt:2: ", "'leek'", "did you mean 'leak'?"][..]),
        ("deadlock\n", &["known.txt:1: 'deadlock' ends the program"]),
    ] {
        lab.write("known.txt", text);
        run_program(&lab, &["-n", "2", "--check", "--suppressions", "known.txt"], "clean")
            .refuses(2, words);
    }
    run_program(&lab, &["-n", "2", "--suppressions", "known.txt"], "clean")
        .refuses(2, &["--suppressions is for what --check and --check-leaks find"]);
    run_program(&lab, &["-n", "2", "--check", "--suppressions", "none.txt"], "clean")
        .refuses(2, &["none.txt"]);
}

#[test]
fn a_report_is_written_whatever_ends_the_run_and_refused_before_it_if_it_cannot_be() {
    let Some(lab) = lab("a report whatever ends the run") else { return };
    let running = start_program(&lab, &["-n", "2", "--check-report", "found.json"], "sleep");
    assert!(eventually(|| lab.path("ready").exists()));
    running.signal("INT");
    assert_eq!(running.wait().status, Some(130));
    let report = read(&lab, "found.json");
    assert_eq!((&report["status"], &report["findings"]), (&130.into(), &Value::Array(vec![])));
    assert!(report["outcome"].as_str().unwrap().contains("SIGINT"), "{report:#}");
    // A program that is not started.
    let words = ["launch", "-n", "2", "--check-report", "none.xml", "./not-there"];
    assert_eq!(lab.run(&words).status, Some(127));
    let xml = std::fs::read_to_string(lab.path("none.xml")).unwrap();
    assert!(xml.contains("errors=\"1\"") && xml.contains("cannot start"), "{xml}");
    lab.write("others.json", "{}");
    std::fs::create_dir(lab.path("folder.txt")).unwrap();
    for (file, words) in [
        ("found.html", ".txt (text), .json (data), .sarif (for code scanning) or .xml (JUnit)"),
        ("no/found.json", "cannot write the findings as JSON to 'no/found.json'"),
        ("folder.txt", "is a folder"),
        ("others.json", "already exists and is not a file of this kind"),
    ] {
        run_program(&lab, &["-n", "2", "--check-report", file], "sleep").refuses(2, &[words]);
    }
    let twice = ["-n", "2", "--check-report", "a.txt", "--check-report", "a.txt"];
    run_program(&lab, &twice, "sleep").refuses(2, &["named for two files"]);
    assert!(lab.becomes_empty());
}

#[test]
fn errors_before_mpi_init_and_after_mpi_finalize_are_told_with_their_rank_and_line() {
    let Some(lab) = lab("errors before MPI_Init and after MPI_Finalize") else { return };
    for variant in [VARIANTS[0], VARIANTS[1]] {
        for (name, why) in
            [("early", "MPI_Init has not been called"), ("late", "MPI_Finalize has been called")]
        {
            let (ended, report) = reported(&lab, variant, name);
            let error = format!("{why} (main, program.c:{})", line(name));
            let printed = ended.stderr.lines().filter(|line| line.contains(&error));
            let printed: Vec<&str> = printed.collect();
            assert!(printed.len() == 1, "{variant:?} {ended:#?}");
            assert!(printed[0].starts_with("cornerstone: error: rank"), "{variant:?} {ended:#?}");
            assert_eq!(report["findings"][0]["kind"], "outside-of-mpi", "{variant:?} {report:#}");
        }
    }
}

/// Required properties of SARIF 2.1.0 (sections 3.13 to 3.30), and what code scanning needs: a location of each result.
#[test]
fn sarif_has_what_the_standard_requires_and_paths_below_the_folder() {
    let Some(lab) = lab("SARIF") else { return };
    let options = ["-n", "2", "--check", "--check-leaks", "--check-report", "found.sarif"];
    for name in ["other_type", "both", "crash"] {
        run_program(&lab, &options, name);
        let log = read(&lab, "found.sarif");
        assert_eq!(log["version"], "2.1.0");
        let [run] = &log["runs"].as_array().unwrap()[..] else { panic!("{log:#}") };
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "Cornerstone");
        let rules = driver["rules"].as_array().unwrap();
        assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
        let results = run["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{name}");
        for result in results {
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(
                rule["shortDescription"]["text"].is_string()
                    && result["message"]["text"].is_string()
            );
            let physical = &result["locations"][0]["physicalLocation"];
            let artifact = &physical["artifactLocation"];
            if name == "crash" {
                assert_eq!(artifact["uri"], "program");
                continue;
            }
            assert_eq!(
                (&artifact["uri"], &artifact["uriBaseId"]),
                (&"program.c".into(), &"SRCROOT".into())
            );
            assert!(physical["region"]["startLine"].as_u64().unwrap() > 0);
        }
        let related = &results[0]["relatedLocations"];
        if name == "other_type" {
            let line_of = |place: &Value| place["physicalLocation"]["region"]["startLine"].clone();
            assert_eq!(line_of(&results[0]["locations"][0]), line("sent"));
            assert_eq!(line_of(&related[0]), line("received"));
        }
    }
}

#[test]
fn junit_has_a_test_for_each_kind_that_fails_or_is_skipped() {
    let Some(lab) = lab("JUnit") else { return };
    let run = |options: &[&str], name: &str| {
        run_program(&lab, &[&["-n", "2", "--check-report", "found.xml"], options].concat(), name);
        std::fs::read_to_string(lab.path("found.xml")).unwrap()
    };
    let count = |xml: &str, words: &str| xml.matches(words).count();
    let clean = run(&["--check", "--check-leaks"], "clean");
    let kinds = cornerstone::mistakes::all().count();
    assert_eq!(count(&clean, "<testcase "), kinds + 1);
    assert_eq!(count(&clean, "<failure") + count(&clean, "<skipped") + count(&clean, "<error"), 0);
    assert!(
        clean.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "),
        "{clean}"
    );
    let totals = format!("tests=\"{}\" failures=\"0\" errors=\"0\" skipped=\"0\"", kinds + 1);
    assert_eq!(count(&clean, &totals), 2, "{clean}");
    let leaks = run(&["--check-leaks"], "leak");
    // The two leaks are one test, and what --check looks for is skipped.
    assert_eq!(count(&leaks, "<failure "), 1, "{leaks}");
    assert!(leaks.contains("name=\"leak\" time=\"0\"><failure message=\"not freed"), "{leaks}");
    let of_check =
        cornerstone::mistakes::all().filter(|kind| kind.found.option() == Some("--check"));
    assert_eq!(
        count(&leaks, "<skipped message=\"--check was not given"),
        of_check.count(),
        "{leaks}"
    );
    let text = run(&["--check", "--check-report", "found.txt"], "other_type");
    assert!(text.contains("<failure message=\"MPI_Finalize: "), "{text}");
    let text = std::fs::read_to_string(lab.path("found.txt")).unwrap();
    for words in ["types-differ: ", "what to do: ", "looked for: deadlock, ", "program.c:"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn messages_begin_a_line_where_the_program_has_not_ended_one() {
    let lab = Lab::new();
    let program = env!("CARGO_BIN_EXE_cornerstone");
    for (text, before) in [("printf part", "part\n"), ("echo whole", "whole\n"), (":", "")] {
        let script = format!(
            "{program} launch -n 1 sh -c '{text}; exit 3' > file.txt 2>&1; \
             {program} launch -n 1 sh -c '{text}; exit 3' 2>&1 | cat > pipe.txt"
        );
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).current_dir(lab.path(""));
        assert_eq!(lab.spawn(shell).wait().status, Some(0));
        let read = |name: &str| std::fs::read_to_string(lab.path(name)).unwrap();
        let error = "cornerstone: error: rank 0 ended with status 3; the other ranks were ended\n";
        assert!(read("file.txt").starts_with(&format!("{before}{error}")), "{}", read("file.txt"));
        // Nobody can know what a pipe has taken: a line more does no harm.
        let piped = read("pipe.txt");
        assert!(piped.contains(&format!("\n{error}")), "{piped}");
    }
}
