//! Times over message size, taken from a run.

use record::{Key, Measurement, Parameters, Run};

use super::line::Point;

/// Times of one benchmark over message size, all else being equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The benchmark's name.
    pub benchmark: String,
    /// The benchmark's group.
    pub group: String,
    /// The fabric.
    pub fabric: String,
    /// The number of ranks.
    pub ranks: usize,
    /// Other properties that distinguish it from its neighbours.
    pub parameters: Parameters,
    /// Metric of the times, such as `time`.
    pub metric: String,
    /// Points by ascending size.
    pub points: Vec<Point>,
}

/// Returns the series of a run, in the order in which it began them: every metric in microseconds. If a key was
/// measured twice (in a resumed run), the later one counts.
pub fn time_series(run: &Run) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for measurement in run.measurements.iter().filter(|measurement| measurement.unit == "us") {
        let series = match all.iter_mut().position(|series| series.holds(measurement)) {
            Some(index) => &mut all[index],
            None => {
                all.push(Series::of(measurement));
                all.last_mut().expect("one was just added")
            }
        };
        series.add(measurement);
    }
    all
}

impl Series {
    fn of(measurement: &Measurement) -> Self {
        let Key { benchmark, ranks, parameters, .. } = measurement.key();
        Series {
            benchmark,
            group: measurement.group.clone(),
            fabric: measurement.fabric.clone(),
            ranks,
            parameters,
            metric: measurement.metric.clone(),
            points: Vec::new(),
        }
    }

    fn holds(&self, measurement: &Measurement) -> bool {
        self.benchmark == measurement.benchmark
            && self.fabric == measurement.fabric
            && self.ranks == measurement.ranks
            && self.parameters == measurement.parameters
            && self.metric == measurement.metric
    }

    fn add(&mut self, measurement: &Measurement) {
        let point = Point {
            size_bytes: measurement.size_bytes,
            median_us: measurement.summary.median,
            ci_low_us: measurement.summary.ci_low,
            ci_high_us: measurement.summary.ci_high,
        };
        match self.points.binary_search_by_key(&point.size_bytes, |point| point.size_bytes) {
            Ok(index) => self.points[index] = point,
            Err(index) => self.points.insert(index, point),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{measurement, run};

    #[test]
    fn sizes_are_gathered_and_all_else_is_kept_apart() {
        let mut acknowledged = measurement("adjacent-pair", 8, &[3.0]);
        acknowledged.parameters.insert("acknowledgement".into(), true.into());
        let mut rate = measurement("adjacent-pair", 8, &[3.0]);
        (rate.metric, rate.unit) = ("rate".into(), "MB/s".into());
        let series = time_series(&run(vec![
            measurement("adjacent-pair", 64, &[2.0]),
            measurement("adjacent-pair", 8, &[1.0]),
            acknowledged,
            rate,
            measurement("barrier", 0, &[5.0]),
        ]));
        let names: Vec<_> = series
            .iter()
            .map(|s| (s.benchmark.as_str(), s.parameters.len(), s.points.len()))
            .collect();
        assert_eq!(names, [("adjacent-pair", 0, 2), ("adjacent-pair", 1, 1), ("barrier", 0, 1)]);
        assert_eq!(series[0].points[0].size_bytes, 8);
    }

    #[test]
    fn the_later_of_two_measurements_of_a_key_counts() {
        let series = time_series(&run(vec![
            measurement("ping-pong", 8, &[1.0]),
            measurement("ping-pong", 8, &[2.0]),
        ]));
        assert_eq!(series[0].points.len(), 1);
        assert_eq!(series[0].points[0].median_us, 2.0);
    }
}
