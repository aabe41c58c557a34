use super::*;
use crate::launches::pooled;
use crate::records::{measurement, run, with_line};

fn of_day(day: usize, label: &str, medians: &[f64]) -> Run {
    let mut all = run((0..)
        .zip(medians)
        .map(|(launch, &median)| Measurement {
            launch,
            ..measurement("ping-pong", 8, &[median - 0.1, median, median + 0.1])
        })
        .collect());
    all.headers[0].started = format!("2026-01-{day:02}T12:00:00Z");
    all.label = label.into();
    pooled(all)
}

#[test]
fn runs_are_put_in_the_order_in_which_they_began_and_changes_say_where() {
    let mut history = History::default();
    for day in (1..=20).rev() {
        let level = if day <= 12 { 10.0 } else { 13.0 };
        let off = |launch: usize| level + 0.01 * ((day * 7 + launch * 3) % 10) as f64;
        history.add(&of_day(day, &format!("run-{day:02}"), &[off(0), off(1)]));
    }
    assert_eq!(history.machines().values().copied().collect::<Vec<_>>(), [20]);
    let all = history.series(&Search::default());
    let [series] = &all[..] else { panic!("{all:?}") };
    assert_eq!(series.points.len(), 20);
    assert!(series.points.is_sorted_by_key(|point| point.run.clone()));
    let [change] = &series.changes[..] else { panic!("{:?}", series.changes) };
    // The thirteenth day is the first of the new level.
    assert_eq!((change.at, series.is_worse(change)), (12, Some(true)));
    assert_eq!(series.level().len(), 8);
    assert_eq!(series.points[0].launches.len(), 2);
}

#[test]
fn machines_and_fabrics_are_kept_apart_and_a_run_that_comes_twice_counts_once() {
    let mut history = History::default();
    let first = of_day(1, "a", &[10.0]);
    let mut other = of_day(2, "b", &[20.0]);
    other.headers[0].environment.processor = "another".into();
    let mut simulated = of_day(3, "c", &[30.0]);
    simulated.headers[0].fabric.name = "sim:cluster".into();
    [&first, &first, &other, &simulated].into_iter().for_each(|run| history.add(run));
    let points: Vec<usize> =
        history.series(&Search::default()).iter().map(|series| series.points.len()).collect();
    assert_eq!(points, [1, 1, 1]);
}

/// Two runs of which each met another state most often. The history is of the state that both together met most.
#[test]
fn a_history_is_of_one_state_of_the_machine() {
    let run_in = |day: usize, launches: &[(f64, f64)]| {
        let one = |(launch, &(us, line_us)): (u32, &(f64, f64))| {
            let one = measurement("ping-pong", 8, &[us]);
            with_line(Measurement { launch, ..one }, [line_us, line_us])
        };
        let mut all = run((0..).zip(launches).map(one).collect());
        all.headers[0].started = format!("2026-01-{day:02}T12:00:00Z");
        all.label = day.to_string();
        pooled(all)
    };
    let (near, far) = (0.05, 0.16);
    let mut history = History::default();
    history.add(&run_in(1, &[(1.0, near), (1.1, near), (1.2, near), (4.0, far)]));
    history.add(&run_in(2, &[(1.3, near), (4.0, far), (4.1, far)]));
    history.add(&run_in(3, &[(4.0, far), (4.2, far)]));
    let series = history.series(&Search::default()).remove(0);
    let found: Vec<(f64, usize)> =
        series.points.iter().map(|point| (point.median, point.launches.len())).collect();
    // Four launches near and five far. A far one of the first day, two and two.
    assert_eq!(found, [(4.0, 1), (4.05, 2), (4.1, 2)]);
    // Of two launches the range covers the median with probability 1/2.
    assert_eq!(series.points[1].confidence, 0.5);
    assert_eq!((series.points[1].low, series.points[1].high), (4.0, 4.1));
}

#[test]
fn runs_in_another_state_are_no_change() {
    let mut history = History::default();
    for day in 1..=24 {
        let (us, line_us) = match day {
            8..=15 => (30.0, 0.16),
            20.. => (13.0, 0.05),
            _ => (10.0, 0.05),
        };
        let one = |launch: u32| {
            let us = us + 0.01 * f64::from((day * 7 + launch * 3) % 10);
            let one = measurement("ping-pong", 8, &[us]);
            with_line(Measurement { launch, ..one }, [line_us; 2])
        };
        let mut all = run(vec![one(0), one(1)]);
        all.headers[0].started = format!("2026-01-{day:02}T12:00:00Z");
        all.label = day.to_string();
        history.add(&pooled(all));
    }
    let series = history.series(&Search::default()).remove(0);
    let others: Vec<usize> =
        (0..24).filter(|&index| series.points[index].is_of_another_state).collect();
    assert_eq!(others, (7..15).collect::<Vec<_>>());
    let at: Vec<usize> = series.changes.iter().map(|change| change.at).collect();
    assert_eq!(at, [19], "{:?}", series.changes);
}

#[test]
fn a_number_that_never_met_the_commonest_state_has_changes_too() {
    let mut history = History::default();
    for day in 1..=20 {
        let us = if day > 12 { 15.0 } else { 10.0 } + 0.01 * f64::from(day % 7);
        let one =
            |size, us, line_us| with_line(measurement("ping-pong", size, &[us]), [line_us; 2]);
        let mut all = run(vec![one(8, us, 0.16), one(64, 5.0, 0.05), one(512, 5.0, 0.05)]);
        all.headers[0].started = format!("2026-01-{day:02}T12:00:00Z");
        all.label = day.to_string();
        history.add(&pooled(all));
    }
    let series = history.series(&Search::default()).remove(0);
    assert_eq!(series.changes.iter().map(|change| change.at).collect::<Vec<_>>(), [12]);
}

#[test]
fn a_factor_that_no_machine_explains_is_told_from_one_launch() {
    let mut history = History::default();
    history.add(&of_day(1, "a", &[10.0]));
    let series = history.series(&Search::default()).remove(0);
    assert!(series.is_far_beyond_level(&[201.0, 1000.0]));
    // One new launch that is not so slow leaves it undecided, and without launches nothing is decided.
    assert!(!series.is_far_beyond_level(&[199.0, 1000.0]) && !series.is_far_beyond_level(&[]));
    let rate = Series { better: Better::Higher, ..series };
    assert!(rate.is_far_beyond_level(&[0.49]) && !rate.is_far_beyond_level(&[0.51]));
}

#[test]
fn what_a_run_has_shown_before_is_not_beyond_the_level() {
    let mut history = History::default();
    for day in 1..=10 {
        let median = if day == 4 || day == 7 { 14.0 } else { 10.0 };
        history.add(&of_day(day, &format!("run-{day}"), &[median]));
    }
    let series = history.series(&Search::default()).remove(0);
    // 5 % above 14 is beyond all ten, 5 % above 10 is beyond eight of them only.
    assert!(series.is_beyond_level(14.8, 0.05) && !series.is_beyond_level(10.6, 0.05));
}
