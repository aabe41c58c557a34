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
    for part in [
        "0 slower, 0 faster",
        "0 undecided",
        "50.0 ns (A 71 %, B 29 %), 160 ns (A 29 %, B 71 %)",
        // The printed numbers are of different states: they are never followed by "no regression".
        "launch by launch nothing is slower by more than 5 %; 5 numbers are as printed",
    ] {
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

/// Returns the numbers of the line that begins with these words.
fn row<'a>(lines: &'a str, begin: &str) -> Vec<&'a str> {
    let found = lines.lines().find_map(|line| line.strip_prefix(begin));
    found.unwrap_or_else(|| panic!("no '{begin}' in\n{lines}")).split_whitespace().collect()
}

#[test]
fn a_verdict_is_explained_by_all_numbers_on_its_way() {
    let lab = Lab::new();
    brief(&lab, "one.jsonl");
    let records = lab.records("one.jsonl");
    let states = |near: usize| [vec![NEAR; near], vec![FAR; 7 - near]].concat();
    run_in(&lab, &records, "a.jsonl", &states(5), 1.0);
    run_in(&lab, &records, "b.jsonl", &states(3), 1.2);
    let table = lab.run(&["compare", "a.jsonl", "b.jsonl"]).stdout;
    let name = table.lines().find(|line| line.contains("slower !")).unwrap();
    let name = name.split("  ").find(|part| !part.trim().is_empty()).unwrap().trim();
    let explained = lab.run(&["verdict", "a.jsonl", "b.jsonl", "--explain", name]);
    assert_eq!(explained.status, Some(1), "{explained:#?}");
    let lines = explained.stdout;
    assert!(lines.lines().count() <= 25 && lines.starts_with(name), "{lines}");
    assert!(lines.contains("verdict: slower, because the interval of 0.95 lies beyond"), "{lines}");
    // The states by hand, and from them the ratios of the launches that are compared.
    assert_eq!(row(&lines, "states: of each launch of A:"), ["0", "0", "0", "0", "0", "1", "1"]);
    assert_eq!(row(&lines, "states: of each launch of B:"), ["0", "0", "0", "1", "1", "1", "1"]);
    let [a, b] = ["A", "B"].map(|side| -> Vec<f64> {
        let medians = row(&lines, &format!("{side}: median of each launch:"));
        medians.iter().map(|median| median.parse().unwrap()).collect()
    });
    let pairs = |a: &[f64], b: &[f64]| -> Vec<f64> {
        a.iter().flat_map(|a| b.iter().map(move |b| b / a)).collect()
    };
    let mut ratios = [pairs(&a[..5], &b[..3]), pairs(&a[5..], &b[3..])].concat();
    ratios.sort_by(f64::total_cmp);
    // Of C(8, 3) C(6, 2) = 840 arrangements, 1, 2 and 4 have the three smallest sums, 4 and 7 of a hundred: 7 / 840 < 2.5
    // %, and 7 + 7 are less than that, too; the next are not.
    let line = row(&lines, "interval of 0.95:");
    let left_out: usize = line[0].parse().unwrap();
    assert_eq!((line[2], ratios.len()), ("23", 23));
    let ends = [ratios[left_out], ratios[22 - left_out]].map(f64::ln);
    let printed = [line[11], line[13]].map(|end: &str| end.parse::<f64>().unwrap());
    assert!(ends.iter().zip(printed).all(|(a, b)| (a - b).abs() < 1e-7), "{ends:?} {lines}");
    // A name that is none, and one of several.
    let explain = |case| lab.run(&["compare", "a.jsonl", "b.jsonl", "--explain", case]);
    explain("pong").refuses(2, &["names no measurement", name]);
    explain("time").refuses(2, &["names several measurements", name]);
}

#[test]
fn stages_are_switched_off_by_name() {
    let lab = Lab::new();
    brief(&lab, "one.jsonl");
    let records = lab.records("one.jsonl");
    run_in(&lab, &records, "a.jsonl", &[NEAR, NEAR, NEAR, NEAR, NEAR, FAR], 1.0);
    run_in(&lab, &records, "b.jsonl", &[FAR, FAR, FAR, FAR, FAR, NEAR], 1.0);
    let compare = |off: &str| lab.run(&["compare", "a.jsonl", "b.jsonl", "--without", off]);
    let ended = compare("states,speed");
    assert!(ended.stdout.contains("0 the same, 5 undecided"), "{ended:#?}");
    assert!(!ended.stdout.contains("states:"), "{ended:#?}");
    assert!(ended.stderr.contains("the stage 'speed' changes nothing"), "{ended:#?}");
    assert!(!ended.stderr.contains("'states'"), "{ended:#?}");
    compare("state").refuses(2, &["state", "states", "speed", "shared"]);
}
