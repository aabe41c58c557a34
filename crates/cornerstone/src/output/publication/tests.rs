//! Tests of the numbers in the formats of other programs.

use analysis::changes::Change;
use analysis::compare::Effect;
use analysis::history::Point;
use record::{Better, Key};

use super::*;

fn machine(processors: usize) -> Machine {
    Machine { processor: "A \"B\" | C".into(), processors, fabric: "local".into() }
}

fn name(size_bytes: u64, metric: &str, unit: &str) -> Name {
    let parameters = [("mode".to_string(), "x".into())].into();
    let key = Key { benchmark: "ping-pong".into(), ranks: 2, parameters, size_bytes };
    Name { key, metric: metric.into(), unit: unit.into(), fabric: None }
}

fn number<'a>(machine: &'a Machine, name: &'a Name) -> Published<'a> {
    Published {
        machine,
        name,
        median: Some(Median { value: 2.0, low: 1.5, high: 2.5 }),
        ratio: Some(1.1),
        verdict: "slower",
        remark: String::new(),
    }
}

fn written(format: Publication) -> String {
    let machine = machine(2);
    let names = [name(8, "time", "us"), name(64, "rate", "MB/s")];
    published(&names.each_ref().map(|name| number(&machine, name)), format)
}

#[test]
fn numbers_of_several_machines_are_all_there() {
    let (machines, name) = ([machine(2), machine(4)], name(8, "time", "us"));
    let numbers = machines.each_ref().map(|machine| number(machine, &name));
    let text = published(&numbers, Publication::Bencher);
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    for processors in ["2 processors", "4 processors"] {
        let name =
            format!("ping-pong time, 2 ranks, mode x, 8 B, A \"B\" | C, {processors}, over local");
        assert_eq!(read[name]["latency"]["value"], 2000.0, "{text}");
    }
    let text = published(&numbers, Publication::Prometheus);
    let mut samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let all = samples.len();
    samples.sort_unstable();
    samples.dedup();
    // Three gauges and the verdict of each.
    assert_eq!((all, samples.len()), (8, 8), "{text}");
}

#[test]
fn what_was_not_measured_or_is_undecided_is_in_every_format() {
    let (machine, names) = (machine(2), [name(8, "time", "us"), name(16, "time", "us")]);
    let mut numbers = names.each_ref().map(|name| number(&machine, name));
    (numbers[0].verdict, numbers[0].remark) = ("undecided", "2 more launches".into());
    numbers[1] =
        Published { median: None, ratio: None, verdict: "missing", ..number(&machine, &names[1]) };
    let parts = [
        (Publication::Github, "| +10.0 % | undecided: 2 more launches |"),
        (Publication::Github, "| ping-pong time, 2 ranks, mode x, 16 B |  |  |  | missing |"),
        (Publication::Prometheus, "processors=\"2\",verdict=\"missing\"} 1\n"),
        (Publication::Json, "\"remark\":\"2 more launches\""),
        (Publication::Json, "\"median\":null"),
        (Publication::Bencher, "\"missing\": {\n      \"value\": 1\n"),
    ];
    for (format, part) in parts {
        let text = published(&numbers, format);
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
    let text = published(&numbers, Publication::Prometheus);
    assert_eq!(text.matches("cornerstone_median{").count(), 1, "{text}");
}

#[test]
fn the_last_change_is_published_wherever_it_is() {
    let point = |median: f64| Point {
        exact: false,
        run: "r".into(),
        started: "2026-01-13T12:00:00Z".into(),
        host: "h".into(),
        version: "1".into(),
        revision: "0123456789ab".into(),
        median,
        low: median,
        high: median,
        launches: vec![median],
        lines_us: Vec::new(),
        operations_ns: Vec::new(),
        is_of_another_state: false,
        confidence: 0.95,
        requested_confidence: 0.95,
    };
    let effect = Effect { ratio: 1.5, low: 1.4, high: 1.6, confidence: 0.95 };
    let series = Series {
        machine: machine(2),
        name: name(8, "time", "us"),
        better: Better::Lower,
        points: [10.0, 10.0, 15.0, 15.0, 15.0].map(point).into(),
        changes: vec![Change { at: 2, chance: 0.002, effect: Some(effect) }],
    };
    let text = published(&[Published::latest(&series).unwrap()], Publication::Github);
    assert!(text.contains("| +50.0 % | changed: 2026-01-13 012345678 |"), "{text}");
}

#[test]
fn bencher_gets_nanoseconds_and_bounds() {
    let read: serde_json::Value = serde_json::from_str(&written(Publication::Bencher)).unwrap();
    let time = &read["ping-pong time, 2 ranks, mode x, 8 B"]["latency"];
    assert_eq!(*time, json!({"value": 2000.0, "lower_value": 1500.0, "upper_value": 2500.0}));
    assert_eq!(read["ping-pong rate, 2 ranks, mode x, 64 B"]["rate-mb-s"]["value"], 2.0);
}

#[test]
fn prometheus_gets_a_line_for_each_number_with_its_labels_escaped() {
    let text = written(Publication::Prometheus);
    assert!(text.contains(
        "cornerstone_median_low{benchmark=\"ping-pong\",metric=\"time\",unit=\"us\",ranks=\"2\",size_bytes=\"8\",\
         parameters=\"mode=x\",fabric=\"local\",processor=\"A \\\"B\\\" | C\",processors=\"2\"} 1.5\n"
    ), "{text}");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 8);
    assert_eq!(text.matches("# TYPE ").count(), 4);
}

#[test]
fn github_gets_a_table_whose_cells_stay_cells() {
    let text = written(Publication::Github);
    assert!(text.contains("### A \"B\" \\| C, 2 processors, over local"), "{text}");
    assert!(text.contains("| ping-pong time, 2 ranks, mode x, 8 B | 2.00 µs | 1.50 µs .. 2.50 µs | +10.0 % | slower |"), "{text}");
}
