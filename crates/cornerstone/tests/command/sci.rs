//! Tests rings of the Scalable Coherent Interface under load.

use serde_json::Value;

use crate::lab::Lab;

#[test]
fn neighbours_get_what_links_carry_and_the_results_can_be_reported() {
    let lab = Lab::new();
    let words = ["sci", "--destinations", "downstream,upstream", "--pace", "available"];
    let ended = lab.succeed(&[&words[..], &["--duration-us", "300", "--out", "r.jsonl"]].concat());
    // Links of 125 MB/s: 64 bytes of each of 8 nodes in 41 + 5 x 7 symbols are 421 MB/s, in 41 x 7 + 5 are 110.
    let rate = |rule: &str| -> f64 {
        let lines = &mut ended.stdout.lines();
        let line = lines.find(|line| line.trim_start().starts_with(rule)).expect(rule);
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = words.iter().position(|word| *word == "MB/s").expect("a rate");
        words[unit - 1].parse().expect("a number")
    };
    assert!((337.0..=423.0).contains(&rate("downstream")), "{ended:#?}");
    assert!((88.0..=111.0).contains(&rate("upstream")), "{ended:#?}");
    // Two rules, each with a throughput, the shares of nodes and of refused packets, and a delay.
    assert_eq!(lab.measurements("r.jsonl").len(), 8);

    lab.succeed(&["report", "r.jsonl"]);
    let page = std::fs::read_to_string(lab.path("r.html")).unwrap();
    assert!(page.contains("Message passing on sci, simulated"));
}

#[test]
fn the_rings_of_a_machine_can_be_loaded_like_those_of_the_command_line() {
    let lab = Lab::new();
    let words = ["sci", "--destinations", "fixed:0", "--loads", "80", "--duration-us", "200"];
    let run = |more: &[&str]| lab.succeed(&[&words[..], more].concat()).stdout;
    // Its rings have the default values.
    let of_machine = run(&["--machine", "sci-ring", "--out", "machine.jsonl"]);
    let of_options = run(&["--out", "options.jsonl"]);
    assert_eq!(of_machine, of_options);
    let parameters = &lab.measurements("machine.jsonl")[0]["parameters"];
    assert_eq!(
        (&parameters["machine"], &parameters["shape"]),
        (&"sci-ring".into(), &"ring:8".into())
    );
    assert!(parameters.get("access").is_none(), "{parameters}");
    lab.run(&["sci", "--machine", "fat-tree"])
        .refuses(2, &["fat-tree has no rings of SCI", "[sci]"]);
    lab.run(&["sci", "--machine", "sci-rink"]).refuses(2, &["(is it `sci-ring`?)"]);
    lab.run(&["sci", "--machine", "sci-ring", "--queue", "2"]).refuses(2, &["--queue"]);
}

#[test]
fn what_cannot_be_is_told() {
    let lab = Lab::new();
    for (arguments, printed) in [
        (["--shape", "star:4"], "ring:8"),
        (["--destinations", "fixed:8"], "no node 8 among 8"),
        (["--operation", "move:100"], "16, 64 or 256"),
        (["--urgent", "9"], "no node 9 among 8"),
        (["--queue", "0"], "hold no packet"),
        (["--out", "/nowhere/rings.jsonl"], "/nowhere/rings.jsonl"),
    ] {
        let ended = lab.run(&["sci", arguments[0], arguments[1], "--duration-us", "10"]);
        assert_eq!(ended.status, Some(2), "{arguments:?}: {ended:#?}");
        assert!(ended.stderr.contains(printed), "{arguments:?}: {ended:#?}");
    }
}

