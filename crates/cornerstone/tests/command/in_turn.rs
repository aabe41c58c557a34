//! Tests two commands that are measured in turn until the comparison is decided.

use crate::lab::Lab;

/// Creates a program that prints a table as the OSU micro-benchmarks do, with a time near `us` that differs from launch
/// to launch. Each launch adds a line to the file `count`.
fn program(lab: &Lab, name: &str, us: u32) {
    lab.write(
        name,
        &format!(
            "echo x >> {name}.count\nn=$(wc -l < {name}.count)\n\
             echo '# OSU MPI Latency Test v7.4'\necho '# Size          Avg Latency(us)'\n\
             echo \"8 $(({us} + n % 3)).5\"\n"
        ),
    );
}

fn in_turn<'a>(lab: &Lab, words: &[&'a str]) -> Vec<&'a str> {
    program(lab, "old", 1000);
    program(lab, "new", 1200);
    [&["compare", "--measure", "--out", "kept"], words].concat()
}

/// Returns the number of launches of a program.
fn launches(lab: &Lab, name: &str) -> usize {
    let text = std::fs::read_to_string(lab.path(&format!("{name}.count"))).unwrap_or_default();
    text.lines().count()
}

#[test]
fn a_slower_command_is_found_and_its_launches_are_kept() {
    let lab = Lab::new();
    let ended = lab.run(&in_turn(&lab, &["sh old", "sh new"]));
    assert_eq!(ended.status, Some(1), "{ended:#?}");
    for part in ["Latency time, 8 B", "slower !", "+20.0 %", "7 alternating launches of each"] {
        assert!(ended.stdout.contains(part), "no '{part}': {ended:#?}");
    }
    // 2^(1 - 7) is the first error below a half of 5 %.
    assert_eq!((launches(&lab, "old"), launches(&lab, "new")), (7, 7));
    assert_eq!(lab.measurements("kept-a.jsonl").len(), 7);
    let again = lab.run(&["compare", "kept-a.jsonl", "kept-b.jsonl"]);
    assert_eq!(again.status, Some(1), "{again:#?}");
    let back = lab.succeed(&["compare", "kept-b.jsonl", "kept-a.jsonl", "--json"]);
    assert_eq!(back.json()[0]["comparisons"][0]["verdict"], "faster");
}

#[test]
fn the_json_of_a_comparison_has_how_it_was_measured() {
    let lab = Lab::new();
    let json = lab.run(&in_turn(&lab, &["--json", "sh old", "sh new"])).json();
    let measured = &json[0]["measured"];
    assert_eq!((&measured["pairs"], &measured["discarded"]), (&7.into(), &0.into()), "{measured}");
    assert_eq!((&measured["time_over"], &measured["within_s"]), (&false.into(), &600.0.into()));
    assert_eq!(json[0]["comparisons"][0]["verdict"], "slower");
}

#[test]
fn commands_of_cornerstone_need_no_options_and_a_simulated_machine_is_as_fast_again() {
    let lab = Lab::new();
    let command = format!(
        "{} run ping-pong --sizes 8 --fabric sim:cluster",
        env!("CARGO_BIN_EXE_cornerstone")
    );
    let ended = lab.succeed(&["compare", "--measure", "--out", "kept", &command, &command]);
    assert!(ended.stdout.contains("0 slower, 0 faster, 1 the same"), "{ended:#?}");
    assert!(ended.stdout.contains("every number is decided"), "{ended:#?}");
}

#[test]
fn what_is_undecided_within_the_time_is_named() {
    let lab = Lab::new();
    lab.write(
        "slow",
        "sleep 0.4\necho '# OSU MPI Latency Test v7'\necho '# Size Latency (us)'\necho '8 1.5'\n",
    );
    let words = ["compare", "--measure", "--out", "kept", "--within", "2s", "sh slow", "sh slow"];
    let ended = lab.succeed(&words);
    assert!(ended.stdout.contains("undecided after 2 s: 1\n  Latency time, 8 B"), "{ended:#?}");
    let words = ["compare", "--measure", "--json", "--within", "2s", "sh slow", "sh slow"];
    assert_eq!(lab.succeed(&words).json()[0]["measured"]["time_over"], true);
}

#[test]
fn commands_that_fail_or_print_nothing_are_named_and_nothing_is_left() {
    let lab = Lab::new();
    for (command, words) in [
        ("sh -c 'echo broken >&2; exit 3'", ["command B", "status 3: broken"]),
        ("true", ["command B", "printed nothing"]),
        ("echo hello", ["command B", "no table"]),
        ("kill -9 $$;", ["command B", "a signal ended it"]),
    ] {
        lab.run(&in_turn(&lab, &["sh old", command])).refuses(1, &words);
    }
    lab.run(&["compare", "--measure", "sh old"]).refuses(2, &["B"]);
    lab.run(&["compare", "--measure", "sh old", "  "]).refuses(2, &["empty"]);
    lab.run(&["compare", "--measure", "true", "cornerstone run --out x"]).refuses(2, &["--out"]);
    lab.run(&["compare", "--within", "1s", "a", "b"]).refuses(2, &["--measure"]);
    assert!(lab.becomes_empty());
}

#[test]
fn a_launch_that_fails_among_many_is_left_out_with_its_partner() {
    let lab = Lab::new();
    let words =
        in_turn(&lab, &["sh old", "sh -c 'echo x >> tries; test $(wc -l < tries) != 3 && sh new'"]);
    let ended = lab.run(&words);
    assert_eq!(ended.status, Some(1), "{ended:#?}");
    assert!(
        ended.stderr.contains("in one launch, which is discarded together with its partner"),
        "{ended:#?}"
    );
    assert!(ended.stdout.contains("1 more failed and were discarded"), "{ended:#?}");
    assert_eq!(
        (lab.measurements("kept-a.jsonl").len(), lab.measurements("kept-b.jsonl").len()),
        (7, 7)
    );
}
