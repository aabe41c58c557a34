//! Measurements that were made in several launches, as one each.
//!
//! Launches of the same program differ more than the samples within one: other places in memory, another state of the
//! machine. So a case's median is the median of its launches' medians, and its interval the nonparametric one of these
//! medians, which six launches give at 95 %. What is between the samples of one launch stays in the other quantiles.

use std::collections::BTreeMap;

use contract::record::{Measurement, Run, StopReason, Summary};

use crate::statistics::{MedianInterval, Sample, summarise, widened_median_interval};

/// The number of launches for which the interval of their median reaches this confidence, between 0 and 1: the whole
/// range of n medians misses the true one with probability 2^(1 - n).
pub fn launches_needed(confidence: f64) -> usize {
    (1.0 - (1.0 - confidence).log2()).ceil().max(1.0) as usize
}

/// The number of launches on each of two sides for which the interval of their ratio reaches this confidence:
/// all n of one lie beyond all n of the other by chance in 2 of C(2n, n) arrangements.
pub fn launches_to_compare(confidence: f64) -> usize {
    // C(2n, n) = C(2n - 2, n - 1) (4n - 2) / n.
    let arrangements = (1..).scan(1.0, |all, n: usize| {
        *all *= (4 * n - 2) as f64 / n as f64;
        Some((n, *all))
    });
    let mut enough = arrangements.filter(|(_, all)| 2.0 / all <= 1.0 - confidence);
    enough.next().map_or(usize::MAX, |(n, _)| n)
}

/// The interval of the median of launches with these medians, in the order in which they were made. Launches that
/// follow each other meet one state of the machine and say less than as many that do not, so the interval is the wider
/// the more each is like the one before.
pub fn interval_of_launches(medians: &[f64], confidence: f64) -> Option<MedianInterval> {
    let sample = Sample::new(medians).ok()?;
    let factor = dependence(medians, sample.median()).sqrt();
    Some(widened_median_interval(&sample, confidence, factor))
}

/// Whether that interval reaches the confidence, and half of it is within this share of the median.
pub fn launches_are_precise(medians: &[f64], confidence: f64, precision: f64) -> bool {
    let middle = Sample::new(medians).map_or(0.0, |sample| sample.median());
    interval_of_launches(medians, confidence).is_some_and(|interval| {
        interval.reaches(confidence) && interval.relative_half_width(middle) <= precision
    })
}

/// With fewer launches, chance determines the correlation of neighbours more than the machine does.
const DEPENDENCE_FROM: usize = 12;

