//! The charts of a metric: the quantity along the horizontal axis, and the measurements of each line.

use std::collections::BTreeSet;

use record::{Measurement, ParameterValue};

use super::Metric;
use super::labels::{parameter, words};
use crate::wording::ranks;

/// Quantity along the horizontal axis of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) enum Axis {
    Size,
    Ranks,
    Parameter(String),
}

/// Measurements that differ only in the quantity along the axis: one line of a chart.
pub(in crate::report) struct Line<'a> {
    pub(in crate::report) run: usize,
    /// Text that distinguishes it from the other lines of its run.
    pub(in crate::report) label: String,
    /// Points in ascending order of the axis.
    pub(in crate::report) points: Vec<(u64, &'a Measurement)>,
}

/// Lines of a chart.
pub(in crate::report) struct Plot<'a> {
    pub(in crate::report) axis: Axis,
    /// Lines of two points or more, and in the first chart also single points that are on no line.
    pub(in crate::report) lines: Vec<Line<'a>>,
}

/// The chart along one axis, with numbers that rank it among the candidates.
struct Joined<'a> {
    /// Number of its points that no other chart shows.
    count: usize,
    /// Number of values along the axis.
    values: usize,
    plot: Plot<'a>,
}

impl<'a> Metric<'a> {
    /// Returns the charts of the metric: as many as are needed to show each point on a line, beginning with the axis
    /// that joins most points. Points that no line joins are in the first chart. Empty if no axis joins two points.
    pub(in crate::report) fn plots(&self) -> Vec<Plot<'a>> {
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
            // `max_by_key` takes the last of equal elements. In reverse order that is the axis named first.
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

    /// Returns the chart along an axis, with the number of points of `rest` that it joins.
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

    /// Returns the lines of a chart over `axis`, run by run.
    pub(in crate::report) fn lines(&self, axis: &Axis) -> Vec<Line<'a>> {
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

    /// Returns the dimensions with more than one value, without the axis.
    pub(in crate::report) fn varying(&self, axis: &Axis) -> Vec<Dimension> {
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

    /// Returns whether a dimension has several values. The fabric counts within a run only, because the label of a run
    /// names it.
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
}

impl Axis {
    /// Returns the position of a measurement along the axis, or `None` if it does not have the parameter.
    pub(in crate::report) fn of(&self, m: &Measurement) -> Option<u64> {
        match self {
            Axis::Size => Some(m.size_bytes),
            Axis::Ranks => Some(m.ranks as u64),
            Axis::Parameter(name) => match m.parameters.get(name) {
                Some(ParameterValue::Number(number)) => Some(*number),
                _ => None,
            },
        }
    }

    /// Returns the name of the axis, and whether its values are bytes.
    pub(in crate::report) fn title(&self) -> (String, bool) {
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

/// A property that distinguishes the lines of a chart.
pub(in crate::report) enum Dimension {
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
            Dimension::Size => crate::wording::size(m.size_bytes),
            Dimension::Parameter(name) => {
                m.parameters.get(name).map_or(String::new(), |value| parameter(name, value))
            }
        }
    }
}

/// Returns the values of a measurement that distinguish its line in a chart.
pub(in crate::report) fn label(m: &Measurement, varying: &[Dimension]) -> String {
    let parts: Vec<String> =
        varying.iter().map(|d| d.of(m)).filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
