//! Processing chains as a user runs them.

use crate::lab::{Lab, Running, eventually, interrupt, kill_each_rank};

const CHAIN: &str = "\
title = 'a small image'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[[stage]]
name = 'range'
functions = ['weight', 'fft', 'corner-turn']
[[stage]]
functions = ['fft']
";
/// The same on two ranks, each with a share of both stages.
pub(crate) const CHAIN_OF_TWO: &str = "\
title = 'a small image on two ranks'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[source]
on = [0]
[[stage]]
on = [0, 1]
name = 'range'
functions = ['weight', 'fft', 'corner-turn']
[[stage]]
on = [0, 1]
functions = ['fft']
[sink]
on = [1]
";
/// Few instances of a period that any machine keeps.
const SHORT: [&str; 4] = ["--period", "100ms", "--instances", "4"];

fn pipelines() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines")
}

#[test]
fn a_chain_is_explained_without_being_run() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let ended = lab.succeed(&["pipeline", "image.toml", "--check"]);
    for expected in [
        "a small image: 2 stages on 4 ranks, a matrix of 32 x 16 elements (4096 bytes) each period",
        "rank 1: range, 32 rows of 16 elements each, then hands on columns as rows",
        "rank 3: sink, 16 x 32 elements",
    ] {
        assert!(ended.stdout.contains(expected), "{expected}\n{ended:#?}");
    }
}

#[test]
fn every_chain_that_comes_along_can_be_read() {
    let lab = Lab::new();
    for file in std::fs::read_dir(pipelines()).unwrap() {
        let path = file.unwrap().path();
        lab.succeed(&["pipeline", path.to_str().unwrap(), "--check"]);
    }
}

#[test]
fn a_period_of_a_chain_is_kept_up_with_checked_results() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = [&["pipeline", "image.toml", "--timing", "both", "--out", "run.jsonl"][..], &SHORT]
        .concat();
    lab.succeed(&words);
    let found = lab.measurements("run.jsonl");
    let has = |mode: &str, metric: &str| {
        found.iter().any(|m| m["parameters"]["mode"] == mode && m["metric"] == metric)
    };
    for mode in ["self-timed", "synchronised"] {
        assert!(has(mode, "period") && has(mode, "latency") && has(mode, "jitter"), "{found:#?}");
    }
    let stages: Vec<_> = found.iter().filter(|m| m["metric"] == "computing").collect();
    assert!(stages.iter().any(|m| m["parameters"]["stage"] == "1 range"), "{stages:#?}");
    assert_eq!(lab.records("run.jsonl")[0]["texts"]["pipeline image.toml"], CHAIN);
    let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
    assert_eq!(page.matches("Jitter at each stage over time").count(), 2, "one for each mode");
    assert!(page.contains("1 range: median"), "a strip for each stage");
}

#[test]
fn the_chain_its_functions_and_its_messages_take_turns_on_a_simulated_machine() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let found = simulated(&lab, &["--instances", "100", "--check-results", "yes"]);
    let turns = |metric: &str| -> Vec<f64> {
        let one = found.iter().find(|m| m["metric"] == metric).unwrap();
        one["samples"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).collect()
    };
    let (whole, functions, messages) =
        (turns("back-to-back"), turns("busiest-processor"), turns("messages-only"));
    let (ratios, hidden) = (turns("back-to-back-per-computing"), turns("hidden"));
    for turn in 0..whole.len() {
        let [whole, functions, messages] = [whole[turn], functions[turn], messages[turn]];
        assert!(whole >= functions && whole >= messages, "{whole} {functions} {messages}");
        assert!((ratios[turn] - whole / functions).abs() < 1e-9);
        let right = 100.0 * (1.0 - (whole - functions) / messages).clamp(0.0, 1.0);
        assert!((hidden[turn] - right).abs() < 1e-9, "{right}");
    }
    // But for a pause now and then, what it takes back to back is a period that it keeps.
    let of = |metric| median_of(&found, metric, "self-timed");
    let (period, whole) = (of("period"), of("back-to-back"));
    assert!((0.95 * whole..1.05 * whole).contains(&period), "{period} {whole}");
    let ratio = period / of("busiest-processor");
    assert!((of("period-per-computing") / ratio - 1.0).abs() < 1e-9);
}

/// Two ranks that share everything, and send nothing.
const CHAIN_WITHOUT_MESSAGES: &str = "\
title = 'weights'
[matrix]
rows = 32
columns = 16
[flow]
rows_per_message = 8
[source]
on = [0, 1]
[[stage]]
on = [0, 1]
functions = ['weight']
[sink]
on = [0, 1]
";