/// How many times as much the number of launches below the median varies as that of independent ones: 1 or more. It is
/// the sum of the correlations of neighbours, of the next but one and so on, as far as they are positive (the initial
/// positive sequence: Geyer, Statistical Science 7, 1992), each made larger by 1/n, by which those of n independent
/// ones are too small.
fn dependence(medians: &[f64], middle: f64) -> f64 {
    let sides: Vec<f64> =
        medians.iter().map(|&m| f64::from(i8::from(m > middle) - i8::from(m < middle))).collect();
    let n = sides.len();
    let variance: f64 = sides.iter().map(|side| side * side).sum();
    if n < DEPENDENCE_FROM || variance == 0.0 {
        return 1.0;
    }
    let correlation = |lag: usize| {
        let products = sides.iter().zip(&sides[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / variance + 1.0 / n as f64
    };
    let positive = (1..n / 3).map(correlation).take_while(|&correlation| correlation > 0.0);
    1.0 + 2.0 * positive.sum::<f64>()
}

/// The run with one measurement for each case and metric, over all its launches. A measurement that was made again in
/// the same launch, as a resumed run may, counts as it was made last; so does one that holds a search or pauses.
pub fn pooled(mut run: Run) -> Run {
    let Some(header) = run.headers.last() else { return run };
    let (precision, confidence) = (header.precision, header.confidence);
    let mut order = Vec::new();
    let mut cases: BTreeMap<_, BTreeMap<u32, Measurement>> = BTreeMap::new();
    for measurement in std::mem::take(&mut run.measurements) {
        let m = &measurement;
        let case = (m.key(), m.metric.clone(), m.unit.clone(), m.fabric.clone());
        let launches = cases.entry(case.clone()).or_insert_with(|| {
            order.push(case);
            BTreeMap::new()
        });
        launches.insert(measurement.launch, measurement);
    }
    for case in order {
        let launches: Vec<Measurement> =
            cases.remove(&case).into_iter().flat_map(BTreeMap::into_values).collect();
        run.measurements.extend(pool(launches, precision, confidence));
    }
    run
}

/// One measurement of the launches of a case, of which there is at least one.
fn pool(
    mut launches: Vec<Measurement>,
    precision: f64,
    confidence: f64,
) -> impl Iterator<Item = Measurement> {
    let is_apart = |m: &Measurement| m.search.is_some() || m.pauses.is_some();
    if launches.len() < 2 || launches.iter().any(is_apart) {
        return launches.pop().into_iter();
    }
    let medians: Vec<f64> = launches.iter().map(|m| m.summary.median).collect();
    let converged = launches_are_precise(&medians, confidence, precision);
    let summary = summary(&launches, &medians, confidence);
    let mut pooled = launches.remove(0);
    for other in launches {
        let samples = (pooled.samples.len(), other.samples.len());
        pooled.timing = pooled.timing.and(samples.0, other.timing, samples.1);
        pooled.samples.extend(other.samples);
        pooled.warm_up_samples.extend(other.warm_up_samples);
        pooled.turns.extend(other.turns);
        if pooled.stop_reason.converged() {
            pooled.stop_reason = other.stop_reason;
        }
    }
    pooled.stop_reason = match pooled.stop_reason {
        _ if converged => StopReason::Precision,
        // Each launch converged, and they differ: more of them would take more time.
        StopReason::Precision => StopReason::TimeLimit,
        limit => limit,
    };
    (pooled.summary, pooled.launch_medians) = (summary, medians);
    Some(pooled).into_iter()
}

fn summary(launches: &[Measurement], medians: &[f64], confidence: f64) -> Summary {
    let of_samples = || {
        let samples: Vec<f64> = launches.iter().flat_map(|m| m.samples.iter().copied()).collect();
        Sample::new(samples).ok().map(|sample| summarise(&sample, confidence))
    };
    let all = of_samples().unwrap_or_else(|| without_samples(launches));
    let middle = Sample::new(medians).map(|sample| sample.median());
    let (Ok(median), Some(interval)) = (middle, interval_of_launches(medians, confidence)) else {
        return all;
    };
    Summary {
        median,
        ci_low: interval.low,
        ci_high: interval.high,
        ci_confidence: interval.confidence,
        ..all
    }
}

/// The summary of a metric that was computed from another one, from those of its launches: quantiles of the worst.
fn without_samples(launches: &[Measurement]) -> Summary {
    let first = launches[0].summary.clone();
    launches[1..].iter().map(|m| &m.summary).fold(first, |all, one| {
        let n = all.n + one.n;
        let mean = (all.mean * all.n as f64 + one.mean * one.n as f64) / n.max(1) as f64;
        Summary {
            mean,
            min: all.min.min(one.min),
            p99: all.p99.max(one.p99),
            p999: all.p999.max(one.p999),
            max: all.max.max(one.max),
            n,
            ..all
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{measurement, run};

    fn launch(number: u32, samples: &[f64]) -> Measurement {
        Measurement { launch: number, ..measurement("ping-pong", 8, samples) }
    }

    /// Six launches with medians 10, 20 ... 60, in another order.
    fn six() -> Vec<Measurement> {
        let medians = [30.0, 10.0, 60.0, 20.0, 50.0, 40.0];
        let samples = |median: f64| [median - 1.0, median, median + 1.0];
        (0..).zip(medians).map(|(number, median)| launch(number, &samples(median))).collect()
    }

    #[test]
    fn the_interval_is_that_of_the_launches_and_the_tail_that_of_all_samples() {
        let found = pooled(run(six()));
        let [all] = &found.measurements[..] else { panic!("{found:?}") };
        // Six medians: their median is (30 + 40) / 2, and their whole range has 1 - 2 / 64.
        let s = &all.summary;
        assert_eq!((s.median, s.ci_low, s.ci_high, s.ci_confidence), (35.0, 10.0, 60.0, 0.96875));
        assert_eq!((s.n, s.min, s.max), (18, 9.0, 61.0));
        assert_eq!(all.launch_medians, [30.0, 10.0, 60.0, 20.0, 50.0, 40.0]);
        assert_eq!(all.stop_reason, StopReason::TimeLimit);
    }

    #[test]
    fn one_launch_stays_as_it_is_and_a_measurement_made_again_replaces_the_first() {
        let alone = launch(0, &[1.0, 2.0, 3.0]);
        assert_eq!(pooled(run(vec![alone.clone()])).measurements, [alone]);
        let mut twice = six();
        twice.push(launch(5, &[44.0, 45.0, 46.0]));
        let found = pooled(run(twice));
        assert_eq!(found.measurements[0].launch_medians[5], 45.0);
        assert_eq!(found.measurements[0].summary.n, 18);
    }

    #[test]
    fn cases_keep_their_order_and_launches_that_agree_converge() {
        let of = |size, number| Measurement {
            launch: number,
            ..measurement("ping-pong", size, &[5.0; 40])
        };
        let both = |number| [of(64, number), of(8, number)];
        let found = pooled(run((0..6).flat_map(both).collect()));
        let sizes: Vec<u64> = found.measurements.iter().map(|m| m.size_bytes).collect();
        assert_eq!(sizes, [64, 8]);
        assert!(found.measurements.iter().all(|m| m.stop_reason.converged()));
    }

    #[test]
    fn a_metric_without_samples_is_pooled_from_its_medians() {
        let rate = |number, median: f64| {
            let mut one = launch(number, &[median]);
            one.samples.clear();
            one
        };
        let found = pooled(run(vec![rate(0, 1.0), rate(1, 3.0), rate(2, 8.0)]));
        let s = &found.measurements[0].summary;
        assert_eq!((s.median, s.mean, s.min, s.max, s.n), (3.0, 4.0, 1.0, 8.0, 3));
    }

    #[test]
    fn launches_that_are_like_their_neighbours_have_a_wider_interval() {
        // Two states, each for half of 20 launches: of the signs -1 ten times and 1 ten times, neighbours agree 18
        // times and differ once, so 17/20; the next lags 14, 11, 8 and 5 of 20, each and 1/20 more: 1 + 2 * (18 + 15 +
        // 12 + 9 + 6) / 20.
        let in_turn: Vec<f64> = (0..20).map(f64::from).collect();
        assert!((dependence(&in_turn, 9.5) - 7.0).abs() < 1e-9);
        let alternating: Vec<f64> = (0..20).map(|k| f64::from(k % 2 * 10 + k)).collect();
        assert_eq!(dependence(&alternating, 14.5), 1.0);
        let low = |medians: &[f64]| interval_of_launches(medians, 0.95).unwrap().low;
        // Ranks 6 and 15 of 20 if they were independent, so 4.5 from the middle; sqrt(7) times that is 11.9.
        assert_eq!((low(&in_turn), low(&alternating)), (0.0, 10.0));
        assert_eq!(dependence(&[5.0; 9], 5.0), 1.0);
    }

    #[test]
    fn six_launches_reach_95_percent_and_eight_99() {
        // 2^-5 = 3.1 % and 2^-4 = 6.3 %; 2^-7 = 0.8 % and 2^-6 = 1.6 %.
        assert_eq!((launches_needed(0.95), launches_needed(0.99)), (6, 8));
        assert_eq!(launches_needed(0.5), 2);
        // C(8, 4) = 70 and C(6, 3) = 20; C(10, 5) = 252 and 2 / 70 is more than 1 %.
        assert_eq!((launches_to_compare(0.95), launches_to_compare(0.99)), (4, 5));
    }
}
