use record::{Better, Measurement, Run};

use super::*;
use crate::distributions::Distribution;
use crate::records::{measurement, run};
use random::SplitMix64;

/// Returns `n` launches evenly over 10 % on both sides of `median`, shuffled by a stride so that neighbours are unlike.
fn spread(median: f64, n: usize) -> Vec<f64> {
    let stride =
        (1..n).rev().find(|stride| gcd(*stride, n) == 1 && stride * 8 < n * 5).unwrap_or(1);
    (0..n).map(|i| median * (0.9 + 0.2 * ((i * stride % n) as f64 + 0.5) / n as f64)).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns a measurement in launches with these medians.
fn launched(benchmark: &str, size: u64, medians: &[f64]) -> Measurement {
    Measurement { launch_medians: medians.to_vec(), ..measurement(benchmark, size, medians) }
}

fn one(benchmark: &str, medians: &[f64]) -> Run {
    run(vec![launched(benchmark, 8, medians)])
}

fn verdict(first: &[f64], second: &[f64]) -> Verdict {
    compare(&one("ping-pong", first), &one("ping-pong", second), Settings::default()).comparisons[0]
        .verdict
}

#[test]
fn a_run_is_the_same_as_itself() {
    assert_eq!(verdict(&spread(5.0, 30), &spread(5.0, 30)), Verdict::Same);
}

#[test]
fn a_time_that_doubles_is_slower_and_one_that_halves_faster() {
    assert_eq!(verdict(&spread(5.0, 100), &spread(10.0, 100)), Verdict::Slower);
    assert_eq!(verdict(&spread(5.0, 100), &spread(2.5, 100)), Verdict::Faster);
}

#[test]
fn a_small_difference_that_is_certain_is_the_same() {
    // Equal launches: the interval is the point 1.04, within 5 %.
    assert_eq!(verdict(&[100.0; 50], &[104.0; 50]), Verdict::Same);
    assert_eq!(verdict(&[100.0; 50], &[106.0; 50]), Verdict::Slower);
}

#[test]
fn few_launches_are_undecided_however_far_apart() {
    // Of C(6, 3) = 20 arrangements of three launches on each side two separate the sides: 90 %.
    assert_eq!(verdict(&spread(5.0, 3), &spread(50.0, 3)), Verdict::Undecided);
    assert_eq!(verdict(&[1.0], &[2.0]), Verdict::Undecided);
    assert_eq!(verdict(&[1.0], &[1.0]), Verdict::Undecided);
}

#[test]
fn wide_intervals_are_undecided() {
    let wide = |median: f64| -> Vec<f64> {
        spread(median, 12).into_iter().map(|value| value + 8.0 * (value - median)).collect()
    };
    assert_eq!(verdict(&wide(5.0), &wide(5.5)), Verdict::Undecided);
}

#[test]
fn medians_of_zero_have_no_ratio() {
    let compared =
        compare(&one("barrier", &[0.0; 50]), &one("barrier", &[1.0; 50]), Settings::default());
    assert_eq!(compared.comparisons[0].effect, None);
    assert_eq!(compared.comparisons[0].verdict, Verdict::Undecided);
}

fn exact(median: f64) -> Run {
    let mut one = measurement("x", 8, &[median]);
    one.mark_exact();
    run(vec![one])
}

#[test]
fn exact_numbers_are_equal_or_different_whatever_the_threshold() {
    let of = |a: f64, b: f64| {
        let compared = compare(&exact(a), &exact(b), Settings::default());
        (compared.comparisons[0].clone(), compared.regressions(0.05).count())
    };
    let (same, regressions) = of(3.2, 3.2);
    assert_eq!((same.verdict, same.change(), regressions), (Verdict::Same, Some(1.0), 0));
    // 1 % is a difference, but no regression beyond 5 %.
    let (slower, regressions) = of(100.0, 101.0);
    assert_eq!((slower.verdict, slower.change(), regressions), (Verdict::Slower, Some(1.01), 0));
    assert_eq!((of(100.0, 106.0).1, of(106.0, 100.0).0.verdict), (1, Verdict::Faster));
    // What took no time and now takes some became worse by more than any threshold.
    let (from_none, regressions) = of(0.0, 1.0);
    assert_eq!((from_none.verdict, regressions), (Verdict::Slower, 1));
    assert_eq!((of(0.0, 0.0).0.verdict, of(-1.0, 1.0).0.effect), (Verdict::Same, None));
}

#[test]
fn an_exact_number_is_compared_with_launches_by_their_interval() {
    // Ten launches: ranks 2 and 9, confidence 1 - 22/1024. Their median is 100, from 80 to 125.
    let launches = [70.0, 80.0, 90.0, 95.0, 100.0, 100.0, 105.0, 110.0, 125.0, 130.0];
    let compared = compare(&exact(50.0), &one("x", &launches), Settings::default());
    let effect = compared.comparisons[0].effect.unwrap();
    let found = [effect.ratio, effect.low, effect.high, effect.confidence];
    let expected = [2.0, 1.6, 2.5, 1.0 - 22.0 / 1024.0];
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    assert_eq!(compared.comparisons[0].verdict, Verdict::Slower);
}

/// Returns a rate computed from a time. Its record contains no samples.
fn rate_of(time: &Measurement) -> Measurement {
    let mut rate = time.clone();
    (rate.metric, rate.unit, rate.better) = ("rate".into(), "MB/s".into(), Better::Higher);
    rate.summary.median = 8.0 / time.summary.median;
    rate.summary.ci_low = 8.0 / time.summary.ci_high;
    rate.summary.ci_high = 8.0 / time.summary.ci_low;
    rate.launch_medians.iter_mut().for_each(|median| *median = 8.0 / *median);
    rate.samples.clear();
    rate
}

#[test]
fn a_rate_says_what_its_time_says() {
    let runs = [5.0, 7.0].map(|median| {
        let time = launched("ping-pong", 8, &spread(median, 20));
        let rate = rate_of(&time);
        run(vec![time, rate])
    });
    let compared = compare(&runs[0], &runs[1], Settings::default());
    let [time, rate] = &compared.comparisons[..] else { panic!() };
    assert_eq!((time.verdict, rate.verdict), (Verdict::Slower, Verdict::Slower));
    let (time, rate) = (time.effect.unwrap(), rate.effect.unwrap());
    assert!((time.low * rate.high - 1.0).abs() < 1e-9, "{time:?} {rate:?}");
    assert_eq!(compared.regressions(0.2).count(), 2);
    let back = compare(&runs[1], &runs[0], Settings::default());
    assert_eq!(back.count(Verdict::Faster), 2);
    assert_eq!(back.regressions(0.0).count(), 0);
}

#[test]
fn a_regression_counts_only_if_the_whole_interval_is_beyond_the_threshold() {
    // 20 % slower, with an interval of a few percent: it is beyond 10 %, but not beyond 19.9 %, although the ratio is.
    let compared = compare(
        &one("x", &spread(100.0, 200)),
        &one("x", &spread(120.0, 200)),
        Settings::default(),
    );
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
    let compared = compare(&first, &second, Settings::default());
    assert_eq!(compared.comparisons.len(), 1);
    assert_eq!(compared.only_first.len(), 1);
    assert_eq!(compared.only_first[0].key.benchmark, "a");
    let sizes: Vec<_> =
        compared.only_second.iter().map(|name| (name.key.size_bytes, name.unit.as_str())).collect();
    assert_eq!(sizes, [(16, "us"), (8, "ms")]);
}

#[test]
fn two_fabrics_are_compared_unless_a_run_holds_both() {
    let local = launched("a", 8, &spread(5.0, 20));
    let mpi = Measurement { fabric: "mpi".into(), ..launched("a", 8, &spread(10.0, 20)) };
    let compared = compare(&run(vec![local.clone()]), &run(vec![mpi.clone()]), Settings::default());
    assert_eq!(compared.count(Verdict::Slower), 1);
    let compared = compare(&run(vec![local.clone(), mpi]), &run(vec![local]), Settings::default());
    assert_eq!((compared.comparisons.len(), compared.only_first.len()), (1, 1));
    assert_eq!(compared.only_first[0].fabric.as_deref(), Some("mpi"));
}

#[test]
fn among_many_numbers_that_vary_by_a_tenth_hardly_any_is_called_different() {
    // Ten launches on each side have a standard error of 10 % sqrt(2 / 10) = 4.5 %, and t is 2.1: an error of 9.4 + 4.9 %
    // is needed, or 3.2 standard errors, which 0.5 % of all exceed with 18 degrees of freedom.
    let mut random = SplitMix64::new(1998);
    let table = |random: &mut SplitMix64| {
        let launches = |size| launched("x", size, &Distribution::Normal.draws(10, random));
        run((0..40).map(launches).collect())
    };
    let different = |_| {
        let compared = compare(&table(&mut random), &table(&mut random), Settings::default());
        compared.count(Verdict::Faster) + compared.count(Verdict::Slower)
    };
    let all: usize = (0..50).map(different).sum();
    assert!(all <= 20, "{all} of 2000");
}

#[test]
fn one_launch_of_a_real_machine_tells_nothing_and_few_say_how_many_it_takes() {
    let runs = [5.0, 10.0].map(|median| run(vec![measurement("x", 8, &spread(median, 1000))]));
    let compared = compare(&runs[0], &runs[1], Settings::default());
    let comparison = &compared.comparisons[0];
    assert_eq!((comparison.verdict, comparison.launches), (Verdict::Undecided, [1, 1]));
    let few = |n, median| run(vec![launched("x", 8, &vec![median; n])]);
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
            run((0..60).map(|size| launched("x", size, &states(n, random))).collect())
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
        run((0..60).map(|size| launched("x", size, &launches(median, &mut random))).collect())
    };
    let found: usize = (0..20)
        .map(|_| compare(&table(100.0), &table(110.0), Settings::default()).count(Verdict::Slower))
        .sum();
    assert!(found >= 20 * 57, "{found} of 1200");
}

/// Three launches decide nothing; ten equal ones do.
#[test]
fn undecided_numbers_leave_a_regression_open_if_they_seem_worse_or_nothing_is_decided() {
    let both = |b: f64, c: f64| {
        let of = |name, us| launched(name, 8, &spread(us, 3));
        run(vec![launched("a", 8, &[100.0; 10]), of("b", b), of("c", c)])
    };
    let compared = compare(&both(5.0, 50.0), &both(50.0, 5.0), Settings::default());
    assert_eq!((compared.count(Verdict::Same), compared.count(Verdict::Undecided)), (1, 2));
    // Of the two only b seems slower, ten times, which is within a threshold of 1000 %.
    assert_eq!((compared.open(0.05), compared.open(10.0)), (1, 0));
    let one_alone = |us| one("c", &spread(us, 3));
    let faster = compare(&one_alone(50.0), &one_alone(5.0), Settings::default());
    assert_eq!(faster.open(0.05), 1, "nothing is decided");
    let same = compare(&one("a", &[100.0; 10]), &one("a", &[100.0; 10]), Settings::default());
    assert_eq!(same.open(0.05), 0);
}
