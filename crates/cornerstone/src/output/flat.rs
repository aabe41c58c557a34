//! A measurement as one flat record for programs: the fields of the results file without the samples, and the share of
//! the limit that bounds it, if the run has measured that limit before.

use analysis::limits::Share;
use record::Measurement;
use serde_json::{Map, Value};

/// Columns of the CSV, in their order.
const COLUMNS: [&str; 26] = [
    "benchmark",
    "group",
    "fabric",
    "launch",
    "ranks",
    "size_bytes",
    "parameters",
    "metric",
    "unit",
    "better",
    "median",
    "ci_low",
    "ci_high",
    "ci_confidence",
    "mean",
    "min",
    "p99",
    "p999",
    "max",
    "n",
    "stop_reason",
    "events_per_sample",
    "spent_s",
    "limit",
    "limited_by",
    "share_of_limit",
];

/// Returns one JSON object on one line.
pub(crate) fn json_line(measurement: &Measurement, share: Option<Share>) -> String {
    format!("{}\n", Value::Object(flat(measurement, share)))
}

/// Returns the header of the CSV.
pub(crate) fn csv_header() -> String {
    COLUMNS.join(",") + "\n"
}

/// Returns one line of CSV.
pub(crate) fn csv_line(measurement: &Measurement, share: Option<Share>) -> String {
    let flat = flat(measurement, share);
    let cell = |column: &&str| match (*column, flat.get(*column)) {
        ("parameters", _) => parameters(measurement),
        (_, Some(Value::String(text))) => quoted(text),
        (_, Some(value)) => value.to_string(),
        (_, None) => String::new(),
    };
    COLUMNS.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
}

/// Returns the record of the results file with its nested fields at the top level. Each parameter and each field of the
/// timing keeps its name.
fn flat(measurement: &Measurement, share: Option<Share>) -> Map<String, Value> {
    let value = serde_json::to_value(measurement).expect("a measurement is plain data");
    let mut flat = Map::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("samples" | "warm_up_samples", _) => {}
            ("outliers", Value::Object(fields)) => {
                flat.extend(fields.iter().map(|(n, v)| (format!("outliers_{n}"), v.clone())));
            }
            (_, Value::Object(fields)) => {
                flat.extend(fields.iter().map(|(n, v)| (n.clone(), v.clone())));
            }
            _ => {
                flat.insert(name.clone(), value.clone());
            }
        }
    }
    flat.insert("launch".into(), measurement.launch.into());
    if let Some(Share { bound, limit, share }) = share {
        flat.insert("limit".into(), limit.into());
        flat.insert("limited_by".into(), bound.to_string().into());
        flat.insert("share_of_limit".into(), share.into());
    }
    flat
}

/// Returns `name=value` pairs with semicolons between them.
fn parameters(measurement: &Measurement) -> String {
    let pairs = measurement.parameters.iter().map(|(name, value)| format!("{name}={value}"));
    quoted(&pairs.collect::<Vec<_>>().join(";"))
}

/// Returns a CSV field by RFC 4180: in quotes if it contains a comma, a quote or a line end.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use analysis::limits::{Bound, Precision};
    use record::{Better, Outliers, StopReason, Summary, Timing};

    use super::*;

    fn measurement() -> Measurement {
        Measurement {
            benchmark: "adjacent-pair".into(),
            group: "pairs".into(),
            fabric: "local".into(),
            ranks: 2,
            size_bytes: 1024,
            parameters: [
                ("acknowledgement".to_string(), true.into()),
                ("packet_bytes".to_string(), 64.into()),
            ]
            .into(),
            metric: "time".into(),
            unit: "us".into(),
            better: Better::Lower,
            summary: Summary {
                median: 1.5,
                ci_low: 1.25,
                ci_high: 2.0,
                ci_confidence: 0.96,
                mean: 1.75,
                min: 1.0,
                p99: 3.0,
                p999: 4.0,
                max: 5.0,
                n: 100,
                outliers: Outliers { high_mild: 2, ..Outliers::default() },
            },
            stop_reason: StopReason::TimeLimit,
            timing: Timing {
                events_per_sample: 1,
                clock_share: 0.01,
                start: "none".into(),
                late_starts: 0,
                spent_s: 0.5,
            },
            samples: vec![1.5],
            warm_up_samples: vec![9.0],
            search: None,
            link_use: Vec::new(),
            turns: Vec::new(),
            pauses: None,
            launch: 3,
            launch_medians: Vec::new(),
            launch_lines_us: Vec::new(),
            launch_operations_ns: Vec::new(),
        }
    }

    fn share() -> Share {
        Share { bound: Bound::Peak { precision: Precision::Single }, limit: 0.75, share: 0.5 }
    }

    #[test]
    fn the_share_of_the_limit_stands_beside_the_number() {
        let line = json_line(&measurement(), Some(share()));
        let read: Map<String, Value> = serde_json::from_str(&line).unwrap();
        assert_eq!(read["limit"], 0.75);
        assert_eq!(read["limited_by"], "this core's peak in single precision");
        assert_eq!(read["share_of_limit"], 0.5);
        assert!(csv_line(&measurement(), None).ends_with(",,,\n"));
    }

    #[test]
    fn json_is_one_flat_object_with_the_names_of_the_file() {
        let line = json_line(&measurement(), None);
        let read: Map<String, Value> = serde_json::from_str(&line).unwrap();
        assert!(read.values().all(|value| !value.is_object() && !value.is_array()), "{line}");
        for name in [
            "benchmark",
            "fabric",
            "ranks",
            "size_bytes",
            "metric",
            "unit",
            "median",
            "ci_low",
            "ci_high",
            "p99",
            "max",
            "n",
            "stop_reason",
            "packet_bytes",
            "outliers_high_mild",
        ] {
            assert!(read.contains_key(name), "{name} is missing in {line}");
        }
        assert_eq!(read["stop_reason"], "time-limit");
        assert_eq!(read["acknowledgement"], true);
        // No field was overwritten by a nested field of the same name.
        let nested = serde_json::to_value(measurement()).unwrap();
        let leaves: usize = nested
            .as_object()
            .unwrap()
            .values()
            .map(|v| v.as_object().map_or(usize::from(!v.is_array()), |inner| inner.len()))
            .sum();
        assert_eq!(read.len(), leaves);
    }

    #[test]
    fn csv_has_a_cell_for_every_column() {
        let line = csv_line(&measurement(), Some(share()));
        assert_eq!(line.split(',').count(), csv_header().split(',').count());
        assert!(line.contains(",acknowledgement=yes;packet_bytes=64,"), "{line}");
        assert!(line.starts_with("adjacent-pair,pairs,local,3,2,1024,"), "{line}");
        assert!(!line.contains(",,"), "an empty cell: {line}");
    }

    #[test]
    fn csv_quotes_what_would_mislead() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("plain text"), "plain text");
    }
}
