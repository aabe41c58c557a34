//! The time of an instance without a period: variants of a job run back to back, in rounds.
//!
//! A machine keeps one performance state for a while and then another, so two variants that are timed one after the
//! other differ by its states. In rounds each variant meets all of them, and a round compares the variants in one
//! state.

use std::cell::Cell;

use contract::{Rank, Result, TimeSpan};

use super::deadlines::{Body, Deadlines};
use super::segment::{TrialSegment, TrialSegments};
use super::trial::Trial;
use super::{first_guess, os_isolation};
use crate::bench::Bench;
use crate::settings::{RealTime, Settings};

/// Number of rounds. The median of nine has an interval of 96 % confidence that leaves out the smallest and the
/// largest.
const ROUNDS: usize = 9;
/// Time of one variant in a round, as a share of a trial.
const SHARE_OF_TRIAL: f64 = 0.1;
/// Longest time of all rounds, as a share of a search.
const SHARE_OF_SEARCH: f64 = 0.1;
/// Number of instances of a short run, in which the job fills its buffers and empties them.
const FILLING: u64 = 8;
const INSTANCES_MIN: u64 = 3 * FILLING;
const INSTANCES_MAX: u64 = 4096;
/// Numbers of instances on a machine on which the same work always takes the same time, and the largest difference between
/// instances that follow each other evenly, as a share of their time.
const STEADY_MIN: u64 = 8 * FILLING;
const STEADY_MAX: u64 = 32 * FILLING;
const EVEN: f64 = 1e-3;

/// One rank's part of some instances, in the variant with this number.
pub(crate) type VariantBody<'a> =
    &'a mut dyn FnMut(usize, &mut dyn Rank, &Trial, &mut Deadlines) -> Result<()>;

/// Returns for each round the time of an instance in each of `variants` variants, in microseconds, at rank 0; nothing at
/// the other ranks. Collective. It also serves as the warm-up of the first variant. If a second round equals the first,
/// one round is returned.
pub(crate) fn back_to_back(
    bench: &mut Bench<'_>,
    variants: usize,
    body: VariantBody<'_>,
) -> Result<Vec<Vec<f64>>> {
    let settings = &bench.settings.real_time;
    os_isolation::apply(bench.rank, settings.os_isolation, &bench.step.parameters)?;
    let variant_now = Cell::new(0);
    let mut in_this_way = |rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines| {
        body(variant_now.get(), rank, trial, deadlines)
    };
    let mut segments = TrialSegments::new(&mut in_this_way, bench.overheads.agreement);
    if bench.rank.describe().is_steady {
        let mut round = Vec::with_capacity(variants);
        for number in 0..variants {
            variant_now.set(number);
            round.extend(steady_us(bench.rank, &mut segments)?);
        }
        os_isolation::restore(bench.rank);
        return Ok(Some(round).filter(|round| !round.is_empty()).into_iter().collect());
    }
    let guess = first_guess::measure(bench.rank, &mut segments, settings.trial_s())?;
    let (instances, all_s) = (instances(settings, guess, variants), all_s(settings, variants));
    let begin = bench.rank.now();
    let mut rounds = Vec::new();
    loop {
        let mut round = Vec::with_capacity(variants);
        for number in 0..variants {
            variant_now.set(number);
            let short = segments.run(bench.rank, TimeSpan::ZERO, FILLING)?;
            let long = segments.run(bench.rank, TimeSpan::ZERO, instances)?;
            round.extend(each_us(&short, &long));
        }
        rounds.push(round);
        let is_over = bench.rank.now().since(begin).as_s() >= 2.0 * all_s;
        let mut over = [u8::from(is_over || rounds.len() == ROUNDS || all_alike(&rounds))];
        bench.rank.broadcast(0, &mut over)?;
        if over != [0] {
            break;
        }
    }
    os_isolation::restore(bench.rank);
    if all_alike(&rounds) {
        rounds.truncate(1);
    }
    rounds.retain(|round| !round.is_empty());
    Ok(rounds)
}

/// Returns the time of an instance back to back on a machine on which the same work always takes the same time, in
/// microseconds, at rank 0. Collective.
pub(crate) fn each_on_steady(rank: &mut dyn Rank, body: Body<'_>) -> Result<Option<f64>> {
    steady_us(rank, &mut TrialSegments::new(body, TimeSpan::ZERO))
}

