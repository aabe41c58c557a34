//! Tests runs that met several performance states of the machine.

use serde_json::{Value, json};

use crate::history::scaled;
use crate::lab::Lab;
use crate::results::brief;

/// Hand-over of a cache line in two states, in microseconds, and the factor by which every time is longer in them.
const NEAR: (f64, f64) = (0.05, 1.0);
const FAR: (f64, f64) = (0.16, 3.0);

/// Writes a run whose launches met these states, of a build that takes `times` as long.
fn run_in(lab: &Lab, records: &[Value], file: &str, states: &[(f64, f64)], times: f64) {
    let mut text = String::new();
    for record in records.iter().filter(|record| record["kind"] != "end") {
        if record["kind"] == "run" {
            text += &format!("{record}\n");
            continue;
        }
        for (launch, (line_us, factor)) in states.iter().enumerate() {
            let noise = 1.0 + 0.001 * launch as f64;
            let mut record = scaled(record, factor * noise * times);
            record["launch"] = launch.into();
            let turn = json!({"samples": 1, "clock_share": 0.0, "line_us": [line_us, line_us]});
            record["turns"] = json!([turn]);
            text += &format!("{record}\n");
        }
    }
    lab.write(file, &(text + "{\"kind\":\"end\",\"measurements\":1,\"seconds\":1.0}\n"));
}

/// The first run met the near state in five of seven launches, the others in two of seven.
#[test]
fn launches_are_compared_with_those_in_their_own_state_and_the_states_are_told() {
    let lab = Lab::new();
    brief(&lab, "one.jsonl");
    let records = lab.records("one.jsonl");
    let states = |near: usize| [vec![NEAR; near], vec![FAR; 7 - near]].concat();
    run_in(&lab, &records, "a.jsonl", &states(5), 1.0);
    run_in(&lab, &records, "same.jsonl", &states(2), 1.0);
    run_in(&lab, &records, "slower.jsonl", &states(2), 1.2);
    let same = lab.succeed(&["compare", "a.jsonl", "same.jsonl"]).stdout;
    for part in
        ["0 slower, 0 faster", "0 undecided", "50.0 ns (A 71 %, B 29 %), 160 ns (A 29 %, B 71 %)"]
    {
        assert!(same.contains(part), "no '{part}' in\n{same}");
    }
    let slower = lab.run(&["compare", "a.jsonl", "slower.jsonl"]);
    assert_eq!(slower.status, Some(1), "{slower:?}");
    assert!(slower.stdout.contains("0 faster, 0 the same, 0 undecided"), "{slower:?}");
    let shown: Value =
        serde_json::from_str(&lab.succeed(&["compare", "--json", "a.jsonl", "same.jsonl"]).stdout)
            .unwrap();
    let [near, far] = &shown["states"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!((&near["line_us"], &far["line_us"]), (&json!(0.05), &json!(0.16)));
    assert_eq!(shown["comparisons"][0]["compared"], json!([7, 7]));
    // The number of a run is that of its commonest state: three times as long in the second run.
    let [first, second] =
        ["first", "second"].map(|side| shown["comparisons"][0][side].as_f64().unwrap());
    assert!((second / first / 3.0 - 1.0).abs() < 0.01, "{shown}");
    let tables = lab.succeed(&["report", "--tables", "same.jsonl"]).stdout;
    let words = tables.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("took 160 ns beside 71 % of the measurements, 50.0 ns beside 29 %. The numbers are those of the launches at 160 ns."),
        "{tables}"
    );
}
