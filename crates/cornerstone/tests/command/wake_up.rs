//! Tests `wake-up`, the tracer of `clock`, and the effect of pauses on collectives.

use serde_json::Value;

use crate::lab::{Lab, skip, words};
use crate::real_time::PAUSING;

/// Returns the latencies in a results file, each with the event and the method of waiting.
fn latencies(lab: &Lab, file: &str) -> Vec<(String, String, Value)> {
    let of = |m: &Value, name: &str| m["parameters"][name].as_str().unwrap_or_default().to_string();
    let found = lab.measurements(file);
    let latency = found.into_iter().filter(|m| m["metric"] == "latency");
    latency.map(|m| (of(&m, "for"), of(&m, "by"), m)).collect()
}

#[test]
fn ranks_of_this_machine_wake_up_by_every_method() {
    let lab = Lab::new();
    let shown = lab.succeed(&words(
        "run wake-up --only load=none --only idle=allowed --duration 40ms --out a.jsonl",
    ));
    assert!(shown.stdout.contains("clock-nanosleep"), "{shown:#?}");
    let found = latencies(&lab, "a.jsonl");
    let methods = |event: &str| -> Vec<&str> {
        found.iter().filter(|(of, ..)| of == event).map(|(_, by, _)| by.as_str()).collect()
    };
    assert_eq!(methods("moment"), ["spin", "yield", "futex", "clock-nanosleep", "epoll"]);
    assert_eq!(methods("message"), ["spin", "yield", "futex", "epoll", "receive"]);
    for (.., latency) in &found {
        // 40 ms contain at least 20 waits of 1 ms on an idle machine, and some on any.
        let samples = latency["samples"].as_array().unwrap();
        assert!(!samples.is_empty(), "{latency}");
        assert!(samples.iter().all(|us| us.as_f64().unwrap() >= 0.0), "{latency}");
    }
}

#[test]
fn a_load_and_a_fixed_priority_are_measured_or_refused_with_the_reason() {
    let lab = Lab::new();
    let shown =
        lab.run(&words("run wake-up --only by=epoll --hygiene fifo --duration 40ms --out a.jsonl"));
    let measured = latencies(&lab, "a.jsonl").len();
    let text = format!("{}{}", shown.stdout, shown.stderr);
    // Two events, each with and without a load, with and without idle states.
    assert!(
        measured == 8 || text.contains("ulimit -r") || text.contains("cpu_dma_latency"),
        "{text}"
    );
}

