//! Tests the whole loop on ranks with a clock that the test moves: no real time is used.

use std::cell::Cell;
use std::sync::Mutex;

use conformance::reference;
use record::StopReason;

use super::*;
use crate::settings::Settings;
use crate::testing::Altered;

/// A loop on `ranks` reference ranks with clocks of their own. `event` is called with its rank's number, the number of
/// earlier calls on this rank, and the clock, which it moves.
struct Scripted {
    ranks: usize,
    timing: Timing,
    in_a_row: bool,
    is_virtual: bool,
    settings: Settings,
    reading_ps: u64,
    agreement_ps: fn(u64) -> u64,
    every_rank_has_a_processor: bool,
}

impl Default for Scripted {
    fn default() -> Self {
        Scripted {
            ranks: 1,
            timing: Timing::First,
            in_a_row: true,
            is_virtual: false,
            settings: Settings::default(),
            reading_ps: 0,
            agreement_ps: |_| 0,
            every_rank_has_a_processor: true,
        }
    }
}

impl Scripted {
    fn run(self, event: impl Fn(usize, u64, &Cell<u64>) + Sync) -> Outcome {
        let outcome = Mutex::new(None);
        reference::run(self.ranks, |inner| {
            let time_ps = Cell::new(0);
            let number = inner.rank();
            let mut rank = Altered {
                time_ps: Some(&time_ps),
                reading_ps: self.reading_ps,
                agreement_ps: self.agreement_ps,
                every_rank_has_a_processor: Some(self.every_rank_has_a_processor),
                ..Altered::new(inner)
            };
            let plan = LoopPlan {
                timing: self.timing,
                in_a_row: self.in_a_row,
                pair: (0, 1),
                settings: &self.settings,
                limit: TimeSpan::from_s(self.settings.time_limit_s),
                is_virtual: self.is_virtual,
                overheads: Overheads::measure(&mut rank)?,
            };
            let mut calls = 0;
            let timed = |_: &mut dyn Rank| {
                event(number, calls, &time_ps);
                calls += 1;
                Ok(())
            };
            let found = measure(&mut rank, &plan, timed, &mut |_| Ok(()))?;
            assert_eq!(found.is_some(), number == 0);
            if found.is_some() {
                *outcome.lock().unwrap() = found;
            }
            Ok(())
        })
        .unwrap();
        outcome.into_inner().unwrap().unwrap()
    }
}

/// Moves the clock.
fn pass(time_ps: &Cell<u64>, ps: u64) {
    time_ps.set(time_ps.get() + ps);
}

#[test]
fn equal_samples_of_virtual_time_are_few_and_others_go_on() {
    let is_virtual = |is_virtual| Scripted { is_virtual, ..Scripted::default() };
    let outcome = is_virtual(true).run(|_, _, time_ps| pass(time_ps, 5_000));
    assert_eq!(outcome.samples_ps, [5_000.0; 8]);
    let differing = |_: usize, call: u64, time_ps: &Cell<u64>| pass(time_ps, 5_000 + call % 2);
    assert!(is_virtual(true).run(differing).samples_ps.len() >= 30);
    let outcome = is_virtual(false).run(|_, _, time_ps| pass(time_ps, 5_000));
    assert_eq!(outcome.samples_ps, [5_000.0; 30]);
    assert_eq!(outcome.warm_up_ps, [5_000.0; 8]);
    assert_eq!(outcome.stop_reason, StopReason::Precision);
    assert_eq!((outcome.timing.events_per_sample, outcome.timing.clock_share), (1, 0.0));
    assert_eq!(outcome.timing.start, "none");
}

#[test]
fn events_that_take_no_time_at_all_are_measured_too() {
    let outcome = Scripted::default().run(|_, _, _| {});
    assert_eq!(outcome.samples_ps, [0.0; 30]);
    assert_eq!(outcome.stop_reason, StopReason::Precision);
}

#[test]
fn the_slowest_rank_from_the_common_start_counts() {
    for every_rank_has_a_processor in [true, false] {
        let scripted = Scripted {
            ranks: 3,
            timing: Timing::Slowest,
            agreement_ps: |_| 700,
            every_rank_has_a_processor,
            ..Scripted::default()
        };
        let outcome = scripted.run(|rank, _, time_ps| pass(time_ps, 1_000 * (rank as u64 + 1)));
        assert_eq!(outcome.samples_ps, [3_000.0; 30]);
        let start = if every_rank_has_a_processor { "time" } else { "barrier" };
        assert_eq!((outcome.timing.start.as_str(), outcome.timing.late_starts), (start, 0));
    }
}

