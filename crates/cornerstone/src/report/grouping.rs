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

/// One chart's lines.
pub(super) struct Plot<'a> {
    pub(super) axis: Axis,
    /// Each with two points or more, as far as there are such.
    pub(super) lines: Vec<Line<'a>>,
}

/// What an axis would show.
struct Joined<'a> {
    /// How many points that no other chart shows.
    count: usize,
    /// How many values along the axis.
    values: usize,
    plot: Plot<'a>,
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
    /// What to draw: as many charts as it takes to show each point on a line, along the quantity that joins most of
    /// them first. Points that no line joins stand in the first chart. Empty where nothing varies.
    pub(super) fn plots(&self) -> Vec<Plot<'a>> {
        let mut axes = vec![Axis::Size];
        axes.extend(self.numeric_parameters().into_iter().map(Axis::Parameter));
        axes.push(Axis::Ranks);
        let mut rest: BTreeSet<*const Measurement> =
            self.points.iter().map(|point| std::ptr::from_ref(point.measurement)).collect();
        let mut plots: Vec<Plot> = Vec::new();
        loop {
            let candidates =
                axes.iter().filter(|axis| plots.iter().all(|plot| plot.axis != **axis));
            let joined = candidates.map(|axis| self.joined(axis, &rest)).filter(|j| j.count > 0);
            // Of equals the first named: the reversed order makes it the last, which `max_by_key` takes.
            let joined: Vec<Joined> = joined.collect();
            let Some(best) = joined.into_iter().rev().max_by_key(|j| (j.count, j.values)) else {
                break;
            };
            for (_, measurement) in best.plot.lines.iter().flat_map(|line| &line.points) {
                rest.remove(&std::ptr::from_ref(*measurement));
            }
            plots.push(best.plot);
        }
        if let Some(first) = plots.first_mut() {
            let alone = self.lines(&first.axis).into_iter().filter(|line| line.points.len() == 1);
            let is_left = |line: &Line| rest.contains(&std::ptr::from_ref(line.points[0].1));
            first.lines.extend(alone.filter(is_left));
            first.lines.sort_by_key(|line| (line.run, line.points[0].1.ranks));
        }
        plots
    }

    /// What an axis would join of the points that are left.
    fn joined(&self, axis: &Axis, rest: &BTreeSet<*const Measurement>) -> Joined<'a> {
        let mut lines = self.lines(axis);
        lines.retain(|line| line.points.len() > 1);
        let points = || lines.iter().flat_map(|line| &line.points);
        Joined {
            count: points().filter(|(_, m)| rest.contains(&std::ptr::from_ref(*m))).count(),
            values: points().map(|(x, _)| x).collect::<BTreeSet<_>>().len(),
            plot: Plot { axis: axis.clone(), lines },
        }
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
                Some(stem) => (format!("{} size", words(stem)), true),
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

/// A parameter as a reader would say it: `packet 1 KiB`, `no acknowledgement`.
pub(super) fn parameter(name: &str, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Flag(true) => words(name),
        ParameterValue::Flag(false) => format!("no {}", words(name)),
        _ => format!("{} {}", heading(name), cell(name, value)),
    }
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

#[cfg(test)]
mod tests {
    use contract::record::{Outliers, StopReason, Summary, Timing};

    use super::*;

    fn measurement(ranks: usize, size_bytes: u64, packet_bytes: Option<u64>) -> Measurement {
        let parameter = packet_bytes.map(|bytes| ("packet_bytes".into(), bytes.into()));
        Measurement {
            benchmark: "adjacent-pair".into(),
            group: "paragon".into(),
            fabric: "local".into(),
            ranks,
            size_bytes,
            parameters: parameter.into_iter().collect(),
            metric: "time".into(),
            unit: "us".into(),
            better: Better::Lower,
            summary: Summary {
                median: 1.0,
                ci_low: 1.0,
                ci_high: 1.0,
                ci_confidence: 0.95,
                mean: 1.0,
                min: 1.0,
                p99: 1.0,
                p999: 1.0,
                max: 1.0,
                n: 1,
                outliers: Outliers::default(),
            },
            stop_reason: StopReason::Precision,
            timing: Timing {
                events_per_sample: 1,
                clock_share: 0.0,
                start: "none".into(),
                late_starts: 0,
                spent_s: 0.0,
            },
            samples: vec![1.0],
            warm_up_samples: Vec::new(),
            search: None,
            link_use: Vec::new(),
        }
    }

    /// A line's label and the places of its points.
    type Placed = (String, Vec<u64>);

    /// For each chart its axis and its lines.
    fn plots(measurements: &[Measurement]) -> Vec<(Axis, Vec<Placed>)> {
        let points = measurements.iter().map(|measurement| Point { run: 0, measurement }).collect();
        let metric = Metric { name: "time", unit: "us", better: Better::Lower, points };
        let line = |line: &Line| -> Placed {
            (line.label.clone(), line.points.iter().map(|&(x, _)| x).collect())
        };
        let plots = metric.plots();
        plots.iter().map(|p| (p.axis.clone(), p.lines.iter().map(line).collect())).collect()
    }

    #[test]
    fn sizes_make_lines_for_each_number_of_ranks() {
        let grid = [(2, 8), (2, 64), (2, 512), (4, 8), (4, 64), (4, 512)];
        let found = plots(&grid.map(|(ranks, size)| measurement(ranks, size, None)));
        let lines = [("2 ranks", vec![8, 64, 512]), ("4 ranks", vec![8, 64, 512])];
        assert_eq!(found, [(Axis::Size, lines.map(|(label, x)| (label.into(), x)).into())]);
    }

    #[test]
    fn points_that_the_first_axis_does_not_join_get_a_chart_of_their_own() {
        let found = plots(&[
            measurement(2, 8, None),
            measurement(2, 64, None),
            measurement(2, 512, None),
            measurement(2, 512, Some(64)),
            measurement(2, 512, Some(128)),
        ]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], (Axis::Size, vec![(String::new(), vec![8, 64, 512])]));
        let packets = Axis::Parameter("packet_bytes".into());
        assert_eq!(found[1], (packets, vec![("512 B".into(), vec![64, 128])]));
    }

    #[test]
    fn a_point_that_nothing_joins_stands_in_the_first_chart() {
        let found =
            plots(&[measurement(2, 8, None), measurement(2, 64, None), measurement(4, 512, None)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].1[1], ("4 ranks".into(), vec![512]));
    }

    #[test]
    fn a_single_point_is_no_chart() {
        assert_eq!(plots(&[measurement(2, 0, None)]), []);
    }
}
