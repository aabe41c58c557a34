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
    assert!(ended.stdout.contains("0 slower, 0 faster, 1 equal"), "{ended:#?}");
    assert!(ended.stdout.contains("1 alternating launch of each"), "{ended:#?}");
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
    let ended = lab.run(&words);
    assert_eq!(ended.status, Some(3), "{ended:#?}");
    assert!(ended.stdout.contains("undecided after 2 s: 1\n  Latency time, 8 B"), "{ended:#?}");
    let words = ["compare", "--measure", "--json", "--within", "2s", "sh slow", "sh slow"];
    let ended = lab.run(&words);
    assert_eq!(ended.status, Some(3), "{ended:#?}");
    assert_eq!(ended.json()[0]["measured"]["time_over"], true);
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

/// A command of Cornerstone in a file of this name. It adds a line to `NAME.log` for each launch, with what it is told of
/// the launches before; `begin` comes before the program.
fn logging_command(lab: &Lab, name: &str, begin: &str) -> String {
    let program = env!("CARGO_BIN_EXE_cornerstone");
    let log = format!("echo ${{CORNERSTONE_LAUNCHES_BEFORE-none}} >> {name}.log");
    lab.write(name, &format!("{log}\nexec {begin} {program} \"$@\"\n"));
    format!("sh {name} run ping-pong --sizes 8 --time-limit 20ms")
}

/// The first lines of such a log.
fn log(lab: &Lab, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(lab.path(&format!("{name}.log"))).unwrap_or_default();
    text.lines().take(3).map(String::from).collect()
}

const SHORTLY: [&str; 6] = ["compare", "--measure", "--within", "5s", "--out", "kept"];

#[test]
fn both_commands_of_a_pair_get_the_same_places_and_each_pair_others() {
    let lab = Lab::new();
    let [old, new] =
        ["cornerstone-old", "cornerstone-new"].map(|name| logging_command(&lab, name, ""));
    let ended = lab.run(&[&SHORTLY[..], &[&old, &format!("{new} --launches 2")]].concat());
    assert!(matches!(ended.status, Some(0 | 1 | 3)), "{ended:#?}");
    // Two launches of a pair have places of their own, so the next pair has others than both.
    for name in ["cornerstone-old", "cornerstone-new"] {
        assert_eq!(log(&lab, name), ["0", "2", "4"], "{name}: {ended:#?}");
    }
    let header = lab.records("kept-a.jsonl").remove(0);
    assert_eq!(header["launches_before"], 0, "{header}");
}

#[test]
fn a_command_that_deals_no_places_keeps_the_other_one_from_it() {
    let lab = Lab::new();
    let old = logging_command(&lab, "cornerstone-old", "env -u CORNERSTONE_LAUNCHES_BEFORE");
    let new = logging_command(&lab, "cornerstone-new", "");
    let ended = lab.run(&[&SHORTLY[..], &[&old, &new]].concat());
    assert!(matches!(ended.status, Some(0 | 1 | 3)), "{ended:#?}");
    assert!(ended.stderr.contains("note: command A does not deal the places"), "{ended:#?}");
    for name in ["cornerstone-old", "cornerstone-new"] {
        assert_eq!(log(&lab, name), ["0", "none", "none"], "{name}");
    }
}

#[test]
fn a_check_launches_a_command_of_one_launch_with_places_dealt_anew() {
    let lab = Lab::new();
    let command = format!("{} --launches 1", logging_command(&lab, "cornerstone", ""));
    lab.succeed(&["check", "--against", "past", "--add", &command]);
    let text = std::fs::read_to_string(lab.path("cornerstone.log")).unwrap();
    // Six launches reach 95 %.
    assert_eq!(text.lines().collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5"]);
}

#[test]
fn a_number_of_launches_before_that_is_none_is_refused() {
    let lab = Lab::new();
    let mut command = lab.command(&["run", "ping-pong", "--fabric", "sim:cluster"]);
    command.env("CORNERSTONE_LAUNCHES_BEFORE", "three");
    lab.spawn(command).wait().refuses(2, &["CORNERSTONE_LAUNCHES_BEFORE=three"]);
}

#[test]
fn the_record_and_the_report_state_who_chooses_the_places() {
    let lab = Lab::new();
    let words = ["run", "ping-pong", "--sizes", "8", "--time-limit", "20ms"];
    let places = |more: &[&str]| {
        lab.succeed(&[&words[..], more, &["--out", "run.jsonl"]].concat());
        let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
        let places = lab.records("run.jsonl").remove(0)["fabric"]["details"]["places"].clone();
        for file in ["run.jsonl", "run.html"] {
            std::fs::remove_file(lab.path(file)).unwrap();
        }
        if let Some(text) = places.as_str() {
            assert!(page.contains(text), "no '{text}' in the report");
        }
        places
    };
    assert_eq!(places(&["--launches", "1"]), "the first ones");
    let dealt = places(&["--launches", "2"]);
    assert!(dealt.as_str().unwrap().starts_with("in each launch others"), "{dealt}");
    assert!(places(&["--fabric", "sim:cluster"]).is_null());
}
