//! Contexts: groups of ranks with messages and collectives of their own.

use contract::{Error, Rank, Reduction, Result, Source, TagSelector, TimeSpan};

use super::{TAG, machine, run};
use crate::machine::find;
use crate::{Level, Machine, Options};

fn switch() -> Machine {
    machine(
        "[endpoint]\nsend_us = 1\nreceive_us = 2\npost_us = 0.5\n[protocol]\neager_bytes = 1024\n\
         [network]\nshape = \"switch\"\nlink_mb_per_s = 100",
    )
}

/// Creates contexts of the even and of the odd ranks, each in reverse order.
fn parity(rank: &mut dyn Rank) -> Result<contract::Context> {
    let (number, size) = (rank.rank(), rank.size());
    let context = rank.split(Some(number as u32 % 2), -(number as i64))?;
    let context = context.expect("this rank has a colour");
    let members = (0..size).filter(|other| other % 2 == number % 2);
    let expected: Vec<usize> = members.rev().collect();
    let found: Vec<usize> =
        (0..context.size()).map(|member| context.run_rank(member)).collect::<Result<_>>()?;
    assert_eq!(found, expected);
    Ok(context)
}

/// Sends around the ring of each context, while a message of the world with the same tag waits: wildcards of one never
/// take a message of the other.
fn private_messages(rank: &mut dyn Rank) -> Result<()> {
    let context = parity(rank)?;
    let (me, size) = (rank.rank() as u8, rank.size());
    let next = (rank.rank() + 1) % size;
    rank.send(next, TAG, &[100 + me])?;
    {
        let mut inner = rank.within(&context);
        let (own, members) = (inner.rank(), inner.size());
        inner.send((own + 1) % members, TAG, &[me])?;
        let mut byte = [0];
        let status = inner.receive(Source::Any, TagSelector::Any, &mut byte)?;
        assert_eq!(status.source, (own + members - 1) % members);
        assert_eq!(usize::from(byte[0]), context.run_rank(status.source)?);
        assert_eq!(inner.probe(Source::Any, TagSelector::Any)?, None);
    }
    let mut byte = [0];
    let status = rank.receive(Source::Any, TagSelector::Any, &mut byte)?;
    assert_eq!((status.source, byte[0]), ((next + size - 2) % size, 100 + status.source as u8));
    rank.close(context)
}

/// Sums over the members, between collectives of the world.
fn sums(rank: &mut dyn Rank) -> Result<()> {
    let context = parity(rank)?;
    let (me, size) = (rank.rank(), rank.size());
    for round in 1..4 {
        let value = ((round * 10 + me) as f64).to_ne_bytes();
        let mut sum = [0; 8];
        rank.within(&context).allreduce(Reduction::SUM_F64, &value, &mut sum)?;
        let members = (0..size).filter(|other| other % 2 == me % 2);
        let expected: usize = members.map(|other| round * 10 + other).sum();
        assert_eq!(f64::from_ne_bytes(sum), expected as f64);
        rank.barrier()?;
        rank.allreduce(Reduction::SUM_F64, &value, &mut sum)?;
        let expected: usize = (0..size).map(|other| round * 10 + other).sum();
        assert_eq!(f64::from_ne_bytes(sum), expected as f64);
    }
    rank.close(context)
}

#[test]
fn contexts_keep_their_messages_and_collectives_to_themselves() {
    let boards = machine(super::boards::BOARDS);
    for machine in [switch(), boards, find("sharc-ring").unwrap(), find("ipsc").unwrap()] {
        for (level, sharing) in [(Level::LogGp, 1), (Level::Packets, 1), (Level::LogGp, 2)] {
            for ranks in [2, 3, 5, 8] {
                let options = Options {
                    level: Some(level),
                    ranks_per_processor: Some(sharing),
                    ..Options::new(ranks)
                };
                for program in [private_messages, sums] {
                    let ended = crate::run(&machine, &options, program);
                    let place = format!("{}, {level:?}, {ranks} ranks", machine.name);
                    assert!(ended.is_ok(), "{place}: {:?}", ended.map(drop));
                }
            }
        }
    }
}

/// Returns the time of a program in the world or in a context of the same ranks, from a common start.
fn time_of(
    machine: &Machine,
    inside: bool,
    program: impl Fn(&mut dyn Rank) -> Result<()> + 'static,
) -> Vec<TimeSpan> {
    let outcome = run(machine, 5, move |rank| {
        let context = rank.split(Some(0), 0)?.expect("all have the same colour");
        let start = contract::Time::ZERO + TimeSpan::from_us(10_000);
        rank.wait_until(start);
        if inside {
            program(&mut *rank.within(&context))?
        } else {
            program(rank)?
        }
        Ok(rank.now().since(start))
    });
    outcome.unwrap().results
}

#[test]
fn a_context_of_all_ranks_takes_as_long_as_the_world_by_messages() {
    let program = |rank: &mut dyn Rank| {
        rank.barrier()?;
        rank.allreduce(Reduction::SUM_F64, &[0; 800], &mut [0; 800])?;
        let size = rank.size();
        rank.all_to_all(&vec![1; 3000 * size], &mut vec![0; 3000 * size])
    };
    let outside = time_of(&switch(), false, program);
    assert_eq!(time_of(&switch(), true, program), outside);
    assert!(outside[0] > TimeSpan::ZERO);
}

/// Over boards no message is sent. In a context of the same three ranks the barrier has two rounds (dissemination), and
/// every rank sends one message in each.
#[test]
fn only_the_world_has_collectives_of_the_machine() {
    let messages = |inside: bool| {
        let outcome = run(&machine(super::boards::BOARDS), 3, move |rank| {
            let context = rank.split(Some(0), 0)?.expect("all have the same colour");
            if inside { rank.within(&context).barrier() } else { rank.barrier() }
        });
        outcome.unwrap().counts.messages
    };
    assert_eq!((messages(false), messages(true)), (0, 6));
}

/// The first number that rank 0 of three assigns is 3: the numbers below belong to the world's round.
#[test]
fn a_deadlock_in_a_context_names_it() {
    let outcome = run(&switch(), 3, |rank| {
        let context = rank.split((rank.rank() < 2).then_some(0), 0)?;
        let Some(context) = context else { return Ok(()) };
        let mut inner = rank.within(&context);
        if inner.rank() == 0 {
            return inner.receive(Source::Rank(1), TAG.into(), &mut []).map(drop);
        }
        inner.send(0, contract::Tag::new(7), &[])
    });
    let explanation = "rank 0 waits to receive tag 3 from rank 1 in context 3 \
                       (it has, not asked for, tag 7 from rank 1 in context 3); \
                       rank 1 has ended; rank 2 has ended";
    assert_eq!(outcome.map(drop), Err((0, Error::Deadlock { explanation: explanation.into() })));
}
