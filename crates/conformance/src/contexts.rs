//! Contexts: their ranks, and the isolation of their messages and collectives from each other.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{contents, ensure, expect, expect_contents, expect_error, expect_status, mix};
use contract::{
    Buffer, Context, Element, Error, Operation, Rank, Reduction, Result, Source, Tag, TagSelector,
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("contexts/ranks-are-ordered-by-key", ANY, ordered_by_key),
        Case::new("contexts/colours-part-the-ranks", ANY, colours),
        Case::new("contexts/no-colour-gives-no-context", TWO_OR_MORE, no_colour),
        Case::new("contexts/each-message-stays-in-its-own", TWO_OR_MORE, separate_messages),
        Case::new("contexts/a-wildcard-is-blind-for-others", TWO_OR_MORE, blind_wildcard),
        Case::new("contexts/a-probe-is-blind-for-others", ANY, blind_probe),
        Case::new("contexts/posted-operations-of-two", TWO_OR_MORE, posted_in_two),
        Case::new("contexts/collectives-of-parts-go-on-at-once", ANY, collectives_of_parts),
        Case::new("contexts/collectives-pass-waiting-messages", TWO_OR_MORE, collectives_pass),
        Case::new("contexts/one-within-another", TWO_OR_MORE, nested),
        Case::new("contexts/made-and-closed-again", ANY, again_and_again),
        Case::new("contexts/many-numbers-are-told-apart", ANY, many_numbers),
        Case::new("contexts/a-rank-beyond-the-last-is-refused", ANY, beyond_the_last),
    ]
}

const TAG: Tag = Tag::new(11);

/// Creates a context of all ranks in their own order.
fn copy_of_all(machine: &mut dyn Rank) -> Result<Context> {
    let context = machine.split(Some(0), 0)?;
    context.ok_or_else(|| Error::Program("a rank with a colour got no context".into()))
}

/// Checks the ranks of one colour, ordered by key. Every rank sends its number of the run around the ring of the
/// context.
fn expect_members(machine: &mut dyn Rank, context: &Context, members: &[usize]) -> Result<()> {
    let own = machine.rank();
    let place = members.iter().position(|&member| member == own);
    let mut within = machine.within(context);
    expect("the size of the context", members.len(), within.size())?;
    expect("this rank's place in the context", place, Some(within.rank()))?;
    let (rank, size) = (within.rank(), within.size());
    let mut found = [0; 8];
    let (to, from) = ((rank + 1) % size, (rank + size - 1) % size);
    let sent = (own as u64).to_le_bytes();
    let status = within.send_receive((to, TAG, &sent), (from.into(), TAG.into(), &mut found))?;
    expect_status("the message of the rank before", (from, TAG, 8), status)?;
    expect("who that is", members[from] as u64, u64::from_le_bytes(found))?;
    let mut all = vec![0; 8 * size];
    within.allgather(&sent, &mut all)?;
    let all = all.as_chunks::<8>().0.iter().map(|one| u64::from_le_bytes(*one) as usize);
    expect("the members, gathered by all", members.to_vec(), all.collect())?;
    drop(within);
    let outer = machine.enter(context.clone());
    expect("this rank's place in a context that it is in", place, Some(machine.rank()))?;
    machine.barrier()?;
    machine.enter(outer);
    expect("this rank outside of it again", own, machine.rank())
}

fn ordered_by_key(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    // Backwards, except that the last two ranks have the same key and so keep their order.
    let key = |rank: usize| if rank + 2 >= size { -1000 } else { -(rank as i64) };
    let mut members: Vec<usize> = (0..size).collect();
    members.sort_by_key(|&rank| (key(rank), rank));
    let context = machine.split(Some(7), key(rank))?;
    let context = context.ok_or_else(|| Error::Program("no context".into()))?;
    expect_members(machine, &context, &members)
}

fn colours(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let context = machine.split(Some((rank % 3) as u32), 0)?;
    let context = context.ok_or_else(|| Error::Program("no context".into()))?;
    let members: Vec<usize> = (0..size).filter(|other| other % 3 == rank % 3).collect();
    expect_members(machine, &context, &members)
}

fn no_colour(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let context = machine.split((rank > 0).then_some(5), 0)?;
    expect("whether rank 0 got a context", rank == 0, context.is_none())?;
    match context {
        Some(context) => {
            let members: Vec<usize> = (1..size).collect();
            expect_members(machine, &context, &members)?;
        }
        None => ensure(rank == 0, || "a rank with a colour got no context".into())?,
    }
    machine.barrier()
}