#[test]
fn the_slower_of_a_pair_counts_and_other_ranks_have_no_part_in_it() {
    for every_rank_has_a_processor in [true, false] {
        let scripted = Scripted {
            ranks: 3,
            timing: Timing::SlowerOfPair,
            every_rank_has_a_processor,
            ..Scripted::default()
        };
        let outcome = scripted.run(|rank, calls, time_ps| match rank {
            // Each is the slower one of every second event, by 500 ps.
            0 => pass(time_ps, 2_000 + 500 * (calls % 2)),
            1 => pass(time_ps, 2_500 - 500 * (calls % 2)),
            _ => unreachable!("the other ranks have no part in it"),
        });
        assert_eq!(outcome.samples_ps, [2_500.0; 30]);
        let start = if every_rank_has_a_processor { "time" } else { "barrier" };
        assert_eq!((outcome.timing.start.as_str(), outcome.timing.late_starts), (start, 0));
    }
}

#[test]
fn a_one_way_time_ends_at_the_second_rank() {
    let scripted =
        Scripted { ranks: 3, timing: Timing::OneWay, in_a_row: false, ..Scripted::default() };
    let outcome = scripted.run(|rank, calls, time_ps| match (rank, calls) {
        (0, _) => pass(time_ps, 10),
        // The second rank's clock runs 7 ps behind each call of the first: 7, 17, 27 ... for 0, 10, 20 ...
        (1, 0) => pass(time_ps, 7),
        (1, _) => pass(time_ps, 10),
        _ => unreachable!("the other ranks have no part in it"),
    });
    assert_eq!(outcome.samples_ps, [7.0; 30]);
}

#[test]
fn short_events_are_batched_until_the_clock_takes_a_twentieth() {
    // A sample of one event takes 100 ns and a reading 20; e events require 20 / (e 100) <= 0.05, so e = 4, and then a
    // sample takes (4 * 100 + 20) / 4 = 105 ns an event.
    let scripted = Scripted { reading_ps: 20_000, ..Scripted::default() };
    let outcome = scripted.run(|_, _, time_ps| pass(time_ps, 100_000));
    assert_eq!(outcome.timing.events_per_sample, 4);
    assert_eq!(outcome.warm_up_ps, [120_000.0; 8]);
    assert_eq!(outcome.samples_ps, [105_000.0; 30]);
    assert_eq!(outcome.timing.clock_share, 20_000.0 / 420_000.0);
}

#[test]
fn events_that_overlap_are_never_batched() {
    let scripted = Scripted { reading_ps: 20_000, in_a_row: false, ..Scripted::default() };
    let outcome = scripted.run(|_, _, time_ps| pass(time_ps, 100_000));
    assert_eq!(outcome.timing.events_per_sample, 1);
    assert_eq!(outcome.timing.clock_share, 20_000.0 / 120_000.0);
}

#[test]
fn the_batch_grows_if_the_first_events_were_slow() {
    // Nine events of 1 us need no batch; those that follow, of 100 ns, need four, as above.
    let scripted = Scripted { reading_ps: 20_000, ..Scripted::default() };
    let outcome = scripted.run(|_, calls, time_ps| {
        pass(time_ps, if calls < 9 { 1_000_000 } else { 100_000 });
    });
    assert_eq!(outcome.timing.events_per_sample, 4);
    assert_eq!(outcome.samples_ps, [105_000.0; 30]);
}

#[test]
fn a_slow_beginning_is_kept_apart_as_warm_up() {
    let settings = Settings { samples_max: 1_000, ..Settings::default() };
    let scripted = Scripted { settings, ..Scripted::default() };
    let outcome =
        scripted.run(|_, calls, time_ps| pass(time_ps, if calls < 24 { 9_000 } else { 3_000 }));
    assert_eq!(outcome.warm_up_ps, [9_000.0; 24]);
    assert!(outcome.samples_ps.iter().all(|&sample| sample == 3_000.0));
}

