//! From the lines of results files to what a reader looks for: benchmark by benchmark, metric by metric, line by line.

use std::collections::BTreeSet;

use contract::record::{Better, Measurement, ParameterValue, Run};

/// A measurement and the run that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    /// The index of the run.
    pub(super) run: usize,
    /// What it measured.
    pub(super) measurement: &'a Measurement,
}

/// Every measurement of one quantity of a benchmark.
pub(super) struct Metric<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    pub(super) better: Better,
    pub(super) points: Vec<Point<'a>>,
}

/// Every measurement of a benchmark, of all runs.
pub(super) struct Benchmark<'a> {
    pub(super) name: &'a str,
    pub(super) group: &'a str,
    pub(super) metrics: Vec<Metric<'a>>,
}

/// The quantity along a chart's horizontal axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Size,
    Ranks,
    Parameter(String),
}

/// Measurements that differ only in the quantity along the axis: one line of a chart.
pub(super) struct Line<'a> {
    pub(super) run: usize,
    /// What tells it from the other lines of its run.
    pub(super) label: String,
    /// In ascending order of the axis.
    pub(super) points: Vec<(u64, &'a Measurement)>,
}

/// The benchmarks of all runs in the order in which they first appear. Where a run holds a key twice, as a run that
/// was resumed may, the later one counts.
pub(super) fn benchmarks(runs: &[Run]) -> Vec<Benchmark<'_>> {
    let mut found: Vec<Benchmark> = Vec::new();
    for (run, measurement) in
        runs.iter().enumerate().flat_map(|(run, r)| r.measurements.iter().map(move |m| (run, m)))
    {
        let index =
            found.iter().position(|b| b.name == measurement.benchmark).unwrap_or_else(|| {
                let (name, group) = (measurement.benchmark.as_str(), measurement.group.as_str());
                found.push(Benchmark { name, group, metrics: Vec::new() });
                found.len() - 1
            });
        found[index].add(Point { run, measurement });
    }
    for metric in found.iter_mut().flat_map(|benchmark| &mut benchmark.metrics) {
        metric.keep_the_latest();
    }
    found
}

impl<'a> Benchmark<'a> {
    /// The metric of that name, if there is one.
    pub(super) fn metric(&self, name: &str) -> Option<&Metric<'a>> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    fn add(&mut self, point: Point<'a>) {
        let m = point.measurement;
        let same = |metric: &&mut Metric| metric.name == m.metric && metric.unit == m.unit;
        match self.metrics.iter_mut().find(same) {
            Some(metric) => metric.points.push(point),
            None => self.metrics.push(Metric {
                name: &m.metric,
                unit: &m.unit,
                better: m.better,
                points: vec![point],
            }),
        }
    }
}

impl<'a> Metric<'a> {
    /// The quantity that varies most: the message size where there are several, else a parameter, else the ranks.
    pub(super) fn axis(&self) -> Axis {
        let mut axes = vec![Axis::Size];
        axes.extend(self.numeric_parameters().into_iter().map(Axis::Parameter));
        axes.push(Axis::Ranks);
        let values = |axis: &Axis| -> usize {
            self.points.iter().map(|p| axis.of(p.measurement)).collect::<BTreeSet<_>>().len()
        };
        // `max_by_key` takes the last of equals; reversed, the first named wins.
        axes.into_iter().rev().max_by_key(values).unwrap_or(Axis::Size)
    }

