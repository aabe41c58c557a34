//! Rules of spatial locality in charts: messages to any node are a line across the chart, as in figure 7 of Grunwald
//! and Reed, *Benchmarking hypercube hardware and software*, 1986.

use std::collections::BTreeSet;

use benchmark::View;
use record::{Measurement, Parameters};

use super::chart::Reference;
use super::grouping::{Axis, Benchmark, Line, Metric, Plot, label};
use super::samples::rounded;

/// The rule without a parameter of its own, and the parameter that names the rule.
const UNIFORM: &str = "uniform";
const RULE: &str = "rule";
/// Parameters of the other rules.
const OF_RULES: [&str; 3] = ["radius", "inside_percent", "decay_percent"];

/// Returns the uniform rule as lines across a chart over a parameter of another rule: one line for each run and each
/// value of the parameters that all rules have. Empty for other charts.
pub(super) fn references(benchmark: &Benchmark, metric: &Metric, plot: &Plot) -> Vec<Reference> {
    let is_of_a_rule = match &plot.axis {
        Axis::Parameter(name) => OF_RULES.contains(&name.as_str()),
        Axis::Size | Axis::Ranks => false,
    };
    if benchmark.view() != View::Localities || !is_of_a_rule {
        return Vec::new();
    }
    let varying = metric.varying(&plot.axis);
    let is_uniform =
        |m: &Measurement| m.parameters.get(RULE).is_some_and(|rule| rule.to_string() == UNIFORM);
    let uniform = metric.points.iter().filter(|point| is_uniform(point.measurement));
    let reference = |(run, m): (usize, &Measurement)| {
        let is_comparable = |line: &&Line| line.run == run && differ_by_rule(line.points[0].1, m);
        let comparable = plot.lines.iter().filter(is_comparable);
        let x: BTreeSet<u64> =
            comparable.flat_map(|line| line.points.iter().map(|(x, _)| *x)).collect();
        let y = vec![rounded(m.summary.median, 5); x.len()];
        let label = label(m, &varying);
        (x.len() > 1).then(|| Reference { label, run, x: x.into_iter().collect(), y })
    };
    uniform.filter_map(|point| reference((point.run, point.measurement))).collect()
}

/// Returns whether two measurements differ only by the rule.
fn differ_by_rule(a: &Measurement, b: &Measurement) -> bool {
    let rest = |m: &Measurement| -> Parameters {
        let is_common = |name: &str| name != RULE && !OF_RULES.contains(&name);
        let all = m.parameters.iter().filter(|(name, _)| is_common(name));
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let place = |m: &Measurement| (m.fabric.clone(), m.ranks, m.size_bytes, rest(m));
    place(a) == place(b)
}

#[cfg(test)]
mod tests {
    use record::{ParameterValue, Run, RunHeader};

    use super::*;
    use crate::report::grouping::{benchmarks, tests::measurement};

    fn time(parameters: &[(&str, ParameterValue)], time_us: f64) -> Measurement {
        let mut m = measurement(16, 512, None);
        m.benchmark = "traffic".into();
        m.summary.median = time_us;
        m.parameters =
            parameters.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        m
    }

    fn sphere(radius: u64, hit_percent: u64, time_us: f64) -> Measurement {
        let rule = ("rule", "sphere".into());
        time(&[rule, ("radius", radius.into()), ("hit_percent", hit_percent.into())], time_us)
    }

    fn uniform(hit_percent: u64, time_us: f64) -> Measurement {
        time(&[("rule", UNIFORM.into()), ("hit_percent", hit_percent.into())], time_us)
    }

    /// Returns the references of each chart.
    fn found(measurements: Vec<Measurement>) -> Vec<(Axis, Vec<Reference>)> {
        let runs = vec![Run::of("run", vec![RunHeader::default()], measurements)];
        let all = benchmarks(&runs);
        let metric = all[0].metric("time").unwrap();
        let plots = metric.plots();
        let of_plot = |plot: &Plot| (plot.axis.clone(), references(&all[0], metric, plot));
        plots.iter().map(of_plot).collect()
    }

    #[test]
    fn uniform_messages_are_a_line_across_the_radii_of_spheres() {
        let charts = found(vec![
            uniform(0, 7.0),
            uniform(90, 8.0),
            sphere(1, 0, 3.0),
            sphere(2, 0, 5.0),
            sphere(4, 0, 7.0),
        ]);
        let across = Reference {
            label: "hit percent 0, rule uniform".into(),
            run: 0,
            x: vec![1, 2, 4],
            y: vec![7.0; 3],
        };
        // No sphere has hits, so there is no line with which the uniform messages with hits could be compared.
        let radii = Axis::Parameter("radius".into());
        assert!(charts.contains(&(radii, vec![across])), "{charts:?}");
        let is_radius = |axis: &Axis| *axis == Axis::Parameter("radius".into());
        assert!(charts.iter().all(|(axis, found)| is_radius(axis) || found.is_empty()));
    }

    #[test]
    fn each_probability_of_hits_has_a_line_of_its_own() {
        let mut all = Vec::new();
        // The spheres have other radii, because points that differ only by their hits would be a chart over the hits.
        for (hit_percent, radii) in [(0, [1, 2, 3]), (90, [4, 5, 6])] {
            all.push(uniform(hit_percent, 7.0));
            all.extend(radii.map(|radius| sphere(radius, hit_percent, 3.0)));
        }
        let charts = found(all);
        let radii = charts.iter().find(|(axis, _)| *axis == Axis::Parameter("radius".into()));
        let labels: Vec<&str> =
            radii.unwrap().1.iter().map(|reference| reference.label.as_str()).collect();
        assert_eq!(labels, ["hit percent 0, rule uniform", "hit percent 90, rule uniform"]);
    }
}
