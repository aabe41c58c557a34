//! How long an instance takes where nothing waits for a period: several ways of a job, back to back and in turns.
//!
//! A machine keeps one mood for a while and then another, so two ways that are timed one after the other differ by its moods. In
//! turns each way meets all of them, and what a turn says of one way beside another is said of one mood.

use std::cell::Cell;

use contract::{Rank, Result, TimeSpan};

use super::leg::{Leg, Legs};
use super::trial::{Deadlines, Trial};
use super::{first_guess, hygiene};
use crate::execute::Bench;
use crate::{RealTime, Settings};

/// The middle one of nine has an interval of 96 % confidence that leaves out the least and the most.
const TURNS: usize = 9;
/// A way's part of a turn, as a share of a trial.
const SHARE_OF_TRIAL: f64 = 0.1;
/// What all turns take at most, as a share of a search.
const SHARE_OF_SEARCH: f64 = 0.1;
/// The first instances of a part are not timed: the job fills its buffers.
const FILLING: u64 = 8;
const INSTANCES_MIN: u64 = 2 * FILLING;
const INSTANCES_MAX: u64 = 4096;

/// One rank's part of some instances, done in the way with this number.
pub(crate) type Ways<'a> =
    &'a mut dyn FnMut(usize, &mut dyn Rank, &Trial, &mut Deadlines) -> Result<()>;

/// For each turn what an instance took in each of `ways` ways, in microseconds, at rank 0; nothing at the other ranks. All
/// ranks call it alike. It is the warm-up of the first way, too. One turn is told where another says the very same.
pub(crate) fn back_to_back(
    bench: &mut Bench<'_>,
    ways: usize,
    body: Ways<'_>,
) -> Result<Vec<Vec<f64>>> {
    let settings = &bench.settings.real_time;
    hygiene::apply(bench.rank, settings.hygiene, &bench.step.parameters)?;
    let way = Cell::new(0);
    let mut in_this_way = |rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines| {
        body(way.get(), rank, trial, deadlines)
    };
    let mut legs = Legs::new(&mut in_this_way, bench.overheads.agreement);
    let guess = first_guess::measure(bench.rank, &mut legs, settings.trial_s())?;
    let (instances, all_s) = (instances(settings, guess, ways), all_s(settings, ways));
    let begin = bench.rank.now();
    let mut turns = Vec::new();
    loop {
        let mut turn = Vec::with_capacity(ways);
        for number in 0..ways {
            way.set(number);
            let leg = legs.run(bench.rank, TimeSpan::ZERO, instances)?;
            turn.extend(each_us(&leg));
        }
        turns.push(turn);
        let is_over = bench.rank.now().since(begin).as_s() >= 2.0 * all_s;
        let mut over = [u8::from(is_over || turns.len() == TURNS || all_alike(&turns))];
        bench.rank.broadcast(0, &mut over)?;
        if over != [0] {
            break;
        }
    }
    hygiene::restore(bench.rank);
    if all_alike(&turns) {
        turns.truncate(1);
    }
    turns.retain(|turn| !turn.is_empty());
    Ok(turns)
}

/// Whether there are two turns that do not differ at all, as in virtual time: others would say the same.
fn all_alike(turns: &[Vec<f64>]) -> bool {
    matches!(turns, [first, second] if first == second && !first.is_empty())
}

/// How long [`back_to_back`] takes, in seconds, as far as one can tell before.
pub(crate) fn turns_last_s(settings: &Settings, ways: usize) -> f64 {
    all_s(&settings.real_time, ways)
}

fn all_s(settings: &RealTime, ways: usize) -> f64 {
    let wanted_s = SHARE_OF_TRIAL * settings.trial_s() * (TURNS * ways) as f64;
    let limit_s = settings.search_limit_s.map_or(f64::INFINITY, |all_s| SHARE_OF_SEARCH * all_s);
    wanted_s.min(limit_s)
}