#[test]
fn late_starts_are_counted_and_made_again_with_more_slack() {
    // An agreement takes 100 ps when it is measured and each third time later 700: more than the slack of 200, and of
    // 400, but not of 800.
    let scripted = Scripted {
        ranks: 2,
        timing: Timing::Slowest,
        agreement_ps: |count| if count > 9 && count % 3 == 0 { 700 } else { 100 },
        ..Scripted::default()
    };
    let outcome = scripted.run(|rank, _, time_ps| pass(time_ps, 4_000 + rank as u64));
    assert!(outcome.samples_ps.len() >= 30);
    assert!(outcome.samples_ps.iter().all(|&sample| sample == 4_001.0), "{outcome:?}");
    assert!(outcome.timing.late_starts > 0);
    assert_eq!(outcome.timing.start, "time");
    assert_eq!(outcome.stop_reason, StopReason::Precision);
}

#[test]
fn ranks_that_are_always_late_start_from_a_barrier() {
    let scripted = Scripted {
        ranks: 2,
        timing: Timing::Slowest,
        agreement_ps: |count| if count > 9 { 1_000_000 } else { 0 },
        ..Scripted::default()
    };
    let outcome = scripted.run(|_, _, time_ps| pass(time_ps, 4_000));
    assert_eq!(outcome.timing.start, "barrier");
    assert!(outcome.samples_ps.iter().all(|&sample| sample == 4_000.0));
}

#[test]
fn samples_that_spread_stop_at_the_sample_limit() {
    let settings = Settings { samples_max: 100, time_min_s: 0.0, ..Settings::default() };
    let scripted = Scripted { settings, ..Scripted::default() };
    let outcome = scripted.run(|_, calls, time_ps| pass(time_ps, 1 + (calls * 7919) % 1000));
    assert_eq!(outcome.samples_ps.len(), 100);
    assert_eq!(outcome.stop_reason, StopReason::SampleLimit);
}

#[test]
fn slow_events_stop_at_the_time_limit_with_what_there_is() {
    // Each event takes 0.3 s of a limit of 1 s: one to calibrate, and then one at a time.
    let settings = Settings { time_limit_s: 1.0, ..Settings::default() };
    let scripted = Scripted { settings, ..Scripted::default() };
    let outcome = scripted.run(|_, calls, time_ps| {
        pass(time_ps, 300_000_000_000 + calls);
    });
    assert_eq!(outcome.stop_reason, StopReason::TimeLimit);
    assert_eq!((outcome.warm_up_ps.len(), outcome.samples_ps.len()), (1, 3));
    assert!(outcome.timing.spent_s < 1.3);
}

#[test]
fn slow_events_that_hardly_differ_are_precise_at_the_time_limit() {
    // As above, with a limit of 3 s: one event of 0.3 s to calibrate, one for warm-up, eight samples.
    let settings = Settings { time_limit_s: 3.0, ..Settings::default() };
    let scripted = Scripted { settings, ..Scripted::default() };
    let outcome = scripted.run(|_, calls, time_ps| pass(time_ps, 300_000_000_000 + calls));
    assert_eq!(outcome.stop_reason, StopReason::Precision);
    assert!((6..30).contains(&outcome.samples_ps.len()), "{}", outcome.samples_ps.len());
}

#[test]
fn an_event_longer_than_the_limit_is_sampled_once() {
    let settings = Settings { time_limit_s: 0.1, ..Settings::default() };
    let scripted = Scripted { settings, ..Scripted::default() };
    let outcome = scripted.run(|_, _, time_ps| pass(time_ps, 1_000_000_000_000));
    assert_eq!(outcome.samples_ps, [1e12]);
    assert_eq!(outcome.stop_reason, StopReason::TimeLimit);
}

#[test]
fn untimed_events_spread_the_samples_over_the_least_time() {
    // 100 samples in 1 ms: one in 10 us. An event takes about 1 us, so nine untimed ones go before each sample.
    let settings = Settings { samples_max: 100, time_min_s: 1e-3, ..Settings::default() };
    let counted = Mutex::new(0);
    let scripted = Scripted { settings, ..Scripted::default() };
    let outcome = scripted.run(|_, calls, time_ps| {
        *counted.lock().unwrap() = calls + 1;
        pass(time_ps, 1_000_000 + calls % 2);
    });
    let warm = outcome.warm_up_ps.len() as u64;
    // 30 samples were taken before they were known to be steady; the other 70 have 8 or 9 untimed events each.
    let untimed = *counted.lock().unwrap() - warm - 100;
    assert!((70 * 8..=70 * 9).contains(&untimed), "{untimed}");
    assert_eq!(outcome.samples_ps.len(), 100);
}
