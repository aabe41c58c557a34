//! Charts and tables of a publication with the numbers of this machine, instead of the charts of other benchmarks.
//!
//! After Games and others, "Benchmarking methodology for real-time embedded scalable high performance computing", MITRE
//! 1995: figures 3.1 and 3.3, rates of FFTs over their length, and table 3.1, three variants of foldfft.

use analysis::limits::Bound;
use benchmark::View;
use maud::{Markup, html};
use record::{Measurement, ParameterValue, Run};

use super::chart::{Chart, ChartLine, Context, Reference, XAxis, YAxis};
use super::elements::swatch;
use super::grouping::{Axis, Benchmark, Line, Metric, Plot};
use super::limits::Limits;
use super::samples::rounded;
use crate::wording::{quantity, significant};

const POINTS: &str = "points";
const WAY: &str = "way";
const INSTANCE: &str = "instance";

/// A chart over the length of transforms.
struct Figure {
    title: &'static str,
    /// Variants of the transform that it shows.
    ways: &'static [&'static str],
}

const FIGURES: [Figure; 2] = [
    Figure {
        title: "A library call for each transform: rate over length (figure 3.1)",
        ways: &["one"],
    },
    Figure {
        title: "Blocks of transforms: rate over length (figure 3.3)",
        ways: &["block", "library"],
    },
];

/// Variants of the transform as the benchmark names them, and as the charts label them.
const WAYS: [(&str, &str); 3] =
    [("one", "one at a time"), ("library", "library, in blocks"), ("block", "block FFT")];

/// Returns the charts of transforms over their length. Empty for other benchmarks.
pub(super) fn charts(benchmark: &Benchmark, limits: &Limits, context: &dyn Context) -> Vec<Chart> {
    match benchmark.metric("rate") {
        Some(metric) if benchmark.view() == View::TransformLengths => FIGURES
            .iter()
            .map(|figure| figure.chart(metric, limits, context))
            .chain([gains(metric)])
            .filter(|chart| !chart.lines.is_empty())
            .collect(),
        _ => Vec::new(),
    }
}

impl Figure {
    /// Returns the chart of rates. Its axis begins at zero, so that the distance of two lines shows their ratio.
    fn chart(&self, metric: &Metric, limits: &Limits, context: &dyn Context) -> Chart {
        let mut lines = lines(metric);
        lines.retain(|line| {
            text(line.points[0].1, WAY).is_some_and(|variant| self.ways.contains(&variant))
        });
        let references = peaks(&lines, limits);
        let plot = Plot { axis: axis(), lines };
        let mut chart = Chart::values(metric, &plot, context);
        // The peak is one line for all, not one for each.
        chart.lines.iter_mut().for_each(|line| line.limit.clear());
        Chart {
            title: self.title.into(),
            y: YAxis { logarithmic: false, base: Some(0.0), ..chart.y },
            references,
            ..chart
        }
    }
}

fn axis() -> Axis {
    Axis::Parameter(POINTS.into())
}

/// Returns a line for each run, variant and instance.
fn lines<'a>(metric: &Metric<'a>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line> = Vec::new();
    for point in &metric.points {
        let (Some(x), Some(label)) = (axis().of(point.measurement), label(point.measurement))
        else {
            continue;
        };
        let same = |line: &&mut Line| line.run == point.run && line.label == label;
        match lines.iter_mut().find(same) {
            Some(line) => line.points.push((x, point.measurement)),
            None => {
                lines.push(Line { run: point.run, label, points: vec![(x, point.measurement)] });
            }
        }
    }
    lines.iter_mut().for_each(|line| line.points.sort_by_key(|&(x, _)| x));
    lines
}

/// Returns a label such as `block FFT, multiple instance`.
fn label(m: &Measurement) -> Option<String> {
    let (variant, instance) = (text(m, WAY)?, text(m, INSTANCE)?);
    let (_, words) = WAYS.iter().find(|(name, _)| *name == variant)?;
    Some(format!("{words}, {instance} instance"))
}

fn text<'a>(m: &'a Measurement, name: &str) -> Option<&'a str> {
    match m.parameters.get(name) {
        Some(ParameterValue::Text(text)) => Some(text),
        _ => None,
    }
}