#[test]
fn a_chain_without_messages_takes_its_computing_and_no_more() {
    let lab = Lab::new();
    // It does not stop within the test, and looking at its clock takes no time.
    let machine = STOPPING.replace("period_us = 100000", "period_us = 100000000");
    lab.write("stopping.toml", &machine.replace("[processor]", "[processor]\npolling_us = 1e-6"));
    lab.write("image.toml", CHAIN_WITHOUT_MESSAGES);
    let words = ["pipeline", "image.toml", "--fabric", "sim:stopping.toml", "--period", "2ms"];
    let ended = lab.succeed(&[&words[..], &["--instances", "160", "--out", "run.jsonl"]].concat());
    let found = lab.measurements("run.jsonl");
    let of = |metric| median_of(&found, metric, "self-timed");
    // 16 rows of 16 elements are 512 operations: 5.12 us at 100 MFLOP/s.
    for metric in ["back-to-back", "busiest-processor"] {
        assert!((of(metric) - 5.12).abs() < 0.001, "{metric}: {}", of(metric));
    }
    assert!((of("back-to-back-per-computing") - 1.0).abs() < 0.001);
    let turns = found.iter().find(|m| m["metric"] == "back-to-back").unwrap();
    assert_eq!(turns["samples"].as_array().unwrap().len(), 1, "another would say the same");
    // 2 ms are 390.625 times that.
    assert!((of("period-per-computing") - 390.625).abs() < 0.1);
    for told in ["back to back 5.12 µs a matrix", "the chain 1.00 times that", "390.62 times"] {
        assert!(ended.stdout.contains(told), "{told}: {ended:#?}");
    }
    let report = std::fs::read_to_string(lab.path("run.html")).unwrap();
    for told in ["Back to back 5.12 µs a matrix", "the chain 1.00 times that", "390.62 times"] {
        assert!(report.contains(told), "{told} is not in the report");
    }
}

#[test]
fn a_real_machine_takes_nine_turns() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    lab.succeed(&[&["pipeline", "image.toml", "--out", "run.jsonl"][..], &SHORT].concat());
    let found = lab.measurements("run.jsonl");
    for metric in ["back-to-back", "busiest-processor", "messages-only", "hidden"] {
        let one = found.iter().find(|m| m["metric"] == metric).unwrap();
        let turns = one["samples"].as_array().unwrap();
        assert!(turns.len() == 9 && turns.iter().all(|us| us.as_f64().is_some()), "{one:#?}");
    }
}

#[test]
fn each_granularity_is_a_measurement_and_one_that_does_not_fit_is_refused() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words =
        [&["pipeline", "image.toml", "--granularity", "4,16", "--out", "a.jsonl"][..], &SHORT]
            .concat();
    lab.succeed(&words);
    let found = lab.measurements("a.jsonl");
    for rows in [4, 16] {
        assert!(found.iter().any(|m| m["parameters"]["rows"] == rows), "{rows}: {found:#?}");
    }
    lab.run(&["pipeline", "image.toml", "--granularity", "5"])
        .refuses(2, &["5 rows in a message do not fit 'image.toml'", "1, 2, 4, 8, 16"]);
}

#[test]
fn what_is_wrong_with_a_chain_is_told_before_anything_runs() {
    let lab = Lab::new();
    lab.write("bad.toml", &CHAIN.replace("'fft']", "'ftt']"));
    lab.run(&["pipeline", "bad.toml"])
        .refuses(2, &["bad.toml, line 11: there is no function `ftt`", "docs/pipelines.md"]);
    lab.run(&["pipeline", "none.toml"]).refuses(2, &["cannot read the pipeline none.toml"]);
    lab.write("image.toml", CHAIN);
    lab.run(&["pipeline", "image.toml", "--period", "0"]).refuses(2, &["--period"]);
}

#[test]
fn a_chain_goes_on_without_its_file() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    lab.succeed(&[&["pipeline", "image.toml", "--out", "run.jsonl"][..], &SHORT].concat());
    let text = std::fs::read_to_string(lab.path("run.jsonl")).unwrap();
    lab.write("run.jsonl", &format!("{}\n", text.lines().next().unwrap()));
    std::fs::remove_file(lab.path("image.toml")).unwrap();
    lab.succeed(&["run", "--resume", "run.jsonl"]);
    assert!(!lab.measurements("run.jsonl").is_empty());
}

