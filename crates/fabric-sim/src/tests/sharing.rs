//! Several ranks on one processor.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use contract::{Error, Priority, Rank, Result, Source, Time, TimeSpan, Work, WorkKind};

use super::{TAG, machine};
use crate::machine::find;
use crate::{Level, Machine, Options, Outcome};

/// A million operations a second, so that one takes a microsecond; copies at 1000 MB/s.
const PROCESSOR: &str = "[processor]\nfloating_point_mflops = 1\ncopy_mb_per_s = 1000\ntime_slice_us = 10\nswitch_us = 1\n\
                         [network]\nshape = \"line\"\nlink_mb_per_s = 100\n";

fn run<T: 'static>(
    machine: &Machine,
    ranks: usize,
    ranks_per_processor: usize,
    program: impl Fn(&mut dyn Rank) -> Result<T> + 'static,
) -> Outcome<T> {
    let options = Options { ranks_per_processor: Some(ranks_per_processor), ..Options::new(ranks) };
    crate::run(machine, &options, program).unwrap_or_else(|(rank, error)| panic!("{rank}: {error}"))
}

fn compute(rank: &mut dyn Rank, us: u64) {
    rank.compute(Work::new(WorkKind::FloatingPoint, us), &mut || ());
}

fn us(time: Time) -> u64 {
    time.since(Time::ZERO).as_ps() / 1_000_000
}

/// Ranks 0 and 1 share a processor, rank 2 has one to itself: 12 µs of computing in slices of 10 (see the tests of
/// `world::scheduler`).
#[test]
fn computing_queues_at_a_shared_processor() {
    let outcome = run(&machine(PROCESSOR), 3, 2, |rank| {
        assert_eq!(rank.processor(), Some(rank.rank() / 2));
        assert!(!rank.every_rank_has_a_processor());
        compute(rank, 12);
        Ok(us(rank.now()))
    });
    assert_eq!(outcome.results, [23, 27, 12]);
}

/// Three periodic tasks of Liu and Layland (1973): 2 of every 10 µs, 5 of every 20 µs, and one that computes for 30 µs
/// in the remaining time. With the priorities of the rates and free switches the first has the first 2 of each 10 µs,
/// the second runs from 2 to 7 of each 20, and the third in the 3 + 8 µs that remain of each 20: 7 to 10, 12 to 20, 27
/// to 30, 32 to 40, 47 to 50 and 52 to 57.
#[test]
fn rate_monotonic_priorities_let_the_fast_task_run_first() {
    let costs = PROCESSOR.replace("switch_us = 1", "switch_us = 0");
    let outcome = run(&machine(&costs), 3, 3, |rank| {
        let (period, instances, work, priority) =
            [(10, 6, 2, 30), (20, 3, 5, 20), (0, 1, 30, 10)][rank.rank()];
        assert!(rank.set_priority(Priority::Fixed(priority)).is_granted());
        let mut ends = Vec::new();
        for instance in 0..instances {
            rank.wait_until(Time::ZERO + TimeSpan::from_us(period * instance));
            compute(rank, work);
            ends.push(us(rank.now()));
        }
        Ok(ends)
    });
    assert_eq!(outcome.results, [vec![2, 12, 22, 32, 42, 52], vec![7, 27, 47], vec![57]]);
}

/// The same first task without priorities waits for another rank's slice of 10 µs, so it misses its period.
#[test]
fn without_priorities_a_fast_task_waits_for_the_slice_of_a_slow_one() {
    let outcome = run(&machine(PROCESSOR), 2, 2, |rank| {
        if rank.rank() == 0 {
            compute(rank, 100);
            return Ok(0);
        }
        rank.wait_until(Time::ZERO + TimeSpan::from_us(12));
        compute(rank, 2);
        Ok(us(rank.now()))
    });
    // Rank 0's new slice ends at 22, a switch, 2 µs of work.
    assert_eq!(outcome.results[1], 25);
}

