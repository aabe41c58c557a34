//! Charts as data for the page's script.

use analysis::compare::Effect;
use record::{Better, Measurement, StopReason};
use serde::Serialize;

use super::grouping::{Axis, Line, Metric, Plot, words};
use super::samples::rounded;

/// A chart.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: XAxis,
    pub(super) y: YAxis,
    pub(super) lines: Vec<ChartLine>,
    /// Lines without samples, such as a limit of the machine.
    pub(super) references: Vec<Reference>,
}

/// Horizontal axis, which is logarithmic and has a place for zero.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct XAxis {
    pub(super) title: String,
    /// True if its values are bytes.
    pub(super) bytes: bool,
}

/// Vertical axis.
#[derive(Debug, Serialize)]
pub(super) struct YAxis {
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) logarithmic: bool,
    /// Value that is always visible, with a line across: 1 for ratios, 0 for residuals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<f64>,
}

/// A line, as columns with a value for each `x`.
#[derive(Debug, Default, Serialize)]
pub(super) struct ChartLine {
    pub(super) run: usize,
    pub(super) label: String,
    pub(super) x: Vec<u64>,
    pub(super) median: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) p99: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) max: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) n: Vec<u64>,
    /// Limit of the machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) limit: Vec<Option<f64>>,
    /// Values of a model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fit: Vec<f64>,
    /// Reason why sampling stopped: 0 precision, 1 time limit, 2 sample limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop: Vec<u8>,
    /// Share of the machine's limit as a percentage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) share: Vec<Option<String>>,
    /// Index of the samples among the benchmark's details.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) detail: Vec<Option<usize>>,
}

/// A line for comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Reference {
    pub(super) label: String,
    pub(super) run: usize,
    pub(super) x: Vec<u64>,
    pub(super) y: Vec<f64>,
}

/// Information about a measurement that a chart needs in addition to its numbers.
pub(super) trait Context {
    /// Returns the share of the machine's limit as a percentage.
    fn share(&self, measurement: &Measurement) -> Option<String>;
    /// Returns that limit, in the unit of the measurement.
    fn limit(&self, measurement: &Measurement) -> Option<f64>;
    /// Returns the effect relative to the first run, if both measured it.
    fn effect(&self, run: usize, measurement: &Measurement) -> Option<Effect>;
    /// Returns the index of the samples among the benchmark's details.
    fn detail(&self, measurement: &Measurement) -> Option<usize>;
}

impl Chart {
    /// Returns the chart of the values of a metric, with intervals.
    pub(super) fn values(metric: &Metric, plot: &Plot, context: &dyn Context) -> Chart {
        let Plot { axis, lines } = plot;
        let positive = lines.iter().flat_map(|l| &l.points).any(|(_, m)| m.summary.median > 0.0);
        let quantity = words(metric.name);
        Chart {
            title: format!("{} over {}", capitalised(&quantity), axis.title().0),
            x: XAxis::of(&plot.axis),
            y: YAxis {
                title: quantity,
                unit: metric.unit.into(),
                logarithmic: positive,
                base: None,
            },
            lines: lines.iter().map(|line| ChartLine::values(line, context)).collect(),
            references: Vec::new(),
        }
    }

    /// Returns the chart of the ratios of each later run to the first, if both have the measurement, or `None` if there
    /// are no lines of such ratios.
    pub(super) fn ratios(
        metric: &Metric,
        plot: &Plot,
        first: &str,
        context: &dyn Context,
    ) -> Option<Chart> {
        let ratios: Vec<ChartLine> =
            plot.lines.iter().filter_map(|line| ChartLine::ratios(line, context)).collect();
        let better = match metric.better {
            Better::Lower => "lower is better",
            Better::Higher => "higher is better",
        };
        ratios.iter().any(|line| line.x.len() > 1).then(|| Chart {
            title: format!("{} relative to {first} ({better})", capitalised(&words(metric.name))),
            x: XAxis::of(&plot.axis),
            y: YAxis {
                title: "ratio".into(),
                unit: "×".into(),
                logarithmic: true,
                base: Some(1.0),
            },
            lines: ratios,
            references: Vec::new(),
        })
    }
}

impl XAxis {
    /// Returns the axis of a chart over `axis`.
    pub(super) fn of(axis: &Axis) -> XAxis {
        let (title, bytes) = axis.title();
        XAxis { title, bytes }
    }
}

impl ChartLine {
    fn values(line: &Line, context: &dyn Context) -> ChartLine {
        let limit: Vec<Option<f64>> =
            line.points.iter().map(|(_, m)| context.limit(m).map(|v| rounded(v, 4))).collect();
        // The 99th percentile of a rate is the best of a hundred, which is of no use.
        let tail = line.points.iter().all(|(_, m)| m.better == Better::Lower);
        let column = |pick: fn(&Measurement) -> f64| -> Vec<f64> {
            line.points.iter().map(|(_, m)| rounded(pick(m), 5)).collect()
        };
        ChartLine {
            run: line.run,
            label: line.label.clone(),
            x: line.points.iter().map(|&(x, _)| x).collect(),
            median: column(|m| m.summary.median),
            low: column(|m| m.summary.ci_low),
            high: column(|m| m.summary.ci_high),
            p99: if tail { column(|m| m.summary.p99) } else { Vec::new() },
            max: if tail { column(|m| m.summary.max) } else { Vec::new() },
            n: line.points.iter().map(|(_, m)| m.summary.n).collect(),
            limit: if limit.iter().any(Option::is_some) { limit } else { Vec::new() },
            fit: Vec::new(),
            stop: line.points.iter().map(|(_, m)| stop_code(m.stop_reason)).collect(),
            share: line.points.iter().map(|(_, m)| context.share(m)).collect(),
            detail: line.points.iter().map(|(_, m)| context.detail(m)).collect(),
        }
    }

    fn ratios(line: &Line, context: &dyn Context) -> Option<ChartLine> {
        let mut ratios =
            ChartLine { run: line.run, label: line.label.clone(), ..Default::default() };
        for &(x, m) in &line.points {
            let Some(effect) = context.effect(line.run, m) else { continue };
            ratios.x.push(x);
            ratios.median.push(rounded(effect.ratio, 5));
            ratios.low.push(rounded(effect.low, 5));
            ratios.high.push(rounded(effect.high, 5));
        }
        (!ratios.x.is_empty()).then_some(ratios)
    }
}

/// Returns the text with its first letter in upper case.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn stop_code(reason: StopReason) -> u8 {
    match reason {
        StopReason::Precision => 0,
        StopReason::TimeLimit => 1,
        StopReason::SampleLimit => 2,
        StopReason::Exact => 3,
    }
}
