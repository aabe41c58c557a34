//! Tests that a run does what was asked or says that it cannot: options, sizes, ranks and values that nothing takes, and
//! cases that a simulated machine cannot have.

use crate::lab::{Lab, eventually, words};

#[test]
fn what_no_benchmark_of_the_run_takes_is_refused_with_the_nearest_name() {
    let lab = Lab::new();
    for (line, expected) in [
        ("run adjacent-pair --messages 1000", ["--messages is for `traffic`", "add traffic"]),
        ("run ping-pong --gap 1ms", ["--gap is for `traffic`", "omit --gap"]),
        ("run ping-pong --limit 1ms", ["--limit is for `clock`", "add clock"]),
        ("run barrier --period 1ms", ["--period is for `hartstone`, `pmp`", "omit --period"]),
        ("run clock --precision 1%", ["--precision is for benchmarks that are sampled", "omit"]),
        ("run wake-up --time-limit 1s", ["--time-limit", "this run contains none"]),
        ("run barrier clock --sizes 8", ["takes the sizes 8 B: barrier, clock", "omit --sizes"]),
        ("run fft --ranks 4", ["`fft` runs with 1 rank, not with 4", "--ranks"]),
        (
            "run adjacent-pair --only acknowledgment=no",
            ["did you mean `acknowledgement`?", "packet_bytes"],
        ),
        ("run adjacent-pair --only distance=3", ["a parameter `distance`", "--only"]),
        ("run multiply --only grain=4", ["grain=4; there are grain=1,8", "--only"]),
        ("run multiply --only form=rows --only grain=9", ["grain=9", "grain=1,8"]),
        ("run barrier --only form=blocks", ["`form`; they have none", "--only"]),
    ] {
        lab.run(&words(line)).refuses(2, &expected);
    }
    assert!(lab.becomes_empty());
}

#[test]
fn what_is_measured_in_another_way_is_said() {
    let lab = Lab::new();
    let run = |line: &str| lab.succeed(&words(&format!("{line} --fabric sim:scale-sci")));
    let said = run("run multiply --only form=blocks --ranks 2 --sizes 100");
    assert!(said.stderr.contains("note: sizes: multiply takes 100 B as 72 B"), "{said:#?}");
    let said = run("run copy ping-pong --sizes 8 --ranks 4");
    assert!(said.stderr.contains("note: ranks: copy runs with 1 rank, not with 4"), "{said:#?}");
    // The paper's runs of clock are on one node.
    let one = run("run clock --ranks 1 --duration 10ms --format json").json();
    assert!(one.iter().all(|m| m["ranks"] == 1), "{one:#?}");
}

/// Messages on mark-iii reach direct neighbours only.
#[test]
fn cases_that_a_machine_cannot_have_are_skipped_and_listed_also_when_resumed() {
    let lab = Lab::new();
    let line = "run traffic barrier --rule sphere:1,uniform --messages 40 --ranks 4 --fabric sim:mark-iii --out a.jsonl";
    let ended = lab.succeed(&words(line));
    let skipped = "note: not measured here: traffic hit percent=0 messages=40 rule=uniform";
    assert!(ended.stderr.contains(skipped), "{ended:#?}");
    let before = lab.measurements("a.jsonl");
    assert!(before.iter().any(|m| m["benchmark"] == "barrier"), "{before:#?}");
    let again = lab.succeed(&["run", "--resume", "a.jsonl"]);
    assert!(again.stderr.contains(skipped), "{again:#?}");
    assert_eq!(lab.measurements("a.jsonl"), before);
}

/// The faults of this machine name its sixteenth node.
#[test]
fn numbers_of_ranks_that_a_machine_cannot_have_are_skipped_unless_there_are_no_others() {
    let lab = Lab::new();
    let run = |ranks: &str| {
        let line = format!("run barrier --ranks {ranks} --fabric sim:scale-faults");
        lab.run(&words(&line))
    };
    let ended = run("4,16");
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    assert!(ended.stderr.contains("not measured here: barrier: sim:scale-faults"), "{ended:#?}");
    assert!(ended.stderr.contains("it needs 16 nodes"), "{ended:#?}");
    assert!(ended.stdout.contains("barrier, 16 ranks"), "{ended:#?}");
    run("4").refuses(2, &["fault 5", "it needs 16 nodes"]);
}

/// Ten million messages take minutes.
#[test]
fn a_signal_ends_a_simulation_and_keeps_what_was_measured() {
    let lab = Lab::new();
    let line = "run barrier traffic --ranks 16 --fabric sim:ipsc --messages 10000000 --out a.jsonl";
    let running = lab.start(&words(line));
    assert!(eventually(|| !lab.measurements("a.jsonl").is_empty()), "nothing was measured");
    running.signal("TERM");
    let ended = running.wait();
    assert_eq!(ended.status, Some(143), "{ended:#?}");
    assert_eq!(lab.measurements("a.jsonl").len(), 1);
    assert!(lab.becomes_empty());
}