#[test]
fn ranks_that_share_stages_run_with_checked_results() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    let check = lab.succeed(&["pipeline", "image.toml", "--check"]);
    for expected in ["2 stages on 2 ranks", "rank 0: source", "ranks 0 to 1: range", "rank 1: sink"]
    {
        assert!(check.stdout.contains(expected), "{expected}\n{check:#?}");
    }
    let words = ["pipeline", "image.toml", "--timing", "both", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &SHORT].concat());
    let found = lab.measurements("run.jsonl");
    assert!(found.iter().all(|m| m["ranks"] == 2), "{found:#?}");
    let of = |metric: &str| found.iter().filter(|m| m["metric"] == metric).count();
    assert_eq!(of("miss-rate"), 2, "{found:#?}");
}

/// Of the chain that stands in `image.toml`, on a machine where nothing disturbs.
fn simulated(lab: &Lab, words: &[&str]) -> Vec<serde_json::Value> {
    let machine = ["pipeline", "image.toml", "--fabric", "sim:paragon-osf1-plain"];
    lab.succeed(&[&machine[..], words, &["--out", "run.jsonl"]].concat());
    let found = lab.measurements("run.jsonl");
    std::fs::remove_file(lab.path("run.jsonl")).unwrap();
    found
}

fn median_of(found: &[serde_json::Value], metric: &str, mode: &str) -> f64 {
    let is_it = |m: &&serde_json::Value| m["metric"] == metric && m["parameters"]["mode"] == mode;
    let found = found.iter().find(is_it).unwrap_or_else(|| panic!("{metric} {mode}: {found:#?}"));
    found["median"].as_f64().unwrap()
}

#[test]
fn ranks_that_share_stages_keep_a_long_period_by_the_clock_as_by_themselves() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    let found = simulated(&lab, &["--timing", "both", "--period", "100ms", "--instances", "16"]);
    for mode in ["self-timed", "synchronised"] {
        assert_eq!(median_of(&found, "miss-rate", mode), 0.0, "{mode}");
    }
    // By the clock the second stage begins two periods after the matrix.
    assert!(median_of(&found, "latency", "synchronised") >= 200_000.0, "{found:#?}");
}

#[test]
fn few_matrices_are_enough_to_see_a_chain_fall_behind() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let period_us = median_of(&simulated(&lab, &["--instances", "100"]), "period", "self-timed");
    // A tenth too short: after 16 matrices the results are a period late, which three buffers at each stage hide.
    let (period, words) = (format!("{}us", 0.9 * period_us), ["--instances", "16", "--period"]);
    let found = simulated(&lab, &[&words[..], &[&period]].concat());
    assert!(median_of(&found, "miss-rate", "self-timed") > 30.0, "{found:#?}");
}