#[test]
fn idle_states_that_cannot_be_held_off_are_named_with_the_reason() {
    const NAME: &str = "idle states that cannot be held off";
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    std::fs::set_permissions(lab.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    // A user without rights; only root may become one.
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(env!("CARGO_BIN_EXE_cornerstone")).current_dir(lab.path(""));
    let run = "run wake-up --only by=epoll --only load=none --duration 40ms --out a.jsonl";
    command.args(words(run));
    if std::process::Command::new("setpriv").arg("--version").output().is_err() {
        return skip(NAME, "there is no setpriv");
    }
    let ended = lab.spawn(lab.marked(command)).wait();
    if ended.stderr.starts_with("setpriv:") {
        return skip(NAME, &ended.stderr);
    }
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    for part in
        ["not measured here: wake-up by=epoll for=message idle=held-off", "/dev/cpu_dma_latency: "]
    {
        assert!(ended.stderr.contains(part), "no '{part}': {ended:#?}");
    }
    let found = lab.measurements("a.jsonl");
    let idle: Vec<&Value> = found.iter().map(|m| &m["parameters"]["idle"]).collect();
    assert!(!idle.is_empty() && idle.iter().all(|idle| **idle == "allowed"), "{idle:?}");
}

#[test]
fn tcp_ranks_wake_up_without_shared_memory() {
    let lab = Lab::new();
    let shown = lab.run(&words("run wake-up --fabric tcp --only for=message --only load=none --only idle=allowed --duration 40ms --out a.jsonl"));
    let text = format!("{}{}", shown.stdout, shown.stderr);
    assert!(text.contains("the ranks of this fabric share no memory"), "{shown:#?}");
    let found = latencies(&lab, "a.jsonl");
    let methods: Vec<&str> = found.iter().map(|(_, by, _)| by.as_str()).collect();
    assert_eq!(methods, ["epoll", "receive"]);
}

#[test]
fn simulated_ranks_have_nothing_to_wake_up_from() {
    let lab = Lab::new();
    let shown = lab.run(&words("run wake-up --fabric sim:cluster --only by=spin --out a.jsonl"));
    let text = format!("{}{}", shown.stdout, shown.stderr);
    assert!(text.contains("these ranks have no operating system"), "{shown:#?}");
    assert!(latencies(&lab, "a.jsonl").is_empty());
    let all = lab.run(&words("run wake-up --fabric sim:cluster --out b.jsonl"));
    all.refuses(1, &["nothing was measured"]);
    // 32 cases have one reason.
    assert_eq!(all.stderr.matches("these ranks have no operating system").count(), 1, "{all:#?}");
}

#[test]
fn the_tracer_names_causes_or_the_summary_gives_the_reason() {
    let lab = Lab::new();
    let shown =
        lab.succeed(&["run", "clock", "--osnoise", "--duration", "300ms", "--out", "a.jsonl"]);
    let traced = shown.stdout.contains("causes by the tracer osnoise");
    let counted =
        shown.stdout.contains("causes by what the system has counted, not the tracer osnoise: ");
    assert!(traced || counted, "{shown:#?}");
    let simulated =
        lab.succeed(&words("run clock --osnoise --duration 10ms --fabric sim:cluster --ranks 2"));
    assert!(simulated.stdout.contains("this rank has no operating system"), "{simulated:#?}");
}

#[test]
fn the_pauses_that_clock_saw_predict_the_tail_of_an_allreduce() {
    let lab = Lab::new();
    lab.write("pausing.toml", PAUSING);
    let run = "run clock allreduce ping-pong --fabric sim:pausing.toml --ranks 2 --duration 2s \
               --sizes 8,64 --out a.jsonl";
    lab.succeed(&words(run));
    let shown = lab.succeed(&["calibrate", "a.jsonl", "--tails", "--ranks", "4"]).stdout;
    let row = |computing: &str, what: &str| -> Vec<f64> {
        let is = |line: &&str| line.contains(computing) && line.trim_end().contains(what);
        let of_twin =
            shown.lines().filter(is).find(|line| what != "twin" || !line.contains("without"));
        let cells = of_twin.unwrap_or_else(|| panic!("no {computing} {what}: {shown}"));
        // The twin without pauses has too few samples for percentiles.
        let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
        let numbers = cells.split_whitespace().rev().skip(1).take(5).map(number);
        numbers.collect::<Vec<f64>>().into_iter().rev().collect()
    };
    // The pause of 2 ms every 50 ms, at once on all processors, meets a round of 1 ms with the probability (1 + 2) /
    // 50. The median does not change, and the 99th percentile is longer by at least half of a pause.
    let (twin, quiet) = (row("1000 us", "twin"), row("1000 us", "twin without pauses"));
    assert!((twin[0] / quiet[0] - 1.0).abs() < 0.01 && twin[2] > quiet[4] + 1000.0, "{shown}");
    assert!((quiet[4] / quiet[0] - 1.0).abs() < 0.01, "{shown}");
    assert!(quiet[2].is_nan() && shown.contains("p99 100 samples, p99.9 1000"), "{shown}");
    lab.run(&["calibrate", "a.jsonl", "--ranks", "4"]).refuses(2, &["--tails"]);
    let run = "run ping-pong --fabric sim:cluster --ranks 2 --sizes 8,64 --out b.jsonl";
    lab.succeed(&words(run));
    lab.run(&["calibrate", "b.jsonl", "--tails"]).refuses(2, &["clock", "cornerstone run clock"]);
}