/// Runs more and more instances until their distances repeat.
fn steady_us(rank: &mut dyn Rank, segments: &mut TrialSegments<'_>) -> Result<Option<f64>> {
    let mut instances = STEADY_MIN;
    loop {
        let segment = segments.run(rank, TimeSpan::ZERO, instances)?;
        let repeated = repeated_us(&segment.responses_ps);
        let is_last = instances >= STEADY_MAX;
        let is_over = rank.rank() == 0 && (is_last || repeated.is_some());
        let mut over = [u8::from(is_over)];
        rank.broadcast(0, &mut over)?;
        if over != [0] {
            let ends_ps = &segment.responses_ps;
            return Ok(repeated.or_else(|| mean_us(ends_ps, ends_ps.len() / 4)));
        }
        instances *= 2;
    }
}

/// Returns the mean distance of the ends of instances in microseconds, if the distances repeat within the second quarter: a
/// chain with several buffers takes instances in turns. Those before fill the buffers, and those after may empty them.
fn repeated_us(ends_ps: &[u64]) -> Option<f64> {
    let quarter = ends_ps.len() / 4;
    let distances: Vec<f64> =
        ends_ps.windows(2).map(|pair| pair[1] as f64 - pair[0] as f64).collect();
    let second = distances.get(quarter..2 * quarter)?;
    let most = EVEN * second.iter().sum::<f64>() / quarter as f64;
    let repeats = |turn: &usize| {
        let pairs = second.iter().zip(&second[*turn..]);
        pairs.into_iter().all(|(one, next)| (one - next).abs() <= most)
    };
    let turn = (1..=quarter / 2).find(repeats)?;
    mean_us(ends_ps, quarter / turn * turn)
}

/// Returns the mean distance of this number of ends until the middle, in microseconds.
fn mean_us(ends_ps: &[u64], distances: usize) -> Option<f64> {
    let middle = ends_ps.len() / 2;
    let first = ends_ps.get(middle.checked_sub(distances)?).filter(|_| distances > 0)?;
    Some((ends_ps[middle] as f64 - *first as f64) / 1e6 / distances as f64)
}

/// Returns whether there are two rounds and they are equal, as in virtual time. More rounds would be equal, too.
fn all_alike(rounds: &[Vec<f64>]) -> bool {
    matches!(rounds, [first, second] if first == second && !first.is_empty())
}

/// Estimates the time of [`back_to_back`] in seconds.
pub(crate) fn rounds_last_s(settings: &Settings, variants: usize) -> f64 {
    all_s(&settings.real_time, variants)
}

fn all_s(settings: &RealTime, variants: usize) -> f64 {
    let wanted_s = SHARE_OF_TRIAL * settings.trial_s() * (ROUNDS * variants) as f64;
    let limit_s = settings.search_limit_s.map_or(f64::INFINITY, |all_s| SHARE_OF_SEARCH * all_s);
    wanted_s.min(limit_s)
}

/// Returns the number of instances of one variant in a round, if an instance takes about `each`.
fn instances(settings: &RealTime, each: TimeSpan, variants: usize) -> u64 {
    let part_s = all_s(settings, variants) / (ROUNDS * variants) as f64;
    let instances = match settings.instances {
        Some(of_a_trial) => SHARE_OF_TRIAL * of_a_trial as f64,
        None => part_s / each.as_s(),
    };
    (instances as u64).clamp(INSTANCES_MIN, INSTANCES_MAX)
}

