//! Tests the uses of results: reports, comparisons, models.

use serde_json::Value;

use crate::lab::{Lab, words};
use crate::results::brief;

/// Writes a copy of a results file in which every time is `factor` times as long, and every rate accordingly lower.
pub(crate) fn slowed(lab: &Lab, from: &str, to: &str, factor: f64) {
    let text: String = lab
        .records(from)
        .into_iter()
        .map(|mut record| {
            if record["kind"] == "measurement" {
                slow(&mut record, factor);
            }
            format!("{record}\n")
        })
        .collect();
    lab.write(to, &text);
}

/// The numbers of a measurement that are those of its samples.
const NUMBERS: [&str; 8] = ["median", "ci_low", "ci_high", "mean", "min", "p99", "p999", "max"];

fn slow(measurement: &mut Value, factor: f64) {
    let factor = if measurement["better"] == "lower" { factor } else { 1.0 / factor };
    for name in NUMBERS {
        measurement[name] = (measurement[name].as_f64().unwrap() * factor).into();
    }
    for sample in measurement["samples"].as_array_mut().unwrap() {
        *sample = (sample.as_f64().unwrap() * factor).into();
    }
}

#[test]
fn a_report_is_made_again_beside_its_results() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    std::fs::remove_file(lab.path("a.html")).unwrap();
    let ended = lab.succeed(&["report", "a.jsonl"]);
    assert_eq!(ended.stdout, "a.html\n");
    let first = std::fs::read_to_string(lab.path("a.html")).unwrap();
    assert!(first.contains("ping-pong"));
    lab.succeed(&["report", "a.jsonl"]);
    assert_eq!(
        std::fs::read_to_string(lab.path("a.html")).unwrap(),
        first,
        "an older one is replaced"
    );
}

#[test]
fn several_runs_stand_side_by_side_in_one_report() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    slowed(&lab, "a.jsonl", "b.jsonl", 1.5);
    assert_eq!(lab.succeed(&["report", "a.jsonl", "b.jsonl"]).stdout, "a-and-b.html\n");
    let ended = lab.succeed(&["report", "a.jsonl", "b.jsonl", "-o", "both.html"]);
    assert_eq!(ended.stdout, "both.html\n");
    assert!(lab.path("both.html").is_file());
}

#[test]
fn a_report_replaces_nothing_but_a_report() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    lab.write("thesis.html", "<title>years of work</title>");
    lab.run(&["report", "a.jsonl", "-o", "thesis.html"]).refuses(2, &["thesis.html", "-o FILE"]);
    assert!(std::fs::read_to_string(lab.path("thesis.html")).unwrap().contains("years"));
    // Nor is a link followed, which a folder of a stranger may have beside the results.
    std::fs::copy(lab.path("a.jsonl"), lab.path("b.jsonl")).unwrap();
    std::os::unix::fs::symlink("nothing", lab.path("b.html")).unwrap();
    lab.run(&["report", "b.jsonl"]).refuses(1, &["b.html", "it is a link"]);
    assert!(!lab.path("nothing").exists());
    // Not even the results themselves are overwritten by accident.
    let before = std::fs::read(lab.path("a.jsonl")).unwrap();
    lab.run(&["report", "a.jsonl", "-o", "a.jsonl"]).refuses(2, &["a.jsonl"]);
    assert_eq!(std::fs::read(lab.path("a.jsonl")).unwrap(), before);
    lab.run(&["report", "a.jsonl", "-o", "no/where.html"]).refuses(1, &["no/where.html"]);
}

#[test]
fn a_file_without_an_end_is_refused_and_a_name_in_a_file_does_not_reach_the_terminal() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    lab.run(&["compare", "/dev/zero", "a.jsonl"]).refuses(2, &["/dev/zero", "no regular file"]);
    lab.run(&["run", "--resume", "/dev/zero"]).refuses(2, &["/dev/zero", "no regular file"]);
    let text = std::fs::read_to_string(lab.path("a.jsonl")).unwrap();
    let host = text.split("\"host\":\"").nth(1).unwrap().split('"').next().unwrap();
    lab.write("b.jsonl", &text.replace(&format!("\"{host}\""), "\"a\\u001b[2Jb\""));
    let ended = lab.run(&["compare", "a.jsonl", "b.jsonl"]);
    let both = ended.stdout + &ended.stderr;
    assert!(both.contains("a\\u001b[2Jb") && !both.contains('\u{1b}'), "{both}");
}

