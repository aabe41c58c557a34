//! Groups the measurements of results files by benchmark, by metric and by line of a chart.

mod labels;
mod lines;

use std::collections::BTreeSet;

use benchmark::View;
use record::{Better, Measurement, Run};

pub(super) use labels::{cell, full_label, heading, parameter, words};
pub(super) use lines::{Axis, Line, Plot, label};

/// A measurement and its run.
#[derive(Clone, Copy)]
pub(super) struct Point<'a> {
    /// Index of the run.
    pub(super) run: usize,
    pub(super) measurement: &'a Measurement,
}

/// All measurements of one quantity of a benchmark.
pub(super) struct Metric<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    pub(super) better: Better,
    pub(super) points: Vec<Point<'a>>,
}

/// All measurements of a benchmark, in all runs.
pub(super) struct Benchmark<'a> {
    pub(super) name: &'a str,
    pub(super) group: &'a str,
    pub(super) metrics: Vec<Metric<'a>>,
}

/// Returns the benchmarks of all runs in the order in which they first appear. If a run has a key twice, as a resumed
/// run may, the later measurement counts.
pub(super) fn benchmarks(runs: &[Run]) -> Vec<Benchmark<'_>> {
    let mut found: Vec<Benchmark> = Vec::new();
    for (run, measurement) in
        runs.iter().enumerate().flat_map(|(run, r)| r.measurements.iter().map(move |m| (run, m)))
    {
        let index =
            found.iter().position(|b| b.name == measurement.benchmark).unwrap_or_else(|| {
                let name = measurement.benchmark.as_str();
                // Benchmarks may have changed their group. The present group is used, so that older and newer runs
                // appear together.
                let benchmark = benchmark::find(name).map(|benchmark| benchmark.group.name());
                let group = benchmark.unwrap_or(&measurement.group);
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
    /// Returns the form of its drawing. A benchmark that this build does not have is drawn as charts.
    pub(super) fn view(&self) -> View {
        benchmark::find(self.name).map_or(View::Charts, |benchmark| benchmark.view)
    }

    /// Returns the metric with this name, if there is one.
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

impl Metric<'_> {
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

#[cfg(test)]
pub(super) mod tests;