#[test]
fn a_priority_that_posix_does_not_know_is_refused() {
    let refused =
        run(&machine(PROCESSOR), 1, 2, |rank| Ok(rank.set_priority(Priority::Fixed(100))));
    assert!(!refused.results[0].is_granted());
}

/// 5000 bytes on one processor are only a copy of 5 µs by the sender; the receiver gets the processor after a switch of
/// 1 µs. Between processors they occupy the link for 50 µs.
#[test]
fn messages_on_one_processor_cost_a_copy() {
    for (ranks_per_processor, expected) in [(2, 6), (1, 50)] {
        let outcome = run(&machine(PROCESSOR), 2, ranks_per_processor, |rank| {
            let mut data = [7; 5000];
            if rank.rank() == 0 {
                rank.send(1, TAG, &data)?;
            } else {
                rank.receive(Source::Rank(0), TAG.into(), &mut data)?;
            }
            Ok(us(rank.now()))
        });
        assert_eq!(outcome.results[1], expected);
    }
}

/// A rank that waits for a moment, alone on its processor or idle, continues at that moment to the picosecond.
#[test]
fn waiting_until_a_moment_is_exact_at_every_level() {
    for (level, ranks_per_processor) in
        [(Level::LogGp, 1), (Level::Packets, 1), (Level::LogGp, 4), (Level::Packets, 4)]
    {
        let options = Options {
            level: Some(level),
            ranks_per_processor: Some(ranks_per_processor),
            ..Options::new(4)
        };
        let outcome = crate::run(&find("paragon-osf1").unwrap(), &options, |rank| {
            let moment = Time::from_ps(123_456_789_012 + 1000 * rank.rank() as u64);
            // A message is under way meanwhile.
            if rank.rank() == 0 {
                rank.send(3, TAG, &[0; 1000])?;
            }
            rank.wait_until(moment);
            let now = rank.now();
            rank.wait_until(Time::from_ps(1));
            if rank.rank() == 3 {
                rank.receive(Source::Any, TAG.into(), &mut [0; 1000])?;
            }
            Ok(now.signed_ps_since(moment))
        });
        assert_eq!(
            outcome.unwrap().results,
            [0; 4],
            "{level:?}, {ranks_per_processor} a processor"
        );
    }
}

/// A rank that only computes never waits for anything, so nothing else would let the run be watched.
#[test]
fn a_rank_that_only_computes_is_watched_and_can_be_ended() {
    let computed = Rc::new(Cell::new(0));
    let program = {
        let computed = Rc::clone(&computed);
        move |rank: &mut dyn Rank| -> Result<()> {
            loop {
                rank.compute(Work::new(WorkKind::FloatingPoint, 1), &mut || {
                    computed.set(computed.get() + 1);
                });
            }
        }
    };
    let ended = crate::run_watched(&machine(PROCESSOR), &Options::new(1), program, &mut |_| {
        if computed.get() < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(ended.is_err_and(|(_, error)| matches!(error, Error::Aborted { .. })));
    // The rank runs once more when the run has ended.
    assert!(computed.get() <= 6, "{}", computed.get());
}

#[test]
fn shared_processors_repeat_too() {
    let hash = || {
        run(&find("paragon-osf1").unwrap(), 12, 4, |rank| {
            let size = rank.size();
            rank.set_priority(Priority::Fixed(1 + rank.rank() as u8 % 3));
            compute(rank, 1000);
            rank.all_to_all(&vec![1; size * 3000], &mut vec![0; size * 3000])
        })
        .event_hash
    };
    assert_eq!(hash(), hash());
}

#[test]
fn machines_of_so_many_nodes_have_room_for_more_ranks() {
    let sharc = find("sharc-ring").unwrap();
    assert_eq!(run(&sharc, 64, 2, |rank| rank.barrier()).results.len(), 64);
    let options = Options { ranks_per_processor: Some(2), ..Options::new(65) };
    let refused = crate::run(&sharc, &options, |_| Ok(())).map(drop).unwrap_err().1.to_string();
    assert_eq!(refused, "sim:sharc-ring cannot have 65 ranks: it has at most 64");
}