#[test]
fn what_machine_pattern_and_pipeline_files_name_does_not_control_the_terminal() {
    let lab = Lab::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let copy = |from: &str, to: &str, old: &str, new: &str| {
        let text = std::fs::read_to_string(root.join(from)).unwrap();
        assert!(text.contains(old), "{from}: {text}");
        lab.write(to, &text.replace(old, new));
    };
    // The last is 'set colour' as one character of ISO 6429.
    let evil = "\\u001b[31m\\u0007\\u009b31m";
    let shape = "title = \"FFT -> corner turn -> FFT\"";
    copy("machines/sci-ring.toml", "machine.toml", "title = \"", &format!("title = \"{evil}"));
    copy("machines/sci-ring.toml", "key.toml", "title = ", &format!("\"{evil}\" = 1\ntitle = "));
    copy("pipelines/fft-corner-turn-fft.toml", "chain.toml", shape, &format!("title = \"{evil}\""));
    copy(
        "pipelines/fft-corner-turn-fft.toml",
        "stage.toml",
        "\"range FFT\"",
        &format!("\"{evil}\""),
    );
    lab.write("pattern.pmp", "0: S 1 \u{1b}[31m\u{7}\u{9b}31m E\n1: R E\n");
    let commands = [
        "machines show ./machine.toml",
        "machines show ./key.toml",
        "run ping-pong --fabric sim:./key.toml",
        "replay r --fabric sim:key.toml",
        "pipeline --check chain.toml",
        "pipeline --check stage.toml",
        "pmp --check pattern.pmp",
    ];
    for command in commands {
        let ended = lab.run(&words(command));
        let both = ended.stdout + &ended.stderr;
        let controls = |c: char| c.is_control() && c != '\n';
        assert!(both.contains("\\u009b31m") && !both.contains(controls), "{command}: {both:?}");
    }
}

/// Makes the brief run in as many launches as a comparison needs, which differ by a percent.
fn in_six_launches(lab: &Lab, file: &str) {
    brief(lab, file);
    six_times(lab, file);
}

/// Rewrites a run of one launch as one of six, each of which takes a little longer than the one before. Samples within a
/// launch do not differ: those that were measured would depend on what else the machine does.
pub(crate) fn six_times(lab: &Lab, file: &str) {
    let (mut text, records) = (String::new(), lab.records(file));
    let is_measurement = |record: &&Value| record["kind"] == "measurement";
    text += &format!("{}\n", records[0]);
    for launch in 0..6 {
        for mut record in records.iter().filter(is_measurement).cloned() {
            record["launch"] = launch.into();
            let median = record["median"].clone();
            for name in NUMBERS {
                record[name] = median.clone();
            }
            record["samples"].as_array_mut().unwrap().fill(median);
            slow(&mut record, 1.0 + 0.002 * f64::from(launch));
            text += &format!("{record}\n");
        }
    }
    lab.write(file, &text);
}

#[test]
fn a_run_is_no_regression_of_itself() {
    let lab = Lab::new();
    in_six_launches(&lab, "a.jsonl");
    let ended = lab.succeed(&["compare", "a.jsonl", "a.jsonl"]);
    assert!(ended.stdout.contains("0 slower, 0 faster"), "{ended:#?}");
    assert!(ended.stdout.contains("no regression beyond 5 %"), "{ended:#?}");
}

#[test]
fn a_regression_beyond_the_threshold_sets_the_status() {
    let lab = Lab::new();
    in_six_launches(&lab, "a.jsonl");
    slowed(&lab, "a.jsonl", "slow.jsonl", 1.4);
    let ended = lab.run(&["compare", "a.jsonl", "slow.jsonl"]);
    assert_eq!(ended.status, Some(1), "{ended:#?}");
    assert!(ended.stdout.contains("slower !"), "{ended:#?}");
    assert!(ended.stdout.contains("+40"), "{ended:#?}");
    lab.succeed(&["compare", "a.jsonl", "slow.jsonl", "--threshold", "50%"]);
    let ended = lab.succeed(&["compare", "slow.jsonl", "a.jsonl"]);
    assert!(ended.stdout.contains("faster"), "{ended:#?}");
}

#[test]
fn one_launch_tells_nothing_of_the_next() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    slowed(&lab, "a.jsonl", "slow.jsonl", 1.4);
    let ended = lab.run(&["compare", "a.jsonl", "slow.jsonl"]);
    assert_eq!(ended.status, Some(3), "{ended:#?}");
    assert!(ended.stdout.contains("0 slower, 0 faster, 0 the same, 5 undecided"), "{ended:#?}");
    let printed = "undecided if there is a regression beyond 5 %: 5 of 5 numbers may be one";
    assert!(ended.stdout.contains(printed), "{ended:#?}");
    assert!(!ended.stdout.contains("no regression"), "{ended:#?}");
    assert!(
        ended.stdout.contains("5 numbers were measured in fewer than 4 launches"),
        "{ended:#?}"
    );
    assert!(ended.stdout.contains("--launches 6"), "{ended:#?}");
}