/// A machine of two processors that stop together for 9 ms every 100 ms, and else keep 2 ms easily.
const STOPPING: &str = "\
name = \"stopping\"
title = \"a machine that stops now and then\"
[processor]
floating_point_mflops = 100
[endpoint]
send_us = 5
receive_us = 5
[network]
shape = \"line\"
link_mb_per_s = 100
[[pause]]
period_us = 100000
length_us = 9000
at_once = true
[[source]]
of = [\"processor\", \"endpoint\", \"network\", \"pause\"]
kind = \"assumed\"
from = \"a test\"
";

#[test]
fn matrices_that_may_wait_at_the_source_ride_out_a_pause_and_hide_no_chain_that_falls_behind() {
    let lab = Lab::new();
    lab.write("stopping.toml", STOPPING);
    let missed = |backlog: usize, period: &str, instances: &str| {
        let flow = format!("[flow]\nbacklog = {backlog}");
        lab.write("image.toml", &CHAIN_OF_TWO.replace("[flow]", &flow));
        let words = ["pipeline", "image.toml", "--fabric", "sim:stopping.toml"];
        let rest = ["--period", period, "--instances", instances, "--out", "run.jsonl"];
        lab.succeed(&[&words[..], &rest].concat());
        let found = lab.measurements("run.jsonl");
        std::fs::remove_file(lab.path("run.jsonl")).unwrap();
        median_of(&found, "miss-rate", "self-timed")
    };
    // Each pause of 9 ms makes four matrices late that have 2 ms each, and none that may wait for ten periods.
    assert!(missed(0, "2ms", "400") > 1.0);
    assert_eq!(missed(10, "2ms", "400"), 0.0);
    // What is too fast for the chain is so with any memory.
    assert!(missed(10, "50us", "256") > 30.0);
}

#[test]
fn late_matrices_are_told_with_the_pauses_that_put_them_off() {
    let lab = Lab::new();
    lab.write("stopping.toml", STOPPING);
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--fabric", "sim:stopping.toml", "--period", "2ms"];
    let ended = lab.succeed(&[&words[..], &["--instances", "400", "--out", "run.jsonl"]].concat());
    // The source is put off by all of a pause that covers the beginning of a period, and whatever is late is so for that.
    for told in
        ["did something else for 9.00 ms", "when it was to begin", "explain 8 of the 8 latest"]
    {
        assert!(ended.stdout.contains(told), "{told}: {ended:#?}");
    }
    let found = lab.measurements("run.jsonl");
    let search = &found.iter().find(|m| m["search"].is_object()).unwrap()["search"];
    let lengths = search["pauses"].as_array().unwrap().iter().map(|p| p["length_us"].as_f64());
    let longest = lengths.flatten().fold(0.0, f64::max);
    assert!((longest - 9000.0).abs() < 1.0, "{longest}");
    let page = std::fs::read_to_string(lab.path("run.html")).unwrap();
    for shown in ["The latest instances beside the pauses", "rank 0: ", "mark kind-0\""] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn the_tables_of_a_chain_fit_a_terminal() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = ["pipeline", "image.toml", "--fabric", "sim:paragon-osf1-plain"];
    let ended = lab.succeed(&[&words[..], &["--instances", "100"]].concat());
    for line in ended.stdout.lines().filter(|line| !line.contains("late: ")) {
        let is_table = line.contains("self-timed") && !line.contains("pipeline chain=");
        assert!(!is_table || line.chars().count() <= 100, "{line}");
    }
    assert!(ended.stdout.contains("of the communication is hidden"), "{ended:#?}");
}

#[test]
fn a_period_that_no_machine_keeps_is_told_not_waited_for() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN);
    let words = ["pipeline", "image.toml", "--period", "1us", "--out", "run.jsonl"];
    let ended = lab.succeed(&words);
    assert!(ended.stdout.contains("1.00 µs is not sustained"), "{ended:#?}");
    lab.run(&["pipeline", "image.toml", "--period", "0.00001us"])
        .refuses(1, &["ask for a longer one"]);
}

#[test]
fn matrices_that_do_not_fit_the_memory_are_refused_before_anything_runs() {
    let lab = Lab::new();
    let huge =
        CHAIN.replace("rows = 32", "rows = 65536").replace("columns = 16", "columns = 65536");
    lab.write("huge.toml", &huge);
    let refused = lab.run(&["pipeline", "huge.toml", "--period", "1s"]);
    refused.refuses(
        2,
        &["of memory, but", "are available on this machine", "give the chain a smaller matrix"],
    );
}

/// Starts a chain on a long trial, after a short measurement that must not be lost.
fn start(lab: &Lab) -> Running<'_> {
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--granularity", "8,4", "--out", "run.jsonl"];
    // A search for each of two lengths of messages; the first one's results are there while the second goes on.
    let running = lab.start(&[&words[..], &["--duration", "100ms", "--repeats", "2"]].concat());
    assert!(eventually(|| !lab.measurements("run.jsonl").is_empty()), "nothing was measured");
    running
}

/// What was measured is kept.
fn is_kept(lab: &Lab) {
    assert!(!lab.measurements("run.jsonl").is_empty());
}

#[test]
fn a_rank_of_a_chain_that_is_killed_is_named_and_ends_the_run() {
    kill_each_rank(start, "--resume run.jsonl", is_kept);
}

#[test]
fn ctrl_c_ends_a_chain_and_keeps_what_was_measured() {
    interrupt(("INT", 130), start, is_kept);
}

#[test]
fn each_part_of_the_hygiene_is_left_out_in_turn() {
    let lab = Lab::new();
    lab.write("image.toml", CHAIN_OF_TWO);
    let words = ["pipeline", "image.toml", "--ablate", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &SHORT].concat());
    let found = lab.measurements("run.jsonl");
    for without in ["lock", "pin"] {
        let period = found.iter().find(|m| m["parameters"]["without"] == without).unwrap();
        let told =
            found.iter().find(|m| m["parameters"]["without"] == without && !m["search"].is_null());
        assert_eq!(told.unwrap()["search"]["hygiene"][without], "off", "{period:#?}");
    }
}
