//! Numbers for programs that store or show them: Bencher, GitHub, Prometheus.

use std::fmt::Write;

use analysis::compare::Name;
use analysis::history::{Machine, Series};
use record::Summary;
use serde_json::{Map, json};

use super::history::place_of_change;
use super::{comparison_name, machine_name};
use crate::arguments::Publication;
use crate::wording::{quantity, ratio_change};

/// A number for other programs.
pub(crate) struct Published<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) name: &'a Name,
    /// `None` if it was not measured.
    pub(crate) median: Option<Median>,
    /// Ratio to the earlier value, if that is known.
    pub(crate) ratio: Option<f64>,
    /// Verdict in a word. Empty if there is nothing to remark.
    pub(crate) verdict: &'static str,
    /// Details of the verdict.
    pub(crate) remark: String,
}

/// A median with its interval.
#[derive(Clone, Copy)]
pub(crate) struct Median {
    value: f64,
    low: f64,
    high: f64,
}

impl Median {
    pub(crate) fn of(summary: &Summary) -> Median {
        Median { value: summary.median, low: summary.ci_low, high: summary.ci_high }
    }
}

impl<'a> Published<'a> {
    /// Returns the number of the latest run, with its last change.
    pub(crate) fn latest(series: &'a Series) -> Option<Published<'a>> {
        let point = series.points.last()?;
        let change = series.changes.last();
        Some(Published {
            machine: &series.machine,
            name: &series.name,
            median: Some(Median { value: point.median, low: point.low, high: point.high }),
            ratio: change.and_then(|change| change.effect).map(|effect| effect.ratio),
            verdict: if change.is_some() { "changed" } else { "" },
            remark: change.map_or_else(String::new, |change| place_of_change(series, change)),
        })
    }
}

/// Returns the numbers in one of the formats for other programs.
pub(crate) fn published(numbers: &[Published<'_>], format: Publication) -> String {
    match format {
        Publication::Bencher => bencher(numbers),
        Publication::Prometheus => prometheus(numbers),
        Publication::Json => json_array(numbers),
        Publication::Github | Publication::Table => github(numbers),
    }
}

/// Verdicts that are reported even to a program that reads only numbers.
const ALARMS: [&str; 3] = ["slower", "undecided", "missing"];

/// Returns Bencher Metric Format: benchmark, measure, value with its bounds. Bencher's own measure `latency` is in
/// nanoseconds. With several machines, names end with the machine. The benchmark `check` counts the numbers with an
/// alarming verdict.
fn bencher(numbers: &[Published<'_>]) -> String {
    let mut all = Map::new();
    let several = numbers.windows(2).any(|pair| pair[0].machine != pair[1].machine);
    for number in numbers {
        let Some(Median { value, low, high }) = number.median else { continue };
        let unit = number.name.unit.as_str();
        let (measure, scale) = match nanoseconds(unit) {
            Some(scale) => ("latency".to_string(), scale),
            None => (slug(&format!("{} {unit}", number.name.metric)), 1.0),
        };
        let value = json!({
            "value": value * scale,
            "lower_value": low * scale,
            "upper_value": high * scale,
        });
        let mut name = comparison_name(number.name);
        if several {
            let _ = write!(name, ", {}", machine_name(number.machine));
        }
        let benchmark = all.entry(name).or_insert_with(|| json!({}));
        benchmark[measure] = value;
    }
    let count = |verdict: &str| numbers.iter().filter(|n| n.verdict == verdict).count();
    for alarm in ALARMS.into_iter().filter(|alarm| count(alarm) > 0) {
        let check = all.entry("check").or_insert_with(|| json!({}));
        check[alarm] = json!({ "value": count(alarm) });
    }
    serde_json::to_string_pretty(&all).expect("numbers and text are JSON") + "\n"
}

/// Returns the number of nanoseconds in a unit of time.
fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

/// Returns the text in lower case, with `-` for characters that are neither letters nor digits.
fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    text.chars().map(plain).collect()
}

/// Returns tables in Markdown.
fn github(numbers: &[Published<'_>]) -> String {
    let mut text = String::new();
    for of_machine in numbers.chunk_by(|a, b| a.machine == b.machine) {
        let machine = markdown(&machine_name(of_machine[0].machine));
        let _ = writeln!(
            text,
            "### {machine}\n\n| measurement | median | interval | change | |\n|---|--:|--:|--:|---|"
        );
        for number in of_machine {
            let _ = writeln!(text, "| {} |", cells(number).map(|cell| markdown(&cell)).join(" | "));
        }
        text.push('\n');
    }
    text
}

/// Returns the cells of a number: its name, median, interval, change, and verdict.
fn cells(number: &Published<'_>) -> [String; 5] {
    let Published { name, median, ratio, verdict, remark, .. } = number;
    let unit = &name.unit;
    let (median, interval) = median.map_or_else(Default::default, |Median { value, low, high }| {
        let interval = format!("{} .. {}", quantity(low, unit), quantity(high, unit));
        (quantity(value, unit), interval)
    });
    let verdict = match remark.is_empty() {
        true => verdict.to_string(),
        false => format!("{verdict}: {remark}"),
    };
    let change = ratio.map_or_else(String::new, ratio_change);
    [comparison_name(name), median, interval, change, verdict]
}

/// Returns the text of a cell that neither ends its column nor becomes a tag.
fn markdown(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace(['\n', '\r'], " ")
}

/// Returns Prometheus' text exposition format.
fn prometheus(numbers: &[Published<'_>]) -> String {
    type Value = fn(&Median) -> f64;
    let gauges: [(&str, &str, Value); 3] = [
        ("cornerstone_median", "The median over launches, in the unit of the label.", |m| m.value),
        ("cornerstone_median_low", "The lower end of its confidence interval.", |m| m.low),
        ("cornerstone_median_high", "The upper end of its confidence interval.", |m| m.high),
    ];
    let mut text = String::new();
    for (gauge, help, value) in gauges {
        let _ = writeln!(text, "# HELP {gauge} {help}\n# TYPE {gauge} gauge");
        for number in numbers {
            if let Some(median) = &number.median {
                let _ = writeln!(text, "{gauge}{{{}}} {}", labels(number), value(median));
            }
        }
    }
    let gauge = "cornerstone_verdict";
    let _ = writeln!(text, "# HELP {gauge} 1 for the verdict of the label.\n# TYPE {gauge} gauge");
    for number in numbers.iter().filter(|number| !number.verdict.is_empty()) {
        let _ = writeln!(text, "{gauge}{{{},verdict=\"{}\"}} 1", labels(number), number.verdict);
    }
    text
}

/// Returns all labels that distinguish a number from the others. Two samples with the same labels are an error of the
/// whole file.
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
        ("processors", machine.processors.to_string()),
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
            "median": number.median.map(|median| median.value),
            "low": number.median.map(|median| median.low),
            "high": number.median.map(|median| median.high),
            "ratio": number.ratio,
            "verdict": number.verdict,
            "remark": number.remark,
        })
    };
    serde_json::to_string(&numbers.iter().map(object).collect::<Vec<_>>())
        .expect("numbers and text are JSON")
        + "\n"
}

#[cfg(test)]
mod tests;
