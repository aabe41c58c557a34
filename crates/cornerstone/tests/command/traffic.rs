//! Tests synthetic traffic with a given locality, through the built command.

use serde_json::Value;

use crate::lab::Lab;

/// Options for a hypercube of 16 nodes whose processors forward, and for few messages.
const ON_IPSC: [&str; 7] =
    ["--fabric", "sim:ipsc", "--ranks", "16", "--messages", "320", "--tables"];

/// Returns the median of a metric of the case with these parameters, and no other parameters of a rule.
fn median(all: &[Value], metric: &str, parameters: &[(&str, Value)]) -> f64 {
    let has = |one: &Value, name: &str, value: &Value| one["parameters"][name] == *value;
    let of = |one: &&Value| {
        one["metric"] == metric && parameters.iter().all(|(name, value)| has(one, name, value))
    };
    let found: Vec<&Value> = all.iter().filter(of).collect();
    assert_eq!(found.len(), 1, "{metric} {parameters:?}: {all:#?}");
    found[0]["median"].as_f64().unwrap()
}

fn sphere(radius: u64, hit_percent: u64) -> [(&'static str, Value); 3] {
    [("rule", "sphere".into()), ("radius", radius.into()), ("hit_percent", hit_percent.into())]
}

#[test]
fn traffic_on_a_hypercube_has_the_hops_of_its_rule_and_takes_longer_the_farther_it_goes() {
    let lab = Lab::new();
    let words = ["run", "traffic", "--rule", "sphere:1,sphere:9,uniform", "--hits", "0,0.9"];
    let ended = lab.succeed(&[&words[..], &ON_IPSC, &["--out", "run.jsonl"]].concat());
    assert!(ended.stdout.contains("traffic"), "{ended:#?}");
    let all = lab.measurements("run.jsonl");
    let uniform =
        |hit_percent: u64| [("rule", Value::from("uniform")), ("hit_percent", hit_percent.into())];
    // Neighbours are one hop away. No node is more than four away, so nine hops are all nodes: 32/15 on average. Of
    // 6400 messages, the mean of hops is off by 0.012.
    assert!((median(&all, "hops", &sphere(1, 0)) - 1.0).abs() < 1e-9);
    for rule in [&sphere(9, 0)[..], &uniform(0)] {
        let hops = median(&all, "hops", rule);
        assert!((hops - 32.0 / 15.0).abs() < 0.06, "{rule:?}: {hops}");
    }
    let time_us = |rule: &[(&str, Value)]| median(&all, "time", rule);
    assert!(time_us(&sphere(1, 0)) < time_us(&uniform(0)), "{all:#?}");
    // A share of 0.1 of all messages begins a run.
    let run = median(&all, "run-length", &uniform(90));
    let once = median(&all, "run-length", &uniform(0));
    assert!(once < 1.2 && (5.0..11.0).contains(&run), "{once} {run}");
    assert!(lab.becomes_empty());
}

#[test]
fn the_report_draws_uniform_traffic_across_the_radii() {
    let lab = Lab::new();
    let words = ["run", "traffic", "--rule", "sphere:1,sphere:2,uniform", "--out", "run.jsonl"];
    lab.succeed(&[&words[..], &ON_IPSC].concat());
    lab.succeed(&["report", "run.jsonl", "--output", "page.html"]);
    let page = std::fs::read_to_string(lab.path("page.html")).unwrap();
    let uniform = r#""references":[{"label":"rule uniform","run":0,"x":[1,2],"y":["#;
    assert!(page.contains("Time over radius") && page.contains(uniform), "{page}");
}

#[test]
fn traffic_that_cannot_be_is_refused_with_what_can() {
    let lab = Lab::new();
    let refused = |words: &[&str], printed: &[&str]| {
        let ended = lab.run(&[&["run", "traffic", "--out", "none.jsonl"], words].concat());
        ended.refuses(2, printed);
        assert!(!lab.path("none.jsonl").exists(), "{words:?}");
    };
    let on_ipsc = |words: &[&'static str]| [words, &ON_IPSC].concat();
    refused(&on_ipsc(&["--rule", "ring"]), &["'ring' is no rule", "sphere:L", "decreasing:D"]);
    refused(&on_ipsc(&["--rule", "sphere:0"]), &["'sphere:0' is no rule", "hops from 1"]);
    refused(&on_ipsc(&["--hits", "0.9+0.2"]), &["'0.9+0.2'", "the sum is at most 1"]);
    refused(&on_ipsc(&["--hits", "1.5"]), &["'1.5'", "hundredths"]);
    refused(&on_ipsc(&["--messages", "0"]), &["--messages", "1..=10000000"]);
    refused(&["--fabric", "sim:ipsc", "--ranks", "1"], &["traffic", "2 ranks"]);
}

#[test]
fn rules_that_a_machine_has_no_nodes_for_are_skipped_with_the_reason() {
    let lab = Lab::new();
    let words = ["run", "traffic", "--rule", "sphere:5:0.9,sphere:1", "--out", "run.jsonl"];
    let ended = lab.succeed(&[&words[..], &ON_IPSC].concat());
    // No node of 16 is five hops away, so a tenth of the messages would have no destination.
    for printed in ["sphere:5:0.9", "0.100 of all messages", "take another radius"] {
        assert!(ended.stderr.contains(printed), "'{printed}': {ended:#?}");
    }
    let all = lab.measurements("run.jsonl");
    assert!(!all.is_empty() && all.iter().all(|one| one["parameters"]["radius"] == 1), "{all:#?}");
    // A stack of four leaves no neighbour for a miss.
    let words = ["run", "traffic", "--rule", "sphere:1", "--hits", "0.1+0.1+0.1+0.1"];
    let ended = lab.run(&[&words[..], &ON_IPSC, &["--out", "full.jsonl"]].concat());
    ended.refuses(1, &["nothing was measured", "has 4 destinations and the stack holds 4"]);
    assert!(lab.measurements("full.jsonl").is_empty());
}