/// Returns the time of an instance: by how much a long run takes longer than a short one. Both fill the buffers first and
/// empty them at the end, so this is never less than an instance computes. `None` at ranks other than 0.
fn each_us(short: &TrialSegment, long: &TrialSegment) -> Option<f64> {
    let end = |segment: &TrialSegment| segment.responses_ps.iter().copied().max();
    let more = long.responses_ps.len().checked_sub(short.responses_ps.len())?;
    let (all, few) = (end(long)?, end(short)?);
    // A pause that makes the short run the longer one leaves only the long run, with its filling.
    let (span, count) = if few < all { (all - few, more) } else { (all, long.responses_ps.len()) };
    Some(span as f64 / 1e6 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(responses_ps: Vec<u64>) -> TrialSegment {
        TrialSegment { responses_ps, ..TrialSegment::default() }
    }

    #[test]
    fn the_time_of_instances_is_that_of_whole_turns() {
        // 64 instances, 10 us after each other at first, and from one of them on in turns of three: 20, 20 and 50 us.
        let of = |first: u64, turn: [u64; 3]| {
            let mut at_us = 0;
            let distance = |one: u64| if one < first { 10 } else { turn[(one % 3) as usize] };
            let ends = (0..64).map(|one| {
                at_us += distance(one);
                at_us * 1_000_000
            });
            repeated_us(&ends.collect::<Vec<u64>>())
        };
        assert_eq!(of(12, [20, 20, 50]), Some(30.0));
        assert_eq!(of(12, [20, 20, 20]), Some(20.0));
        // The turns begin within the second quarter, from 16 to 32, or after it.
        assert_eq!(of(25, [20, 20, 50]), None);
        assert_eq!(of(40, [20, 20, 50]), Some(10.0));
        assert_eq!((repeated_us(&[]), repeated_us(&[1, 2, 3])), (None, None));
        assert_eq!(mean_us(&[0, 10_000_000, 30_000_000, 90_000_000], 2), Some(15.0));
    }

    #[test]
    fn what_fills_and_empties_the_buffers_is_not_timed() {
        // Filling and emptying takes 100 us, and each instance 20 us: 260 us for 8 of them and 580 us for 24.
        let us = |times: Vec<u64>| segment(times.into_iter().map(|us| us * 1_000_000).collect());
        let (short, long) = (us(vec![260; 8]), us((0..24).map(|one| 120 + 20 * one).collect()));
        assert_eq!(each_us(&short, &long), Some(20.0));
        assert_eq!(each_us(&us(vec![2400; 8]), &long), Some(580.0 / 24.0), "a pause");
        assert_eq!(each_us(&us(Vec::new()), &us(Vec::new())), None);
    }

    #[test]
    fn a_part_is_a_tenth_of_a_trial_and_all_are_a_tenth_of_a_search() {
        let us = TimeSpan::from_us;
        let plain = RealTime::default();
        // A trial is a second: 100 ms contain 500 instances of 200 us. 27 parts take 2.7 s.
        assert_eq!((instances(&plain, us(200), 3), all_s(&plain, 3)), (500, 2.7));
        // In a search of 13.5 s they may take 1.35 s: 50 ms each.
        let short = RealTime { search_limit_s: Some(13.5), ..plain.clone() };
        assert_eq!(instances(&short, us(200), 3), 250);
        let counted = RealTime { instances: Some(400), ..plain.clone() };
        assert_eq!(instances(&counted, us(200), 3), 40);
        // There are enough instances to fill the buffers.
        assert_eq!(instances(&plain, us(1_000_000), 3), INSTANCES_MIN);
        assert_eq!(instances(&plain, us(1), 3), INSTANCES_MAX);
    }

    #[test]
    fn each_turn_tells_every_way_and_one_that_says_the_same_again_is_the_last() {
        use crate::settings::Settings;
        use crate::testing::{Altered, definition, step};
        use crate::timed_loop::Overheads;
        conformance::reference::run(1, |rank| {
            for slower_ps in [0, 1_000_000] {
                let time = Cell::new(0);
                let mut rank = Altered { time_ps: Some(&time), ..Altered::new(&mut *rank) };
                let step = step("ping-pong");
                let (settings, mut sink) = (Settings::default(), |_| Ok(()));
                let overheads = Overheads::default();
                let mut bench = Bench::new(
                    &mut rank,
                    definition("ping-pong"),
                    &step,
                    &settings,
                    overheads,
                    &mut sink,
                );
                // An instance takes 30 us in one variant and 20 in the other, and on a machine that becomes slower a
                // microsecond more in each part; the first guess takes five segments of 1, 4, 16, 64 and 256, and each part
                // two.
                let mut segments = 0_u64;
                let found = back_to_back(&mut bench, 2, &mut |variant, rank, trial, deadlines| {
                    for instance in 0..trial.instances {
                        let part = segments.saturating_sub(5) / 2;
                        time.set(time.get() + [30, 20][variant] * 1_000_000 + part * slower_ps);
                        deadlines.ended(instance, 0, rank.now());
                    }
                    segments += 1;
                    Ok(())
                })?;
                let slower = |round: usize| vec![(30 + 2 * round) as f64, (21 + 2 * round) as f64];
                let expected = match slower_ps {
                    0 => vec![vec![30.0, 20.0]],
                    _ => (0..ROUNDS).map(slower).collect(),
                };
                assert_eq!(found, expected);
            }
            Ok(())
        })
        .unwrap();
    }
}
