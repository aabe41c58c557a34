use record::{Better, Measurement, Run};

use super::*;
use crate::distributions::{DISTRIBUTIONS, Distribution, autoregressive};
use crate::records::{measurement, run};
use random::SplitMix64;

/// Returns the settings with which one launch is enough, so that its samples decide.
fn samples_tell() -> Settings {
    Settings { one_launch_tells: true, ..Settings::default() }
}

/// Returns `n` samples evenly over 10 % on both sides of `median`, shuffled by a stride so that neighbours are unlike.
fn spread(median: f64, n: usize) -> Vec<f64> {
    let stride =
        (1..n).rev().find(|stride| gcd(*stride, n) == 1 && stride * 8 < n * 5).unwrap_or(1);
    (0..n).map(|i| median * (0.9 + 0.2 * ((i * stride % n) as f64 + 0.5) / n as f64)).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn one(benchmark: &str, samples: &[f64]) -> Run {
    run(vec![measurement(benchmark, 8, samples)])
}

fn verdict(first: &[f64], second: &[f64]) -> Verdict {
    compare(&one("ping-pong", first), &one("ping-pong", second), samples_tell()).comparisons[0]
        .verdict
}

#[test]
fn a_run_is_the_same_as_itself() {
    assert_eq!(verdict(&spread(5.0, 1000), &spread(5.0, 1000)), Verdict::Same);
}

#[test]
fn a_time_that_doubles_is_slower_and_one_that_halves_faster() {
    assert_eq!(verdict(&spread(5.0, 100), &spread(10.0, 100)), Verdict::Slower);
    assert_eq!(verdict(&spread(5.0, 100), &spread(2.5, 100)), Verdict::Faster);
}

#[test]
fn a_small_difference_that_is_certain_is_the_same() {
    // Constant samples: the interval is the point 1.04, within 5 %.
    assert_eq!(verdict(&[100.0; 50], &[104.0; 50]), Verdict::Same);
    assert_eq!(verdict(&[100.0; 50], &[106.0; 50]), Verdict::Slower);
}

#[test]
fn few_samples_are_undecided_however_far_apart() {
    // Five samples reach 93.75 % at most.
    assert_eq!(verdict(&spread(5.0, 5), &spread(50.0, 5)), Verdict::Undecided);
    assert_eq!(verdict(&[1.0], &[2.0]), Verdict::Undecided);
    assert_eq!(verdict(&[1.0], &[1.0]), Verdict::Undecided);
}

#[test]
fn wide_intervals_are_undecided() {
    let wide = |median: f64| -> Vec<f64> {
        spread(median, 40).into_iter().map(|value| value + 8.0 * (value - median)).collect()
    };
    assert_eq!(verdict(&wide(5.0), &wide(5.5)), Verdict::Undecided);
}

#[test]
fn medians_of_zero_have_no_ratio() {
    let compared =
        compare(&one("barrier", &[0.0; 50]), &one("barrier", &[1.0; 50]), samples_tell());
    assert_eq!(compared.comparisons[0].effect, None);
    assert_eq!(compared.comparisons[0].verdict, Verdict::Undecided);
}

#[test]
fn the_interval_of_the_ratio_by_hand() {
    // Ten samples each: ranks 2 and 9, confidence 1 - 22/1024. A: median 100, 80 to 125; B: median 200, 160 to 250.
    // Every logarithmic distance is ln 1.25, so the ratio 2 has the factor 1.25^sqrt(2) = 1.3711 on both sides.
    let a = [70.0, 80.0, 90.0, 95.0, 100.0, 100.0, 105.0, 110.0, 125.0, 130.0];
    let b = a.map(|value| value * 2.0);
    let compared = compare(&one("x", &a), &one("x", &b), samples_tell());
    let effect = compared.comparisons[0].effect.unwrap();
    let factor = 1.25f64.powf(std::f64::consts::SQRT_2);
    assert!((effect.ratio - 2.0).abs() < 1e-12);
    assert!(
        (effect.low - 2.0 / factor).abs() < 1e-12 && (effect.high - 2.0 * factor).abs() < 1e-12
    );
    assert!((effect.confidence - (1.0 - 22.0 / 1024.0)).abs() < 1e-12);
}

/// Returns a rate computed from a time. Its record contains no samples.
fn rate_of(time: &Measurement) -> Measurement {
    let mut rate = time.clone();
    (rate.metric, rate.unit, rate.better) = ("rate".into(), "MB/s".into(), Better::Higher);
    rate.summary.median = 8.0 / time.summary.median;
    rate.summary.ci_low = 8.0 / time.summary.ci_high;
    rate.summary.ci_high = 8.0 / time.summary.ci_low;
    rate.samples.clear();
    rate
}

#[test]
fn a_rate_says_what_its_time_says() {
    let runs = [5.0, 7.0].map(|median| {
        let time = measurement("ping-pong", 8, &spread(median, 200));
        let rate = rate_of(&time);
        run(vec![time, rate])
    });
    let compared = compare(&runs[0], &runs[1], samples_tell());
    let [time, rate] = &compared.comparisons[..] else { panic!() };
    assert_eq!((time.verdict, rate.verdict), (Verdict::Slower, Verdict::Slower));
    let (time, rate) = (time.effect.unwrap(), rate.effect.unwrap());
    assert!((time.low * rate.high - 1.0).abs() < 1e-9, "{time:?} {rate:?}");
    assert_eq!(compared.regressions(0.2).count(), 2);
    let back = compare(&runs[1], &runs[0], samples_tell());
    assert_eq!(back.count(Verdict::Faster), 2);
    assert_eq!(back.regressions(0.0).count(), 0);
}

#[test]
fn a_regression_counts_only_if_the_whole_interval_is_beyond_the_threshold() {
    // 20 % slower, with an interval of a few percent: it is beyond 10 %, but not beyond 19.9 %, although the ratio is.
    let compared =
        compare(&one("x", &spread(100.0, 200)), &one("x", &spread(120.0, 200)), samples_tell());
    let effect = compared.comparisons[0].effect.unwrap();
    assert!(effect.low > 1.1 && effect.low < 1.199 && effect.ratio > 1.199, "{effect:?}");
    assert_eq!(compared.regressions(0.1).count(), 1);
    assert_eq!(compared.regressions(0.199).count(), 0);
}

#[test]
fn what_only_one_run_has_is_listed() {
    let samples = spread(5.0, 50);
    let first = run(vec![measurement("a", 8, &samples), measurement("b", 8, &samples)]);
    let mut other_unit = measurement("a", 8, &samples);
    other_unit.unit = "ms".into();
    let second =
        run(vec![measurement("b", 8, &samples), measurement("b", 16, &samples), other_unit]);
    let compared = compare(&first, &second, samples_tell());
    assert_eq!(compared.comparisons.len(), 1);
    assert_eq!(compared.only_first.len(), 1);
    assert_eq!(compared.only_first[0].key.benchmark, "a");
    let sizes: Vec<_> =
        compared.only_second.iter().map(|name| (name.key.size_bytes, name.unit.as_str())).collect();
    assert_eq!(sizes, [(16, "us"), (8, "ms")]);
}

#[test]
fn two_fabrics_are_compared_unless_a_run_holds_both() {
    let local = measurement("a", 8, &spread(5.0, 50));
    let mpi = Measurement { fabric: "mpi".into(), ..measurement("a", 8, &spread(10.0, 50)) };
    let compared = compare(&run(vec![local.clone()]), &run(vec![mpi.clone()]), samples_tell());
    assert_eq!(compared.count(Verdict::Slower), 1);
    let compared = compare(&run(vec![local.clone(), mpi]), &run(vec![local]), samples_tell());
    assert_eq!((compared.comparisons.len(), compared.only_first.len()), (1, 1));
    assert_eq!(compared.only_first[0].fabric.as_deref(), Some("mpi"));
}

/// Returns how often the interval excludes 1, and how often the verdict is a difference, over pairs of runs from
/// `draw`.
fn alarms(trials: usize, mut draw: impl FnMut() -> [Vec<f64>; 2]) -> (usize, usize) {
    let (mut excludes, mut differs) = (0, 0);
    for _ in 0..trials {
        let [a, b] = draw();
        let compared = compare(&one("x", &a), &one("x", &b), samples_tell());
        let comparison = &compared.comparisons[0];
        let effect = comparison.effect.unwrap();
        excludes += usize::from(effect.low > 1.0 || effect.high < 1.0);
        differs += usize::from(matches!(comparison.verdict, Verdict::Faster | Verdict::Slower));
    }
    (excludes, differs)
}

const TRIALS: usize = 1000;

/// 5 % of the trials and three standard errors: 50 + 3 sqrt(47.5).
const ALARMS_MAX: usize = 70;

#[test]
fn equal_distributions_rarely_seem_to_differ() {
    [30, 100].into_iter().for_each(equal_distributions_are_alike);
}

#[test]
#[ignore = "long"]
fn equal_distributions_of_many_samples_rarely_seem_to_differ() {
    equal_distributions_are_alike(1000);
}

fn equal_distributions_are_alike(n: usize) {
    let mut random = SplitMix64::new(1995);
    for distribution in DISTRIBUTIONS {
        let (excludes, differs) =
            alarms(TRIALS, || [(); 2].map(|()| distribution.draws(n, &mut random)));
        assert!(excludes <= ALARMS_MAX, "{distribution:?}, n = {n}: {excludes} of {TRIALS}");
        assert!(differs <= excludes, "{distribution:?}, n = {n}: {differs} > {excludes}");
    }
}

#[test]
fn samples_that_depend_on_their_neighbours_rarely_seem_to_differ() {
    let mut random = SplitMix64::new(1996);
    for (dependence, n) in [(0.3, 100), (0.6, 200), (0.6, 1000), (0.9, 1000), (0.9, 2000)] {
        let (excludes, _) = alarms(TRIALS, || {
            [(); 2].map(|()| {
                let series = autoregressive(&mut random, dependence, n);
                series.into_iter().map(|value| (0.1 * value).exp()).collect()
            })
        });
        assert!(excludes <= ALARMS_MAX, "AR({dependence}), n = {n}: {excludes} of {TRIALS}");
    }
}

#[test]
fn a_shift_of_ten_percent_is_seen() {
    // With 10 % noise the standard error of the median of 500 samples is 0.1 * 1.253 / sqrt(500) = 0.56 %, that of the
    // ratio of two 0.8 %. A shift of 10 % is six such errors beyond a margin of 5 %.
    let mut random = SplitMix64::new(1997);
    let (_, differs) = alarms(TRIALS, || {
        let slower = |value: f64| value * 1.1;
        let b = Distribution::Normal.draws(500, &mut random).into_iter().map(slower).collect();
        [Distribution::Normal.draws(500, &mut random), b]
    });
    assert!(differs >= TRIALS * 99 / 100, "{differs} of {TRIALS}");
}

#[test]
fn a_shift_of_the_margin_itself_is_rarely_called_a_difference() {
    // The true ratio is 1.05, on the edge of the margin.
    let mut random = SplitMix64::new(1999);
    let (excludes, differs) = alarms(TRIALS, || {
        let slower = |value: f64| value * 1.05;
        let b = Distribution::Normal.draws(500, &mut random).into_iter().map(slower).collect();
        [Distribution::Normal.draws(500, &mut random), b]
    });
    // Nearly all intervals show a change. The verdict of 2.5 % and three standard errors is a change by more than the
    // margin.
    assert!(excludes > TRIALS * 9 / 10, "{excludes} of {TRIALS}");
    assert!(differs <= 25 + 15, "{differs} of {TRIALS}");
}

#[test]
fn medians_one_tick_of_the_clock_apart_are_not_for_certain_different() {
    // Ticks of 10, each shared by many samples: the medians are 100 and 110, but may have been 104 and 106.
    let coarse = |median: f64| -> Vec<f64> {
        (0..300).map(|i| median + 10.0 * ((i * 7) % 3) as f64 - 10.0).collect()
    };
    assert_eq!(verdict(&coarse(100.0), &coarse(110.0)), Verdict::Undecided);
    assert_eq!(verdict(&coarse(100.0), &coarse(140.0)), Verdict::Slower);
}

#[test]
fn among_many_comparisons_a_false_difference_is_still_rare() {
    // 40 comparisons of equal distributions at a time: uncorrected, 87 % of such tables would contain a false verdict.
    let mut random = SplitMix64::new(1998);
    let table = |random: &mut SplitMix64| {
        run((0..40)
            .map(|size| measurement("x", size, &Distribution::Lognormal.draws(60, random)))
            .collect())
    };
    let false_tables = (0..300)
        .filter(|_| {
            let settings = Settings { margin: 0.0, ..samples_tell() };
            let compared = compare(&table(&mut random), &table(&mut random), settings);
            compared.count(Verdict::Faster) + compared.count(Verdict::Slower) > 0
        })
        .count();
    // 5 % of 300 and three standard errors: 15 + 3 sqrt(14.25).
    assert!(false_tables <= 26, "{false_tables} of 300");
}

/// Returns a case in launches with these medians.
fn in_launches(size: u64, medians: Vec<f64>) -> Measurement {
    let one = measurement("x", size, &medians);
    Measurement { launch_medians: medians, ..one }
}

#[test]
fn one_launch_of_a_real_machine_tells_nothing_and_few_say_how_many_it_takes() {
    let runs = [5.0, 10.0].map(|median| one("x", &spread(median, 1000)));
    let compared = compare(&runs[0], &runs[1], Settings::default());
    let comparison = &compared.comparisons[0];
    assert_eq!((comparison.verdict, comparison.launches), (Verdict::Undecided, [1, 1]));
    let few = |n, median| run(vec![in_launches(8, vec![median; n])]);
    let verdict =
        |n| compare(&few(n, 5.0), &few(n, 10.0), Settings::default()).comparisons[0].verdict;
    assert_eq!(crate::launches::launches_to_compare(0.95), 4);
    assert_eq!((verdict(3), verdict(4)), (Verdict::Undecided, Verdict::Slower));
}

/// Returns launches of a machine with two states, one of which takes four times as long, and 2 % of noise.
fn states(n: usize, random: &mut SplitMix64) -> Vec<f64> {
    let launch = |_| {
        let slow = if random.uniform() < 0.3 { 4.0 } else { 1.0 };
        100.0 * slow * (1.0 + 0.02 * random.normal())
    };
    (0..n).map(launch).collect()
}

#[test]
fn two_runs_of_one_build_on_a_machine_with_states_hardly_ever_differ() {
    let mut random = SplitMix64::new(2026);
    for n in [6, 10] {
        let table = |random: &mut SplitMix64| {
            run((0..60).map(|size| in_launches(size, states(n, random))).collect())
        };
        let differ: usize = (0..60)
            .map(|_| {
                let compared =
                    compare(&table(&mut random), &table(&mut random), Settings::default());
                compared.count(Verdict::Faster) + compared.count(Verdict::Slower)
            })
            .sum();
        // 1 % of 60 tables of 60 cells.
        assert!(differ <= 36, "{differ} of 3600 with {n} launches");
    }
}

#[test]
fn a_change_of_ten_percent_is_found_in_ten_launches() {
    // One state and 1 % of noise: the change is 5 % beyond the margin, and the interval of ten launches reaches about 1
    // % to either side.
    let mut random = SplitMix64::new(2027);
    let launches = |median: f64, random: &mut SplitMix64| {
        (0..10).map(|_| median * (1.0 + 0.01 * random.normal())).collect::<Vec<f64>>()
    };
    let mut table = |median: f64| {
        run((0..60).map(|size| in_launches(size, launches(median, &mut random))).collect())
    };
    let found: usize = (0..20)
        .map(|_| compare(&table(100.0), &table(110.0), Settings::default()).count(Verdict::Slower))
        .sum();
    assert!(found >= 20 * 57, "{found} of 1200");
}

/// Five samples decide nothing; fifty equal ones do.
#[test]
fn undecided_numbers_leave_a_regression_open_if_they_seem_worse_or_nothing_is_decided() {
    let both = |b: f64, c: f64| {
        let of = |name, us| measurement(name, 8, &spread(us, 5));
        run(vec![measurement("a", 8, &[100.0; 50]), of("b", b), of("c", c)])
    };
    let compared = compare(&both(5.0, 50.0), &both(50.0, 5.0), samples_tell());
    assert_eq!((compared.count(Verdict::Same), compared.count(Verdict::Undecided)), (1, 2));
    // Of the two only b seems slower, ten times, which is within a threshold of 1000 %.
    assert_eq!((compared.open(0.05), compared.open(10.0)), (1, 0));
    let one_alone = |us| one("c", &spread(us, 5));
    let faster = compare(&one_alone(50.0), &one_alone(5.0), samples_tell());
    assert_eq!(faster.open(0.05), 1, "nothing is decided");
    let same = compare(&one("a", &[100.0; 50]), &one("a", &[100.0; 50]), samples_tell());
    assert_eq!(same.open(0.05), 0);
}
