use super::*;
use random::SplitMix64;

use crate::compare::{ComparedRuns, Effect, Settings, Verdict, compare, effect_between};
use crate::records::{measurement, run, with_line};

fn launch(number: u32, samples: &[f64]) -> Measurement {
    Measurement { launch: number, ..measurement("ping-pong", 8, samples) }
}

/// Returns six launches with medians 10, 20 ... 60, in another order.
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
fn the_number_is_that_of_the_launches_in_the_commonest_state_of_the_run() {
    let near = |one: Measurement| with_line(one, [0.05, 0.05]);
    let [far, changed] = [[0.16, 0.16], [0.05, 0.16]];
    let mut all: Vec<Measurement> = six().into_iter().map(near).collect();
    let differing = [(600.0, far), (7.0, changed), (650.0, far)];
    all.extend(
        (6..).zip(differing).map(|(number, (us, line))| with_line(launch(number, &[us]), line)),
    );
    // A case that met the rarer state alone, and one without lines.
    let other = |size, us| Measurement { launch: 6, ..measurement("ping-pong", size, &[us]) };
    let twice = |m: Measurement| [m.clone(), Measurement { launch: 7, ..m }];
    all.extend(twice(with_line(other(64, 900.0), far)));
    all.extend(twice(other(512, 5.0)));
    let found = pooled(run(all));
    let s = &found.measurements[0].summary;
    // Half of 30 and 40, although five of nine launches took less and the other state took 600.
    // They have three samples each.
    assert_eq!((s.median, s.ci_low, s.ci_high, s.n), (35.0, 10.0, 60.0, 18));
    assert_eq!(found.measurements[0].launch_medians.len(), 9);
    assert_eq!(found.measurements[0].launch_lines_us[6..8], [far, changed]);
    assert_eq!(found.measurements[1].summary.median, 900.0);
    assert_eq!(
        (found.measurements[2].summary.median, found.measurements[2].launches().len()),
        (5.0, 2)
    );
    assert!(found.measurements[2].launch_lines_us.is_empty());
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
    let of =
        |size, number| Measurement { launch: number, ..measurement("ping-pong", size, &[5.0; 40]) };
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

/// A fast launch has a thousand times as many samples as each of two slow ones: its samples are 99.8 % of all.
#[test]
fn a_row_is_of_one_set_of_samples() {
    let launches = [vec![1.0; 1000], vec![14.0], vec![15.0], vec![2.0; 10]];
    let time = |(number, samples): (u32, &Vec<f64>)| launch(number, samples);
    let rate = |one: &Measurement| {
        let mut rate = Measurement { metric: "rate".into(), samples: Vec::new(), ..one.clone() };
        let us = one.summary.median;
        for value in [&mut rate.summary.median, &mut rate.summary.p99] {
            *value = 8.0 / us;
        }
        rate
    };
    let times: Vec<Measurement> = (0..).zip(&launches).map(time).collect();
    let rates: Vec<Measurement> = times.iter().map(rate).collect();
    let found = pooled(run(times.into_iter().chain(rates).collect()));
    let [time, rate] = [0, 1].map(|index: usize| &found.measurements[index].summary);
    // Half of 2 and 14; the rate is 8 bytes over it, and not half of 4 and 0.57.
    assert_eq!((time.median, time.p99, rate.median), (8.0, 8.0, 1.0));
    assert_eq!((rate.ci_low, rate.ci_high), (8.0 / time.ci_high, 8.0 / time.ci_low));
    assert!(time.p99 <= time.max && rate.p99 >= rate.median, "{time:?} {rate:?}");
}

#[test]
fn six_launches_reach_95_percent_and_eight_99() {
    // 2^-5 = 3.1 % and 2^-4 = 6.3 %; 2^-7 = 0.8 % and 2^-6 = 1.6 %.
    assert_eq!((launches_needed(0.95), launches_needed(0.99)), (6, 8));
    assert_eq!(launches_needed(0.5), 2);
    // C(8, 4) = 70 and C(6, 3) = 20; C(10, 5) = 252 and 2 / 70 is more than 1 %.
    assert_eq!((launches_to_compare(0.95), launches_to_compare(0.99)), (4, 5));
}

#[test]
fn three_launches_of_each_side_reach_exactly_90_percent() {
    // 2 of C(6, 3) = 20 arrangements are the permitted tenth itself, although 1 - 0.9 is less than 0.1 as a float. The
    // interval of a change omits nothing then, and has the same confidence.
    assert_eq!(launches_to_compare(0.9), 3);
    assert!(distinguishes([3, 3], 0.9) && !distinguishes([3, 2], 0.9));
    let change = effect_between([&[1.0, 1.1, 1.2], &[2.0, 2.1, 2.2]], 0.9).unwrap();
    assert!((change.confidence - 0.9).abs() < 1e-12, "{change:?}");
    assert!((change.low - 2.0 / 1.2).abs() < 1e-12 && (change.high - 2.2).abs() < 1e-12);
    // Tests the definition for every confidence: this number of launches distinguishes two sides, and one fewer does
    // not.
    for confidence in (1..1000).map(|share| f64::from(share) / 1000.0) {
        let n = launches_to_compare(confidence);
        assert!(distinguishes([n, n], confidence), "{confidence}");
        assert!(n == 1 || !distinguishes([n - 1, n - 1], confidence), "{confidence}");
    }
}

const CASES: usize = 10;

/// The comparison of two builds in so many pairs of launches, the second of which takes 1.1 times as long. Both launches
/// of a pair meet the same state, in which everything takes up to `slower` times as long; each has noise of its own.
fn in_pairs(pairs: usize, slower: f64, paired: bool) -> ComparedRuns {
    let mut random = SplitMix64::new(8);
    let mut sides: [[Vec<f64>; CASES]; 2] = Default::default();
    for pair in 0..pairs {
        // Two pairs in each state in turn, and half of all in each.
        let is_slow = pair / 2 % 2 == 1 || pair == 8;
        for (side, factor) in [(0, 1.0), (1, 1.1)] {
            for (case, medians) in sides[side].iter_mut().enumerate() {
                let state = if is_slow { 1.0 + (slower - 1.0) * case as f64 / 9.0 } else { 1.0 };
                medians.push(100.0 * state * factor * (1.0 + 0.01 * random.normal()));
            }
        }
    }
    let of_case = |(case, medians): (usize, Vec<f64>)| {
        let middle = Sample::new(medians.as_slice()).unwrap().median();
        let mut one = measurement("ping-pong", 8 << case, &[middle]);
        one.launch_medians = medians;
        one
    };
    let [a, b] = sides.map(|side| run(side.into_iter().enumerate().map(of_case).collect()));
    let settings = Settings { paired, ..Settings::default() };
    compare(&a, &b, settings)
}

#[test]
fn states_that_both_sides_of_a_pair_meet_cancel() {
    // The slow state takes up to five times as long, as the worst that was seen. Without states, the noise of 1 % is
    // all that differs.
    let effects = |slower: f64, paired: bool| -> Vec<Effect> {
        let compared = in_pairs(10, slower, paired);
        compared.comparisons.iter().map(|one| one.effect.unwrap()).collect()
    };
    let is_equal = |a: &Effect, b: &Effect| {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        near(a.ratio, b.ratio) && near(a.low, b.low) && near(a.high, b.high)
    };
    let (with, without) = (effects(5.0, true), effects(1.0, true));
    assert!(with.iter().zip(&without).all(|(a, b)| is_equal(a, b)), "{with:?} {without:?}");
    let width = |effect: &Effect| effect.high / effect.low - 1.0;
    assert!(with.iter().all(|effect| width(effect) < 0.05), "{with:?}");
    // Apart from each other, 25 of the 100 ratios are of a slow launch to a fast one, and 25 the other way around. The
    // interval leaves out 23 at each end. The state of the first case is not slower.
    let separate = effects(5.0, false);
    assert!(separate[1..].iter().all(|effect| width(effect) > 0.3), "{separate:?}");
    let verdicts = |paired| in_pairs(10, 5.0, paired).count(Verdict::Slower);
    assert_eq!((verdicts(true), verdicts(false)), (CASES, 1));
}