/// How many instances of about `each` a part has.
fn instances(settings: &RealTime, each: TimeSpan, ways: usize) -> u64 {
    let part_s = all_s(settings, ways) / (TURNS * ways) as f64;
    let instances = match settings.instances {
        Some(of_a_trial) => SHARE_OF_TRIAL * of_a_trial as f64,
        None => part_s / each.as_s(),
    };
    (instances as u64).clamp(INSTANCES_MIN, INSTANCES_MAX)
}

/// What an instance took once the job was under way; nothing at a rank that is not told.
fn each_us(leg: &Leg) -> Option<f64> {
    let (filling, timed) = leg.responses_ps.split_at_checked(FILLING as usize)?;
    let end = |responses: &[u64]| responses.iter().copied().max();
    let span = end(timed)?.saturating_sub(end(filling)?);
    Some(span as f64 / 1e6 / timed.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(responses_ps: Vec<u64>) -> Leg {
        Leg { responses_ps, worst: Vec::new(), pauses: Vec::new() }
    }

    #[test]
    fn what_fills_the_buffers_is_not_timed() {
        // Eight results within 100 us, then one every 20 us: 3 x 20 us in 3 instances.
        let us = [90, 91, 92, 93, 94, 95, 96, 100, 120, 140, 160];
        assert_eq!(each_us(&leg(us.map(|us| us * 1_000_000).to_vec())), Some(20.0));
        assert_eq!(each_us(&leg(Vec::new())), None);
    }

    #[test]
    fn a_part_is_a_tenth_of_a_trial_and_all_are_a_tenth_of_a_search() {
        let us = TimeSpan::from_us;
        let plain = RealTime::default();
        // A trial is a second: 100 ms hold 500 instances of 200 us. 27 parts take 2.7 s.
        assert_eq!((instances(&plain, us(200), 3), all_s(&plain, 3)), (500, 2.7));
        // Of a search of 13.5 s they may take 1.35 s: 50 ms each.
        let short = RealTime { search_limit_s: Some(13.5), ..plain.clone() };
        assert_eq!(instances(&short, us(200), 3), 250);
        let counted = RealTime { instances: Some(400), ..plain.clone() };
        assert_eq!(instances(&counted, us(200), 3), 40);
        // Never so few that the job does not flow.
        assert_eq!(instances(&plain, us(1_000_000), 3), INSTANCES_MIN);
        assert_eq!(instances(&plain, us(1), 3), INSTANCES_MAX);
    }

    #[test]
    fn each_turn_tells_every_way_and_one_that_says_the_same_again_is_the_last() {
        use crate::testing::Altered;
        use crate::timed_loop::Overheads;
        use crate::{Settings, Step};
        contract::reference::run(1, |rank| {
            for slower_ps in [0, 1_000_000] {
                let time = Cell::new(0);
                let mut rank = Altered { time_ps: Some(&time), ..Altered::new(&mut *rank) };
                let step = Step {
                    benchmark: "ping-pong".into(),
                    parameters: Default::default(),
                    size_bytes: 0,
                    estimate_s: 0.0,
                    turn: 1,
                };
                let (settings, mut sink) = (Settings::default(), |_| Ok(()));
                let overheads = Overheads::default();
                let mut bench = Bench::new(&mut rank, &step, &settings, overheads, &mut sink)?;
                // An instance takes 30 us in one way and 20 in the other, and on a machine that gets slower a microsecond more
                // in each leg; the first guess takes five legs of 1, 4, 16, 64 and 256.
                let mut legs = 0;
                let found = back_to_back(&mut bench, 2, &mut |way, rank, trial, deadlines| {
                    for instance in 0..trial.instances {
                        time.set(time.get() + [30, 20][way] * 1_000_000 + legs * slower_ps);
                        deadlines.ended(instance, 0, rank.now());
                    }
                    legs += 1;
                    Ok(())
                })?;
                let slower = |turn: usize| vec![(35 + 2 * turn) as f64, (26 + 2 * turn) as f64];
                let expected = match slower_ps {
                    0 => vec![vec![30.0, 20.0]],
                    _ => (0..TURNS).map(slower).collect(),
                };
                assert_eq!(found, expected);
            }
            Ok(())
        })
        .unwrap();
    }
}
