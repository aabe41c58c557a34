//! Tests of the charts and lines of invented measurements.

use record::Summary;

use super::*;

/// Returns a measurement with a time of 1 us.
pub(in crate::report) fn measurement(
    ranks: usize,
    size_bytes: u64,
    packet_bytes: Option<u64>,
) -> Measurement {
    let one = Summary::of_interval((1.0, 1.0, 1.0), 1, 0.95);
    let parameter = packet_bytes.map(|bytes| ("packet_bytes".into(), bytes.into()));
    Measurement {
        benchmark: "adjacent-pair".into(),
        group: "paragon".into(),
        fabric: "local".into(),
        ranks,
        size_bytes,
        parameters: parameter.into_iter().collect(),
        samples: vec![1.0],
        ..Measurement::new("time", "us", Better::Lower, one)
    }
}

/// A line's label and the places of its points.
type Placed = (String, Vec<u64>);

/// Returns the axis and the lines of each chart.
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