#[test]
fn several_runs_are_each_compared_with_the_first() {
    let lab = Lab::new();
    in_six_launches(&lab, "a.jsonl");
    slowed(&lab, "a.jsonl", "slow.jsonl", 1.4);
    slowed(&lab, "a.jsonl", "quick.jsonl", 0.5);
    let ended = lab.run(&["compare", "a.jsonl", "quick.jsonl", "slow.jsonl"]);
    assert_eq!(ended.status, Some(1), "{ended:#?}");
    let (quick, slow) = ended.stdout.split_once("A 'a.jsonl', B 'slow.jsonl'").unwrap();
    assert!(quick.contains("B 'quick.jsonl'") && quick.contains("-50"), "{ended:#?}");
    assert!(slow.contains("slower !") && slow.contains("+40"), "{ended:#?}");
}

#[test]
fn runs_with_nothing_in_common_cannot_be_compared() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    lab.succeed(&["run", "barrier", "--ranks", "2", "--time-limit", "50ms", "--out", "b.jsonl"]);
    lab.run(&["compare", "a.jsonl", "b.jsonl"]).refuses(2, &["a.jsonl", "b.jsonl", "in common"]);
}

#[test]
fn fit_prints_hockneys_model_for_each_series() {
    let lab = Lab::new();
    brief(&lab, "a.jsonl");
    let text = lab.succeed(&["fit", "a.jsonl"]).stdout;
    for word in ["t = t_l + N t_c", "ping-pong, 2 ranks", "half-performance", "explained"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_run_without_sizes_has_no_line_to_fit() {
    let lab = Lab::new();
    lab.succeed(&["run", "barrier", "--ranks", "2", "--time-limit", "50ms", "--out", "b.jsonl"]);
    lab.run(&["fit", "b.jsonl"]).refuses(1, &["b.jsonl", "three message sizes", "--sizes"]);
}

/// Tests the twin of the Mark-III, which consists of straight lines. The twin therefore reproduces the sizes between
/// and, because its channels are simplex too, exchanges.
#[test]
fn a_twin_is_made_of_a_run_and_validated_with_what_was_held_back() {
    let lab = Lab::new();
    let run = "run ping-pong bandwidth two-way-bandwidth exchange --fabric sim:mark-iii --ranks 2 \
               --sizes 8,64,512,4KiB,16KiB --out a.jsonl";
    lab.succeed(&words(run));
    let validated = lab.succeed(&["calibrate", "a.jsonl", "-o", "twin.toml", "--validate"]);
    let errors = validated.stdout.split("median error").nth(1).expect("the table of errors");
    let cell = |name: &str, column: usize| -> f64 {
        let row = errors.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
        row.split_whitespace().nth(column).unwrap().parse().unwrap()
    };
    // Two sizes of the first three are between those that were kept; no exchange was kept.
    let names = ["ping-pong", "bandwidth", "two-way-bandwidth", "exchange", "all"];
    assert_eq!(names.map(|name| cell(name, 1)), [2.0, 2.0, 2.0, 5.0, 11.0]);
    assert!(cell("all", 2) < 1.0, "{errors}");
    lab.succeed(&["run", "barrier", "--fabric", "sim:twin.toml", "--ranks", "5"]);
    lab.run(&["calibrate", "a.jsonl"]).refuses(2, &["--output"]);
}

/// Tests overwritten lines beside the turns: one of the three turns of each ping-pong, and all of one exchange, were
/// made while a line took ten times as long.
#[test]
fn turns_of_another_state_of_the_machine_are_set_aside_and_told() {
    let lab = Lab::new();
    let run = "run ping-pong bandwidth exchange --ranks 2 --sizes 8..128 --time-limit 30ms --turns 3 --out a.jsonl";
    lab.succeed(&words(run));
    let mut text = String::new();
    for mut record in lab.records("a.jsonl") {
        let lost = record["benchmark"] == "exchange" && record["size_bytes"] == 64;
        let mixed = record["benchmark"] == "ping-pong";
        let turns = record.get_mut("turns").and_then(serde_json::Value::as_array_mut);
        for (index, turn) in turns.into_iter().flatten().enumerate() {
            let line_us = if lost || mixed && index == 1 { 0.5 } else { 0.05 };
            turn["line_us"] = serde_json::json!([line_us, line_us]);
        }
        text += &format!("{record}\n");
    }
    lab.write("b.jsonl", &text);
    let printed = lab.succeed(&["calibrate", "b.jsonl", "-o", "twin.toml", "--validate"]).stdout;
    // Three benchmarks of five sizes in three turns; a turn of five ping-pongs, and three of an exchange.
    for words in [
        "45 turns, of which 37 are used, while a cache line took 50 ns",
        "set aside: 8 while it took 500 ns, 0 in which that changed",
        "without discarding turns: 9 values",
        "not compared, because no turn of them was made in the performance state of the twin: 1 (exchange 64)",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    let twin = std::fs::read_to_string(lab.path("twin.toml")).unwrap();
    assert!(twin.contains("# Measured: 45 turns, of which 37 are used"), "{twin}");
    lab.run(&["run", "ping-pong", "--fabric", "sim:cluster", "--turns", "2"])
        .refuses(2, &["--turns", "real machines"]);
}
