//! Numbers for programs that keep or show them: Bencher, GitHub, Prometheus.

use std::fmt::Write;

use analysis::compare::Name;
use analysis::history::{Machine, Series};
use serde_json::{Map, json};

use super::{comparison_name, machine_name};
use crate::arguments::Publication;
use crate::wording::{quantity, ratio_change};

/// One number, as other programs take it.
pub(crate) struct Published<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) name: &'a Name,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The ratio to the earlier value, if that is known.
    pub(crate) ratio: Option<f64>,
    /// The remark about it.
    pub(crate) verdict: String,
}

impl<'a> Published<'a> {
    /// The number of the latest run.
    pub(crate) fn latest(series: &'a Series) -> Option<Published<'a>> {
        let point = series.points.last()?;
        let changed_now =
            series.changes.last().filter(|change| change.at + 1 == series.points.len());
        let (machine, name) = (&series.machine, &series.name);
        Some(Published {
            machine,
            name,
            value: point.median,
            low: point.low,
            high: point.high,
            ratio: changed_now.and_then(|change| change.effect).map(|effect| effect.ratio),
            verdict: if changed_now.is_some() { "changed" } else { "" }.into(),
        })
    }
}

/// The numbers in one of the formats for other programs.
pub(crate) fn published(numbers: &[Published<'_>], format: Publication) -> String {
    match format {
        Publication::Bencher => bencher(numbers),
        Publication::Prometheus => prometheus(numbers),
        Publication::Json => json_array(numbers),
        Publication::Github | Publication::Table => github(numbers),
    }
}

/// Bencher Metric Format: benchmark, measure, value with its bounds. Bencher's own measure `latency` is in nanoseconds.
fn bencher(numbers: &[Published<'_>]) -> String {
    let mut all = Map::new();
    for number in numbers {
        let unit = number.name.unit.as_str();
        let (measure, scale) = match nanoseconds(unit) {
            Some(scale) => ("latency".to_string(), scale),
            None => (slug(&format!("{} {unit}", number.name.metric)), 1.0),
        };
        let value = json!({
            "value": number.value * scale,
            "lower_value": number.low * scale,
            "upper_value": number.high * scale,
        });
        let benchmark = all.entry(comparison_name(number.name)).or_insert_with(|| json!({}));
        benchmark[measure] = value;
    }
    serde_json::to_string_pretty(&all).expect("numbers and text are JSON") + "\n"
}

/// The number of nanoseconds in a unit of time.
fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

/// Lower case, with `-` for what is neither a letter nor a digit.
fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    text.chars().map(plain).collect()
}

/// A table in Markdown.
fn github(numbers: &[Published<'_>]) -> String {
    let mut text = String::new();
    for of_machine in numbers.chunk_by(|a, b| a.machine == b.machine) {
        let machine = markdown(&machine_name(of_machine[0].machine));
        let _ = writeln!(
            text,
            "### {machine}\n\n| measurement | median | interval | change | |\n|---|--:|--:|--:|---|"
        );
        for Published { name, value, low, high, ratio, verdict, .. } in of_machine {
            let unit = &name.unit;
            let _ = writeln!(
                text,
                "| {} | {} | {} .. {} | {} | {verdict} |",
                markdown(&comparison_name(name)),
                quantity(*value, unit),
                quantity(*low, unit),
                quantity(*high, unit),
                ratio.map_or_else(String::new, ratio_change)
            );
        }
        text.push('\n');
    }
    text
}

/// A cell that neither ends its column nor becomes a tag.
fn markdown(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ")
}

/// Prometheus' text exposition format.
fn prometheus(numbers: &[Published<'_>]) -> String {
    type Value = fn(&Published<'_>) -> f64;
    let gauges: [(&str, &str, Value); 3] = [
        ("cornerstone_median", "The median over launches, in the unit of the label.", |n| n.value),
        ("cornerstone_median_low", "The lower end of its confidence interval.", |n| n.low),
        ("cornerstone_median_high", "The upper end of its confidence interval.", |n| n.high),
    ];
    let mut text = String::new();
    for (gauge, help, value) in gauges {
        let _ = writeln!(text, "# HELP {gauge} {help}\n# TYPE {gauge} gauge");
        for number in numbers {
            let _ = writeln!(text, "{gauge}{{{}}} {}", labels(number), value(number));
        }
    }
    text
}

fn labels(number: &Published<'_>) -> String {
    let Published { machine, name, .. } = number;
    let key = &name.key;
    let parameters: Vec<String> =
        key.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let labels = [
        ("benchmark", key.benchmark.clone()),
        ("metric", name.metric.clone()),
        ("unit", name.unit.clone()),
        ("ranks", key.ranks.to_string()),
        ("size_bytes", key.size_bytes.to_string()),
        ("parameters", parameters.join(",")),
        ("fabric", machine.fabric.clone()),
        ("processor", machine.processor.clone()),
    ];
    let label = |(name, value): &(&str, String)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    labels.iter().map(label).collect::<Vec<_>>().join(",")
}

fn json_array(numbers: &[Published<'_>]) -> String {
    let object = |number: &Published<'_>| {
        json!({
            "machine": number.machine,
            "name": number.name,
            "median": number.value,
            "low": number.low,
            "high": number.high,
            "ratio": number.ratio,
            "verdict": number.verdict,
        })
    };
    serde_json::to_string(&numbers.iter().map(object).collect::<Vec<_>>())
        .expect("numbers and text are JSON")
        + "\n"
}

#[cfg(test)]
mod tests {
    use contract::record::Key;

    use super::*;

    fn written(format: Publication) -> String {
        let machine =
            Machine { processor: "A \"B\" | C".into(), processors: 2, fabric: "local".into() };
        let key = |size_bytes| Key {
            benchmark: "ping-pong".into(),
            ranks: 2,
            parameters: [("mode".to_string(), "x".into())].into(),
            size_bytes,
        };
        let name = |size, metric: &str, unit: &str| Name {
            key: key(size),
            metric: metric.into(),
            unit: unit.into(),
            fabric: None,
        };
        let names = [name(8, "time", "us"), name(64, "rate", "MB/s")];
        let number = |name| Published {
            machine: &machine,
            name,
            value: 2.0,
            low: 1.5,
            high: 2.5,
            ratio: Some(1.1),
            verdict: "slower".into(),
        };
        published(&names.iter().map(number).collect::<Vec<_>>(), format)
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
             parameters=\"mode=x\",fabric=\"local\",processor=\"A \\\"B\\\" | C\"} 1.5\n"
        ), "{text}");
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 6);
        assert_eq!(text.matches("# TYPE ").count(), 3);
    }

    #[test]
    fn github_gets_a_table_whose_cells_stay_cells() {
        let text = written(Publication::Github);
        assert!(text.contains("### A \"B\" \\| C, 2 processors, over local"), "{text}");
        assert!(text.contains("| ping-pong time, 2 ranks, mode x, 8 B | 2.00 µs | 1.50 µs .. 2.50 µs | +10.0 % | slower |"), "{text}");
    }
}