#[test]
fn results_have_what_decides_them_and_are_never_overwritten() {
    let lab = Lab::new();
    let words =
        ["sci", "--destinations", "fixed:0", "--pace", "available", "--operation", "write:64"];
    let more = ["--duration-us", "1000", "--host-ns", "0", "--queue", "2", "--out", "r.jsonl"];
    let ended = lab.succeed(&[&words[..], &more].concat());
    assert!(!ended.stdout.contains("urgent"), "{ended:#?}");
    let all = lab.measurements("r.jsonl");
    let parameters = &all[0]["parameters"];
    let expected = [
        ("access", "go-bits"),
        ("destination", "fixed:0"),
        ("link_gbit_per_s", "1.0"),
        ("operation", "write:64"),
        ("pace", "available"),
        ("retry", "aged"),
        ("shape", "ring:8"),
        ("urgency", "none"),
    ];
    for (name, value) in expected {
        assert_eq!(parameters[name], value, "{parameters}");
    }
    assert_eq!((&parameters["host_ns"], &parameters["queue_packets"]), (&0.into(), &2.into()));
    let share = all.iter().find(|one| one["metric"] == "least_over_most").expect("shares of nodes");
    // A turn takes one or two packets of each node.
    assert!(share["median"].as_f64().unwrap() >= 50.0, "{share}");

    // A simulated second would take seconds, so the file is checked before.
    let ended = lab.run(&["sci", "--duration-us", "10000000", "--out", "r.jsonl"]);
    assert_eq!(ended.status, Some(2), "{ended:#?}");
    assert!(ended.stderr.contains("choose another name") && !ended.stderr.contains("--resume"));
    let ended = lab.run(&["sci", "--seats", "3", "--out", "s.jsonl"]);
    assert!(ended.status == Some(2) && ended.stderr.contains("--access train"), "{ended:#?}");
    assert!(!lab.path("s.jsonl").exists());
}

#[test]
fn urgent_delays_are_explained() {
    let lab = Lab::new();
    let words = ["sci", "--destinations", "fixed:0", "--loads", "5", "--urgent", "4"];
    let more = ["--urgency", "preempt", "--duration-us", "500", "--out", "r.jsonl"];
    let ended = lab.succeed(&[&words[..], &more].concat());
    assert!(ended.stdout.contains("longest urgent: the longest delay"), "{ended:#?}");
}

const RING: &str = r#"
name = "ring"
title = "four nodes on a ring"

[processor]
polling_us = 0.01

[sci]
shape = "ring:4"

[[source]]
of = ["processor", "sci"]
kind = "assumed"
from = "an example"
"#;

/// Tests times that are derived by hand: 64 bytes take 48 + 40 x 16 + 300 ns to the next node, and two hops of 64 ns
/// more from there back: 988 and 1116 ns.
#[test]
fn benchmarks_run_on_rings_of_a_machine_file() {
    let lab = Lab::new();
    lab.write("ring.toml", RING);
    let words = ["run", "ping-pong", "put", "get", "--fabric", "sim:ring.toml", "--ranks", "2"];
    lab.succeed(&[&words[..], &["--sizes", "64", "--out", "r.jsonl"]].concat());
    let found = lab.measurements("r.jsonl");
    let has = |benchmark: &str| found.iter().any(|one| one["benchmark"] == benchmark);
    let is_time = |one: &&Value| one["benchmark"] == "ping-pong" && one["metric"] == "time";
    let time = found.iter().find(is_time).expect("a time");
    assert_eq!(time["median"], 1.052, "{time:#?}");
    assert!(has("put") && has("get"), "{found:#?}");

    let ended = lab.run(&["run", "ping-pong", "--fabric", "sim:ring.toml", "--ranks", "5"]);
    assert!(
        ended.status != Some(0) && ended.stderr.contains("use --ranks 4 or fewer"),
        "{ended:#?}"
    );
    lab.write("ring.toml", &RING.replace("ring:4", "ring"));
    let ended = lab.run(&["machines", "show", "ring.toml"]);
    assert!(ended.stderr.contains("ring.toml, line 9: `sci.shape` is `ring`"), "{ended:#?}");
    let shown = lab.succeed(&["machines", "show", "sci-ring"]).stdout;
    assert!(shown.contains("A ring of SCI with 8 nodes."), "{shown}");
}
