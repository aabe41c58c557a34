//! Tests `--require`: what every instance must meet, its proof, and the statuses.

use serde_json::Value;

use crate::lab::{Lab, words};

/// 1 ms of work for 10 rows each: two ranks that share a stage of 20 rows by 1000 elements at 8 operations an element.
const CHAIN: &str = "
title = \"one stage\"
[matrix]
rows = 20
columns = 1000
[flow]
rows_per_message = 10
[source]
on = [0, 1]
[[stage]]
functions = [{ name = \"tdfir\", taps = 5 }]
on = [0, 1]
[sink]
on = [0, 1]
";
/// A machine on which 400 operations take a microsecond: 10 * 1000 * 8 * 5 of them take a millisecond.
const MACHINE: &str = "
name = \"even\"
title = \"A machine of round numbers\"
[processor]
floating_point_mflops = 400
fft_mflops = 400
copy_mb_per_s = 1000
corner_turn_mb_per_s = 1000
[endpoint]
send_us = 1
receive_us = 1
[network]
shape = \"switch\"
link_mb_per_s = 1000
latency_us = 1
[[source]]
of = [\"processor\", \"endpoint\", \"network\"]
kind = \"assumed\"
from = \"round numbers\"
";

fn lab() -> Lab {
    let lab = Lab::new();
    lab.write("chain.toml", CHAIN);
    lab.write("even.toml", MACHINE);
    lab.write("pair.pmp", "0: S 1 8 R E\n1: R S 0 0 E\n");
    lab
}

/// The searched period of the first measurement that has one.
fn search(lab: &Lab, file: &str) -> Value {
    let all = lab.measurements(file);
    all.iter().rev().find(|one| one["search"].is_object()).unwrap()["search"].clone()
}

#[test]
fn a_requirement_is_proven_refused_or_not_proven_for_each_command() {
    let lab = lab();
    for command in [
        "pipeline chain.toml --check-results no",
        "pmp pair.pmp",
        "corner-turn --ranks 2 --matrix 8x8",
        "run hartstone --ranks 2 --sizes 8",
    ] {
        let on = |required: &str| {
            lab.run(&words(&format!("{command} --fabric sim:even.toml --require {required}")))
        };
        // 299 instances without a miss prove 1 % at 95 %.
        let proven = on("period=5ms,latency=5ms,jitter=1ms --instances 299");
        assert_eq!(proven.status, Some(0), "{command}: {proven:#?}");
        assert!(proven.stdout.contains("is sustained: 0 of 299 missed"), "{proven:#?}");
        assert!(proven.stdout.contains("299 too few for p99.9"), "{proven:#?}");
        on("period=5ms,latency=1ns --instances 299").refuses(
            1,
            &["5.00 ms is refused", "latency exceeded: rank", "stage", "instance", "s after the"],
        );
        // 1 - 0.05^(1/298) is 1.0002 %.
        on("period=5ms --instances 298").refuses(
            3,
            &["5.00 ms is not refused: 0 of 298 missed", "takes 299 instances without a miss, 1 s"],
        );
        on("period=10ns").refuses(1, &["10.0 ns is refused"]);
    }
    assert!(lab.becomes_empty());
}

/// The work takes 1 ms, so no instance has a latency below that, at whatever period.
#[test]
fn a_latency_alone_is_required_at_some_period() {
    let lab = lab();
    let on = |required: &str, out: &str| {
        let line = "pipeline chain.toml --check-results no --fabric sim:even.toml";
        lab.run(&words(&format!("{line} --duration 400ms --require {required} --out {out}")))
    };
    on("latency=990us", "a.jsonl").refuses(1, &["and so are all shorter periods"]);
    let met = on("latency=2ms,miss=2%", "b.jsonl");
    assert_eq!(met.status, Some(0), "{met:#?}");
    let found = search(&lab, "b.jsonl");
    let us = found["shortest_sustained_us"].as_f64().unwrap();
    assert!((1000.0..1100.0).contains(&us), "{us}");
    let latency = found["judged"].as_array().unwrap().iter().find(|one| one["metric"] == "latency");
    assert!(latency.unwrap()["max_us"].as_f64().unwrap() <= 2000.0, "{found:#}");
}

#[test]
fn a_proof_that_was_stopped_goes_on_and_adds_up() {
    let lab = lab();
    let line = "pipeline chain.toml --check-results no --fabric sim:even.toml \
        --require period=50ms,miss=0.4% --duration 38s --out a.jsonl";
    let whole = lab.run(&words(line));
    // 38 s have 760 instances, and 748 without a miss prove 0.4 %: ln 0.05 / ln 0.996 is 747.4.
    assert_eq!(whole.status, Some(0), "{whole:#?}");
    let lines: Vec<String> =
        std::fs::read_to_string(lab.path("a.jsonl")).unwrap().lines().map(String::from).collect();
    let trials: Vec<Value> =
        lab.records("a.jsonl").into_iter().filter(|one| one["kind"] == "trial").collect();
    let made: Vec<u64> =
        trials.iter().map(|one| one["trial"]["instances"].as_u64().unwrap()).collect();
    assert!(made.len() > 1 && made.iter().sum::<u64>() == 760, "{made:?}");
    // The file as it is if the run is killed after its first report.
    let until = lines.iter().position(|line| line.contains("\"kind\":\"trial\"")).unwrap();
    lab.write("b.jsonl", &format!("{}\n", lines[..=until].join("\n")));
    let resumed = lab.run(&[
        "run",
        "--resume",
        "b.jsonl",
        "--check-results",
        "no",
        "--fabric",
        "sim:even.toml",
    ]);
    assert_eq!(resumed.status, Some(0), "{resumed:#?}");
    assert!(resumed.stdout.contains("0 of 760 missed"), "{resumed:#?}");
    assert!(!resumed.stdout.contains("launches"), "{resumed:#?}");
    let after: Vec<Value> = search(&lab, "b.jsonl")["trials"].as_array().unwrap().clone();
    let after: Vec<u64> = after.iter().map(|one| one["instances"].as_u64().unwrap()).collect();
    assert_eq!(after, [made[0], 760 - made[0]]);
}

#[test]
fn a_proof_that_was_too_short_is_continued_by_a_longer_duration() {
    let lab = lab();
    lab.run(&words(
        "pmp pair.pmp --fabric sim:even.toml --require period=1ms --instances 100 --out a.jsonl",
    ))
    .refuses(3, &["0 of 100 missed"]);
    let resume = ["run", "--resume", "a.jsonl", "--fabric", "sim:even.toml"];
    // Nothing more is asked for.
    lab.run(&resume).refuses(3, &["0 of 100 missed"]);
    let more = lab.run(&[&resume[..], &["--instances", "300"]].concat());
    assert_eq!(more.status, Some(0), "{more:#?}");
    let trials: Vec<u64> = search(&lab, "a.jsonl")["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["instances"].as_u64().unwrap())
        .collect();
    assert_eq!(trials, [100, 200]);
}

/// Of 100 instances none is late. From the next one on all are, because the machine is another one, so that the same period is
/// refused: the file has one verdict.
#[test]
fn a_proof_that_is_refused_when_it_is_continued_replaces_its_period() {
    let lab = lab();
    lab.run(&words(
        "pmp pair.pmp --fabric sim:even.toml --require period=1ms --instances 100 --out a.jsonl",
    ))
    .refuses(3, &["0 of 100 missed"]);
    let slow = std::fs::read_to_string(lab.path("even.toml")).unwrap();
    assert!(slow.contains("latency_us"), "{slow}");
    let slow: Vec<String> =
        slow.lines()
            .map(|line| {
                if line.starts_with("latency_us") {
                    "latency_us = 5000".into()
                } else {
                    line.into()
                }
            })
            .collect();
    lab.write("even.toml", &slow.join("\n"));
    let resume = ["run", "--resume", "a.jsonl", "--fabric", "sim:even.toml", "--instances", "2000"];
    lab.run(&resume).refuses(1, &["1.00 ms is refused"]);
    let report = lab.run(&["report", "--tables", "a.jsonl"]);
    assert!(report.stdout.contains("1.00 ms is refused"), "{report:#?}");
    assert!(!report.stdout.contains("is not refused"), "{report:#?}");
}

#[test]
fn requirements_that_cannot_be_are_refused_with_the_reason() {
    let lab = lab();
    let on = |options: &str| lab.run(&words(&format!("pmp pair.pmp {options}")));
    on("--require speed=5").refuses(2, &["'speed=5' is none of period=TIME, latency=TIME"]);
    on("--require miss=1e-9").refuses(2, &["1e-7 is the least"]);
    on("--require period=1ms --period 2ms").refuses(2, &["--period"]);
    on("--require period=1ms --guess 2ms").refuses(2, &["--guess is for searches"]);
    lab.run(&words("run ping-pong --require latency=1ms")).refuses(2, &["--require is for"]);
}

#[test]
fn a_check_reports_a_requirement_that_does_not_hold() {
    let lab = lab();
    let program = env!("CARGO_BIN_EXE_cornerstone");
    let check = |required: &str| {
        let pmp = format!("{program} pmp pair.pmp --fabric sim:even.toml --require {required}");
        lab.run(&["check", "--against", "past", "--add", &pmp])
    };
    assert_eq!(check("period=1ms --instances 299").status, Some(0));
    check("period=1ms --instances 9").refuses(3, &["0 of 9 missed"]);
    // Its response is longer, too, which is a regression.
    let refused = check("period=10ns --instances 299");
    assert_eq!(refused.status, Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("10.0 ns is refused"), "{refused:#?}");
}