    /// The lines of a chart over `axis`, run by run.
    pub(super) fn lines(&self, axis: &Axis) -> Vec<Line<'a>> {
        let varying = self.varying(axis);
        let mut lines: Vec<Line> = Vec::new();
        for point in &self.points {
            let Some(x) = axis.of(point.measurement) else { continue };
            let label = label(point.measurement, &varying);
            let same = |line: &&mut Line| line.run == point.run && line.label == label;
            match lines.iter_mut().find(same) {
                Some(line) => line.points.push((x, point.measurement)),
                None => {
                    lines.push(Line { run: point.run, label, points: vec![(x, point.measurement)] })
                }
            }
        }
        for line in &mut lines {
            line.points.sort_by_key(|&(x, _)| x);
        }
        lines.sort_by_key(|line| (line.run, line.points[0].1.ranks));
        lines
    }

    /// The dimensions, apart from the axis, that take more than one value.
    pub(super) fn varying(&self, axis: &Axis) -> Vec<Dimension> {
        let mut dimensions = vec![Dimension::Fabric, Dimension::Ranks, Dimension::Size];
        let names: BTreeSet<&String> =
            self.points.iter().flat_map(|p| p.measurement.parameters.keys()).collect();
        dimensions.extend(names.into_iter().cloned().map(Dimension::Parameter));
        dimensions.retain(|dimension| {
            let is_axis = match (dimension, axis) {
                (Dimension::Size, Axis::Size) | (Dimension::Ranks, Axis::Ranks) => true,
                (Dimension::Parameter(a), Axis::Parameter(b)) => a == b,
                _ => false,
            };
            !is_axis && self.varies(dimension)
        });
        dimensions
    }

    /// Whether a dimension takes several values. The fabric counts only within a run: the run's own label names it.
    fn varies(&self, dimension: &Dimension) -> bool {
        let within_a_run = matches!(dimension, Dimension::Fabric);
        let mut first = std::collections::BTreeMap::new();
        self.points.iter().any(|p| {
            let value = dimension.of(p.measurement);
            let run = if within_a_run { p.run } else { 0 };
            *first.entry(run).or_insert_with(|| value.clone()) != value
        })
    }

    fn numeric_parameters(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, value) in self.points.iter().flat_map(|p| &p.measurement.parameters) {
            if matches!(value, ParameterValue::Number(_)) && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    fn keep_the_latest(&mut self) {
        let mut seen = BTreeSet::new();
        let mut kept: Vec<Point> = Vec::new();
        for point in self.points.iter().rev() {
            if seen.insert((point.run, &point.measurement.fabric, point.measurement.key())) {
                kept.push(*point);
            }
        }
        kept.reverse();
        self.points = kept;
    }
}

impl Axis {
    /// Where a measurement lies along the axis; `None` where it lacks the parameter.
    pub(super) fn of(&self, m: &Measurement) -> Option<u64> {
        match self {
            Axis::Size => Some(m.size_bytes),
            Axis::Ranks => Some(m.ranks as u64),
            Axis::Parameter(name) => match m.parameters.get(name) {
                Some(ParameterValue::Number(number)) => Some(*number),
                _ => None,
            },
        }
    }

    /// The axis's name and whether its values are bytes.
    pub(super) fn title(&self) -> (String, bool) {
        match self {
            Axis::Size => ("message size".into(), true),
            Axis::Ranks => ("ranks".into(), false),
            Axis::Parameter(name) => match name.strip_suffix("_bytes") {
                Some(stem) => (words(stem), true),
                None => (words(name), false),
            },
        }
    }
}

/// Something that tells one line of a chart from another.
pub(super) enum Dimension {
    Fabric,
    Ranks,
    Size,
    Parameter(String),
}

impl Dimension {
    fn of(&self, m: &Measurement) -> String {
        match self {
            Dimension::Fabric => m.fabric.clone(),
            Dimension::Ranks => ranks(m.ranks),
            Dimension::Size => super::format::size(m.size_bytes),
            Dimension::Parameter(name) => {
                m.parameters.get(name).map_or(String::new(), |value| parameter(name, value))
            }
        }
    }
}

/// The heading of a parameter's column.
pub(super) fn heading(name: &str) -> String {
    words(name.strip_suffix("_bytes").unwrap_or(name))
}

/// A parameter's value in a column under its heading.
pub(super) fn cell(name: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Number(bytes) if name.ends_with("_bytes") => super::format::size(*bytes),
        _ => value.to_string(),
    }
}

/// A parameter as a reader would say it: `packet 1 KiB`, `acknowledgement no`.
pub(super) fn parameter(name: &str, value: &ParameterValue) -> String {
    format!("{} {}", heading(name), cell(name, value))
}

/// What tells a measurement from the others of its benchmark, in full.
pub(super) fn full_label(m: &Measurement) -> String {
    let mut parts = vec![ranks(m.ranks)];
    parts.extend(m.parameters.iter().map(|(name, value)| parameter(name, value)));
    if m.size_bytes > 0 {
        parts.push(super::format::size(m.size_bytes));
    }
    parts.join(", ")
}

/// `1 rank`, `2 ranks`.
pub(super) fn ranks(count: usize) -> String {
    if count == 1 { "1 rank".into() } else { format!("{count} ranks") }
}

/// A name as words: `half_round_trip` and `half-round-trip` become `half round trip`.
pub(super) fn words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

fn label(m: &Measurement, varying: &[Dimension]) -> String {
    let parts: Vec<String> =
        varying.iter().map(|d| d.of(m)).filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