/// Sends with the same tag in three contexts, and receives in another order.
fn separate_messages(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let contexts = [copy_of_all(machine)?, copy_of_all(machine)?];
    let (to, from) = ((rank + 1) % size, (rank + size - 1) % size);
    for bytes in [5, 3000, 70_000] {
        let key = |context: u64, from: usize| mix(&[context, from as u64, bytes as u64]);
        let mut posted = Vec::new();
        for order in [2, 0, 1] {
            let buffer = Buffer::from_bytes(&contents(key(order, rank), bytes));
            posted.push(match order {
                2 => machine.post_send(to, TAG, buffer)?,
                index => machine.within(&contexts[index as usize]).post_send(to, TAG, buffer)?,
            });
        }
        for order in [0, 1, 2] {
            let mut buffer = vec![0; bytes];
            let (any, from_any) = (TagSelector::Any, Source::Any);
            let status = match order {
                2 => machine.receive(from_any, any, &mut buffer)?,
                index => {
                    let mut within = machine.within(&contexts[index as usize]);
                    within.receive(from_any, any, &mut buffer)?
                }
            };
            expect_status("a message of one of three contexts", (from, TAG, bytes), status)?;
            expect_contents("a message of one of three contexts", key(order, from), &buffer)?;
        }
        for one in posted {
            machine.wait(one)?;
        }
    }
    Ok(())
}

/// Rank 0 receives with wildcards in the context of all ranks while messages arrive in another context.
fn blind_wildcard(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let context = copy_of_all(machine)?;
    if rank > 0 {
        machine.within(&context).send(0, TAG, &contents(rank as u64, 40))?;
        if rank == size - 1 {
            machine.receive(Source::Rank(0), TAG.into(), &mut [])?;
            machine.send(0, Tag::new(3), &[9; 9])?;
        }
        return Ok(());
    }
    let room = Buffer::zeroed(100);
    let anything = machine.post_receive(Source::Any, TagSelector::Any, room)?;
    for _ in 1..size {
        let mut buffer = [0; 40];
        let mut within = machine.within(&context);
        let status = within.receive(Source::Any, TagSelector::Any, &mut buffer)?;
        expect("the length of a message of the context", 40, status.bytes)?;
        expect_contents("a message of the context", status.source as u64, &buffer)?;
    }
    machine.send(size - 1, TAG, &[])?;
    let completed = machine.wait(anything)?;
    expect_status("the message of all", (size - 1, Tag::new(3), 9), completed.status)
}

fn blind_probe(machine: &mut dyn Rank) -> Result<()> {
    let rank = machine.rank();
    let context = copy_of_all(machine)?;
    machine.within(&context).send(rank, TAG, &[1, 2, 3])?;
    for _ in 0..10 {
        let found = machine.probe(Source::Any, TagSelector::Any)?;
        expect("what a probe finds of another context", None, found)?;
    }
    loop {
        let found = machine.within(&context).probe(Source::Any, TagSelector::Any)?;
        if let Some(status) = found {
            expect_status("what a probe finds", (rank, TAG, 3), status)?;
            break;
        }
    }
    let mut buffer = [0; 3];
    machine.within(&context).receive(Source::Any, TAG.into(), &mut buffer)?;
    expect("the message that was probed", [1, 2, 3], buffer)
}

/// Posted receives of two contexts wait at the same time, and each must get its own message.
fn posted_in_two(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let contexts = [copy_of_all(machine)?, copy_of_all(machine)?];
    let (to, from) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut posted = Vec::new();
    for context in &contexts {
        let mut within = machine.within(context);
        posted.push(within.post_receive(Source::Any, TagSelector::Any, Buffer::zeroed(8))?);
    }
    machine.barrier()?;
    for (index, context) in contexts.iter().enumerate().rev() {
        machine.within(context).send(to, TAG, &contents(index as u64, 8))?;
    }
    for (index, one) in posted.into_iter().enumerate() {
        let completed = machine.within(&contexts[index]).wait(one)?;
        expect_status("a posted receive", (from, TAG, 8), completed.status)?;
        expect_contents("a posted receive", index as u64, &completed.buffer)?;
    }
    Ok(())
}

/// Calls every collective, with a length that is one message and with one that may be several.
fn every_collective(rank: &mut dyn Rank, key: u64) -> Result<()> {
    let (me, size) = (rank.rank() as u64, rank.size());
    for bytes in [8, 3000] {
        let of = |member: u64| mix(&[key, member, bytes as u64]);
        let own = contents(of(me), bytes);
        rank.barrier()?;
        let root = key as usize % size;
        let mut data = if me as usize == root { own.clone() } else { vec![0; bytes] };
        rank.broadcast(root, &mut data)?;
        expect_contents("a broadcast of a context", of(root as u64), &data)?;
        let mut all = vec![0; bytes * size];
        rank.allgather(&own, &mut all)?;
        for (member, block) in all.chunks(bytes).enumerate() {
            expect_contents("an allgather of a context", of(member as u64), block)?;
        }
        let mut gathered = vec![0; if me as usize == root { bytes * size } else { 0 }];
        rank.gather(root, &own, &mut gathered)?;
        let mut block = vec![0; bytes];
        rank.scatter(root, &gathered, &mut block)?;
        expect("a block that was gathered and scattered", &own, &block)?;
        let mut turned = vec![0; bytes * size];
        rank.all_to_all(&all, &mut turned)?;
        for block in turned.chunks(bytes) {
            expect_contents("an all-to-all of a context", of(me), block)?;
        }
        let sum = Reduction::new(Element::U64, Operation::Sum);
        let mut expected = vec![0; bytes];
        for member in 0..size as u64 {
            sum.combine(&mut expected, &contents(of(member), bytes))?;
        }
        let mut found = vec![0; bytes];
        rank.allreduce(sum, &own, &mut found)?;
        expect("an allreduce of a context", &expected, &found)?;
        let mut found = vec![0; if me as usize == root { bytes } else { 0 }];
        rank.reduce(root, sum, &own, &mut found)?;
        if me as usize == root {
            expect("a reduce of a context", &expected, &found)?;
        }
    }
    Ok(())
}