fn number(m: &Measurement, name: &str) -> Option<u64> {
    match m.parameters.get(name) {
        Some(ParameterValue::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Returns the peak of each run, as a line across its chart.
fn peaks(lines: &[Line], limits: &Limits) -> Vec<Reference> {
    let mut runs: Vec<usize> = lines.iter().map(|line| line.run).collect();
    runs.dedup();
    let peak = |run: usize| {
        let points = || lines.iter().filter(|line| line.run == run).flat_map(|line| &line.points);
        let share = points().find_map(|(_, m)| limits.share(m))?;
        let mut x: Vec<u64> = points().map(|&(x, _)| x).collect();
        x.sort_unstable();
        x.dedup();
        let Bound::Peak { .. } = share.bound else { return None };
        let y = vec![rounded(share.limit, 5); x.len()];
        Some(Reference { label: share.bound.to_string(), run, x, y })
    };
    runs.into_iter().filter_map(peak).collect()
}

/// Returns the ratio of the rate of the block FFT to that of a library call for each transform.
fn gains(metric: &Metric) -> Chart {
    let lines = lines(metric);
    let of = |run: usize, label: &str| lines.iter().find(|l| l.run == run && l.label == label);
    let gain = |line: &Line| {
        let m = line.points[0].1;
        let instance = text(m, INSTANCE)?;
        let alone = of(line.run, &format!("{}, {instance} instance", WAYS[0].1))?;
        let label = line.label.clone();
        let mut gains = ChartLine { run: line.run, label, ..ChartLine::default() };
        for (x, block) in &line.points {
            let Some((_, one)) = alone.points.iter().find(|(length, _)| length == x) else {
                continue;
            };
            let (block, one) = (&block.summary, &one.summary);
            gains.x.push(*x);
            gains.median.push(rounded(block.median / one.median, 5));
            gains.low.push(rounded(block.ci_low / one.ci_high, 5));
            gains.high.push(rounded(block.ci_high / one.ci_low, 5));
        }
        (!gains.x.is_empty()).then_some(gains)
    };
    let is_block = |line: &&Line| text(line.points[0].1, WAY) == Some("block");
    Chart {
        title: "The gain of blocks: block FFT / a library call for each".into(),
        x: XAxis::of(&axis()),
        y: YAxis { title: "ratio".into(), unit: "×".into(), logarithmic: true, base: Some(1.0) },
        lines: lines.iter().filter(is_block).filter_map(gain).collect(),
        references: Vec::new(),
    }
}

/// Variants of foldfft as the benchmark names them, and as the table heads them.
const FOLDFFT_WAYS: [(&str, &str); 3] =
    [("plain", "plain loops"), ("library", "with a library's FFT"), ("blocked", "blocked")];

/// Returns the table of the variants of foldfft. Empty for other benchmarks.
pub(super) fn table(benchmark: &Benchmark, runs: &[Run]) -> Markup {
    let Some(metric) = benchmark.metric("rate").filter(|_| benchmark.view() == View::Ways) else {
        return html! {};
    };
    let highest = metric.points.iter().map(|p| p.measurement.summary.median).fold(0.0, f64::max);
    html! {
        div.scroll tabindex="0" role="region" aria-label="foldfft in three ways" {
            table.ways {
                caption { "Rate of foldfft(n, f) in three ways (table 3.1)" }
                thead { tr {
                    @if runs.len() > 1 { th scope="col" { "run" } }
                    th scope="col" { "n, f" }
                    @for (_, heading) in FOLDFFT_WAYS { th scope="col" { (heading) } }
                    th scope="col" { "blocked / plain" }
                } }
                tbody { @for row in fold_rows(metric) {
                    tr {
                        @if runs.len() > 1 { th scope="row" { (swatch(row.run)) (runs[row.run].label) } }
                        th scope="row" { (row.points) ", " (row.fold) }
                        @for m in row.ways { td { @if let Some(m) = m { (bar(m, highest)) } } }
                        td { @if let [Some(plain), _, Some(blocked)] = row.ways {
                            (significant(blocked.summary.median / plain.summary.median)) " ×"
                        } }
                    }
                } }
            }
        }
    }
}

/// Returns a number with a bar. The length of the bar is the number's share of the highest number.
fn bar(m: &Measurement, highest: f64) -> Markup {
    let length = 100.0 * m.summary.median / highest;
    html! {
        span.bar style=(format!("width: {length:.1}%")) aria-hidden="true" {}
        span.value { (quantity(m.summary.median, &m.unit)) }
    }
}

/// One size of one run, in the order of [`FOLDFFT_WAYS`].
struct FoldRow<'a> {
    run: usize,
    points: u64,
    fold: u64,
    ways: [Option<&'a Measurement>; 3],
}

fn fold_rows<'a>(metric: &Metric<'a>) -> Vec<FoldRow<'a>> {
    let mut rows: Vec<FoldRow> = Vec::new();
    for point in &metric.points {
        let m = point.measurement;
        let variant = FOLDFFT_WAYS.iter().position(|(name, _)| text(m, WAY) == Some(name));
        let (Some(points), Some(fold), Some(variant)) =
            (number(m, POINTS), number(m, "fold"), variant)
        else {
            continue;
        };
        let run = point.run;
        let same = |row: &FoldRow| (row.points, row.fold, row.run) == (points, fold, run);
        let at = rows.iter().position(same).unwrap_or_else(|| {
            rows.push(FoldRow { run, points, fold, ways: [None; 3] });
            rows.len() - 1
        });
        rows[at].ways[variant] = Some(m);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::grouping::{benchmarks, tests::measurement};
    use record::RunHeader;

    struct Nothing;

    impl Context for Nothing {
        fn share(&self, _: &Measurement) -> Option<String> {
            None
        }

        fn limit(&self, _: &Measurement) -> Option<f64> {
            Some(1.0)
        }

        fn effect(&self, _: usize, _: &Measurement) -> Option<analysis::compare::Effect> {
            None
        }

        fn detail(&self, _: &Measurement) -> Option<usize> {
            None
        }
    }

    fn rate(benchmark: &str, parameters: &[(&str, ParameterValue)], rate: f64) -> Measurement {
        let mut m = measurement(1, 0, None);
        (m.benchmark, m.metric, m.unit) = (benchmark.into(), "rate".into(), "MFLOP/s".into());
        let parameters = parameters.iter().map(|(name, value)| ((*name).into(), value.clone()));
        m.parameters = parameters.collect();
        let s = &mut m.summary;
        (s.median, s.ci_low, s.ci_high) = (rate, 0.9 * rate, 1.1 * rate);
        m
    }

    fn fft(variant: &str, points: u64, mflop_per_s: f64) -> Measurement {
        let parameters =
            [("instance", "repeated".into()), ("way", variant.into()), ("points", points.into())];
        rate("fft", &parameters, mflop_per_s)
    }

    fn run(measurements: Vec<Measurement>) -> Vec<Run> {
        vec![Run::of("run", vec![RunHeader::default()], measurements)]
    }

    #[test]
    fn ffts_get_the_figures_of_the_paper_with_the_peak_across() {
        let runs = run(vec![
            rate("peak", &[("precision", "single".into())], 200_000.0),
            fft("one", 8, 10_000.0),
            fft("block", 8, 80_000.0),
            fft("library", 8, 30_000.0),
            fft("one", 1024, 50_000.0),
            fft("block", 1024, 50_000.0),
        ]);
        let found = benchmarks(&runs);
        let charts = charts(&found[1], &Limits::of(&runs), &Nothing);
        let labels = |chart: &Chart| -> Vec<String> {
            chart.lines.iter().map(|line| line.label.clone()).collect()
        };
        let [alone, blocks, gains] = charts.as_slice() else { panic!("{charts:?}") };
        assert_eq!(labels(alone), ["one at a time, repeated instance"]);
        assert_eq!(
            labels(blocks),
            ["block FFT, repeated instance", "library, in blocks, repeated instance"]
        );
        for chart in [alone, blocks] {
            assert!(!chart.y.logarithmic && chart.y.base == Some(0.0));
            assert_eq!(chart.references[0].label, "this core's peak in single precision");
            assert_eq!(chart.references[0].y, [200_000.0; 2]);
            assert!(chart.lines.iter().all(|line| line.limit.is_empty()), "one line for all");
        }
        assert_eq!(gains.lines[0].x, [8, 1024]);
        assert_eq!(gains.lines[0].median, [8.0, 1.0]);
        // The bounds are the lowest of one over the highest of the other: 0.9 / 1.1 and 1.1 / 0.9.
        assert_eq!((gains.lines[0].low[1], gains.lines[0].high[1]), (0.81818, 1.2222));
    }

    #[test]
    fn foldfft_is_a_table_of_three_ways_for_each_size() {
        let fold = |variant: &str, value| {
            let size = [("points", 64.into()), ("fold", 8.into()), ("way", variant.into())];
            rate("foldfft", &size, value)
        };
        let runs = run(vec![fold("plain", 4000.0), fold("blocked", 30_000.0)]);
        let found = benchmarks(&runs);
        let text = table(&found[0], &runs).into_string();
        for expected in
            ["64, 8", "4.00 GFLOP/s", "30.0 GFLOP/s", "7.50 ×", "width: 100.0%", "width: 13.3%"]
        {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
        assert!(
            charts(&found[0], &Limits::of(&runs), &Nothing).is_empty()
                && found[0].view() == View::Ways
        );
    }
}