/// The parts call different numbers of collectives, and then one of all ranks.
fn collectives_of_parts(machine: &mut dyn Rank) -> Result<()> {
    let colour = machine.rank() as u64 % 2;
    let context = machine.split(Some(colour as u32), 0)?;
    let context = context.ok_or_else(|| Error::Program("no context".into()))?;
    for round in 0..1 + 2 * colour {
        every_collective(&mut *machine.within(&context), mix(&[colour, round]) % 1000)?;
    }
    every_collective(machine, 5)
}

/// Messages of both contexts remain unreceived during collectives of one of them.
fn collectives_pass(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let context = copy_of_all(machine)?;
    let to = (rank + 1) % size;
    machine.send(to, TAG, &[1])?;
    machine.within(&context).send(to, TAG, &[2])?;
    every_collective(&mut *machine.within(&context), 77)?;
    let mut buffer = [0];
    machine.within(&context).receive(Source::Any, TagSelector::Any, &mut buffer)?;
    expect("the message of the context", [2], buffer)?;
    machine.receive(Source::Any, TagSelector::Any, &mut buffer)?;
    expect("the message of all", [1], buffer)
}

/// Splits a half again. The ranks are numbered backwards.
fn nested(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let outer = machine.split(Some((rank % 2) as u32), -(rank as i64))?;
    let outer = outer.ok_or_else(|| Error::Program("no context".into()))?;
    let inner = {
        let mut within = machine.within(&outer);
        let colour = (within.rank() % 2) as u32;
        within.split(Some(colour), 0)?.ok_or_else(|| Error::Program("no context".into()))?
    };
    let mut members: Vec<usize> = (0..size).filter(|other| other % 2 == rank % 2).collect();
    members.reverse();
    let place = members.iter().position(|&member| member == rank).unwrap_or_default();
    let members = members.into_iter().skip(place % 2).step_by(2).collect::<Vec<usize>>();
    expect_members(machine, &inner, &members)?;
    every_collective(&mut *machine.within(&inner), 3)?;
    machine.within(&outer).barrier()?;
    machine.within(&outer).close(inner)?;
    machine.close(outer)?;
    machine.barrier()
}

fn again_and_again(machine: &mut dyn Rank) -> Result<()> {
    let mut kept = Vec::new();
    let gather = |within: &mut dyn Rank| {
        let own = within.rank() as u8;
        let mut all = vec![0; within.size()];
        within.allgather(&[own], &mut all)?;
        let expected: Vec<u8> = (0..all.len()).map(|rank| rank as u8).collect();
        expect("the ranks of a context", expected, all)
    };
    for round in 0..12 {
        let context = copy_of_all(machine)?;
        gather(&mut *machine.within(&context))?;
        if round % 3 == 0 {
            kept.push(context);
        } else {
            machine.close(context)?;
        }
    }
    for context in &kept {
        gather(&mut *machine.within(context))?;
    }
    kept.into_iter().rev().try_for_each(|context| machine.close(context))
}

fn beyond_the_last(machine: &mut dyn Rank) -> Result<()> {
    let rank = machine.rank();
    let context = machine.split(Some(rank as u32), 0)?;
    let context = context.ok_or_else(|| Error::Program("no context".into()))?;
    let mut within = machine.within(&context);
    expect("the size of a context of one", 1, within.size())?;
    let refused = |error: &Error| *error == Error::InvalidRank { rank: 1, size: 1 };
    expect_error("a send beyond the context", within.send(1, TAG, &[]), refused)?;
    let received = within.receive(Source::Rank(1), TAG.into(), &mut []);
    expect_error("a receive from beyond the context", received, refused)?;
    expect_error("a root beyond the context", within.broadcast(1, &mut [0]), refused)
}

/// Creates so many contexts at once that truncated numbers would collide.
fn many_numbers(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let mut contexts = Vec::new();
    for _ in 0..24 {
        contexts.push(copy_of_all(machine)?);
    }
    let to = (rank + 1) % size;
    for (number, context) in contexts.iter().enumerate() {
        machine.within(context).send(to, TAG, &[number as u8])?;
    }
    for (number, context) in contexts.iter().enumerate().rev() {
        let mut found = [0];
        machine.within(context).receive(Source::Any, TagSelector::Any, &mut found)?;
        expect("the context of a message", number as u8, found[0])?;
    }
    contexts.into_iter().try_for_each(|context| machine.close(context))
}
