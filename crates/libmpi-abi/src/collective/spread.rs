//! Barrier, broadcast, gather and scatter.

use std::ffi::{c_int, c_void};

use super::{
    Call, How, Kind, Party, Schedule, check_apart, check_both_apart, copy, is_in_place, native, run,
};
use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::communicator;
use crate::datatype::Memory;
use crate::failure::Result;

/// Dissemination: after round k each rank has heard, over others, from the 2^k ranks before it (Hensgen, Finkel and Manber,
/// 1988).
pub(crate) unsafe fn barrier(comm: Comm, how: How) -> Result {
    let communicator = communicator::get(comm)?;
    if let How::Blocking = how
        && let Some(outcome) = native::barrier(&communicator)
    {
        return outcome;
    }
    run(&communicator, how, Call::of(Kind::Barrier), |party| {
        let mut schedule = Schedule::new(party);
        let (rank, size) = (schedule.rank(), schedule.size());
        let nothing = schedule.temporary(1);
        let mut distance = 1;
        while distance < size {
            let round = schedule.round();
            round.send((rank + distance) % size, nothing, 0);
            round.receive((rank + size - distance) % size, nothing, 0);
            distance *= 2;
        }
        Ok(schedule)
    })
}

/// A binomial tree: the rounds of a broadcast of `bytes` bytes at `place`.
pub(super) unsafe fn broadcast_rounds(
    schedule: &mut Schedule,
    root: usize,
    place: *mut u8,
    bytes: usize,
) {
    let (rank, size) = (schedule.rank(), schedule.size());
    let relative = (rank + size - root) % size;
    let mut bit = 1;
    while bit < size && relative & bit == 0 {
        bit *= 2;
    }
    if relative != 0 {
        schedule.round().receive((relative - bit + root) % size, place, bytes);
    }
    let round = schedule.round();
    while bit > 1 {
        bit /= 2;
        if relative + bit < size {
            round.send((relative + bit + root) % size, place, bytes);
        }
    }
}

pub(crate) unsafe fn broadcast(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let root = communicator.root(root)?;
    let memory = Memory::new(buffer, count, datatype)?;
    if let How::Blocking = how
        && let Some(outcome) = native::broadcast(&communicator, root, &memory)
    {
        return outcome;
    }
    run(&communicator, how, Call::rooted(Kind::Broadcast, root), move |party| {
        let is_root = party.rank == root;
        let mut schedule = Schedule::new(party);
        let place = match is_root {
            true => schedule.outgoing(&memory).cast_mut(),
            false => schedule.incoming(&memory),
        };
        broadcast_rounds(&mut schedule, root, place, memory.bytes());
        Ok(schedule)
    })
}

/// What every rank has for every other, or for the root: one block each.
pub(super) type Blocks = Vec<Memory>;

/// Blocks of equal counts.
pub(super) fn equal(
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    blocks: usize,
) -> Result<Blocks> {
    let first = Memory::new(buffer, count, datatype)?;
    Ok((0..blocks as i64)
        .map(|index| Memory { count, ..first.part(index * count, count) })
        .collect())
}

/// Blocks of equal counts as one memory, at the root.
fn whole(
    is_root: bool,
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    blocks: usize,
) -> Result<Option<Memory>> {
    let all = || Memory::new(buffer, count.saturating_mul(blocks as i64), datatype);
    if is_root { all().map(Some) } else { Ok(None) }
}

/// Blocks of counts and places, in elements.
pub(super) unsafe fn unequal(
    buffer: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    datatype: Datatype,
    blocks: usize,
) -> Result<Blocks> {
    let (counts, places) = (counts.read(blocks), places.read(blocks));
    let one = |(count, place): (i64, i64)| {
        Memory::new(buffer, count, datatype).map(|first| first.part(place, count))
    };
    counts.into_iter().zip(places).map(one).collect()
}

/// The root takes a block from every rank.
unsafe fn gather_schedule(
    party: Party,
    root: usize,
    mine: Option<&Memory>,
    blocks: &Blocks,
) -> Schedule {
    let mut schedule = Schedule::new(party);
    let rank = schedule.rank();
    if rank != root {
        if let Some(mine) = mine {
            let from = schedule.outgoing(mine);
            schedule.round().send(root, from, mine.bytes());
        }
        return schedule;
    }
    if let Some(mine) = mine {
        copy(mine, &blocks[rank]);
    }
    let places = schedule.incoming_from_others(blocks);
    let round = schedule.round();
    for (other, place) in places.into_iter().enumerate().filter(|(other, _)| *other != rank) {
        round.receive(other, place, blocks[other].bytes());
    }
    schedule
}

/// The root gives a block to every rank.
unsafe fn scatter_schedule(
    party: Party,
    root: usize,
    blocks: &Blocks,
    mine: Option<&Memory>,
) -> Schedule {
    let mut schedule = Schedule::new(party);
    let rank = schedule.rank();
    if rank != root {
        if let Some(mine) = mine {
            let place = schedule.incoming(mine);
            schedule.round().receive(root, place, mine.bytes());
        }
        return schedule;
    }
    if let Some(mine) = mine {
        copy(&blocks[rank], mine);
    }
    let places: Vec<_> = blocks.iter().map(|block| schedule.outgoing(block)).collect();
    let round = schedule.round();
    for (other, place) in places.into_iter().enumerate().filter(|(other, _)| *other != rank) {
        round.send(other, place, blocks[other].bytes());
    }
    schedule
}

/// A rank's own block and the root's blocks are apart.
pub(super) fn check_none_overlaps(own: Option<&Memory>, blocks: &Blocks) -> Result {
    match own {
        Some(own) => blocks.iter().try_for_each(|block| check_apart(own, block)),
        None => Ok(()),
    }
}

/// A buffer that is not looked at if it is MPI_IN_PLACE.
pub(super) fn unless_in_place(
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
) -> Result<Option<Memory>> {
    if is_in_place(buffer) { Ok(None) } else { Memory::new(buffer, count, datatype).map(Some) }
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn gather(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    buffer: *mut c_void,
    each: i64,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let root = communicator.root(root)?;
    let is_root = communicator.rank == root;
    let mine = unless_in_place(from, count, datatype)?;
    let all = whole(is_root, buffer, each, into, communicator.size())?;
    check_both_apart(mine.as_ref(), all.as_ref())?;
    if let How::Blocking = how
        && let Some(outcome) = native::gather(&communicator, root, mine.as_ref(), all.as_ref())
    {
        return outcome;
    }
    let blocks = if is_root { equal(buffer, each, into, communicator.size())? } else { vec![] };
    let call = Call::rooted(Kind::Gather, root);
    run(&communicator, how, call, move |party| {
        Ok(gather_schedule(party, root, mine.as_ref(), &blocks))
    })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn gather_unequal(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    buffer: *mut c_void,
    counts: IntOrCount,
    places: IntOrCount,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let root = communicator.root(root)?;
    let is_root = communicator.rank == root;
    let size = communicator.size();
    let blocks = if is_root { unequal(buffer, counts, places, into, size)? } else { vec![] };
    let mine = unless_in_place(from, count, datatype)?;
    check_none_overlaps(mine.as_ref(), &blocks)?;
    let call = Call::rooted(Kind::GatherUnequal, root);
    run(&communicator, how, call, move |party| {
        Ok(gather_schedule(party, root, mine.as_ref(), &blocks))
    })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn scatter(
    from: *const c_void,
    each: i64,
    datatype: Datatype,
    buffer: *mut c_void,
    count: i64,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let root = communicator.root(root)?;
    let is_root = communicator.rank == root;
    let mine = unless_in_place(buffer, count, into)?;
    let all = whole(is_root, from, each, datatype, communicator.size())?;
    check_both_apart(all.as_ref(), mine.as_ref())?;
    if let How::Blocking = how
        && let Some(outcome) = native::scatter(&communicator, root, all.as_ref(), mine.as_ref())
    {
        return outcome;
    }
    let blocks = if is_root { equal(from, each, datatype, communicator.size())? } else { vec![] };
    let call = Call::rooted(Kind::Scatter, root);
    run(&communicator, how, call, move |party| {
        Ok(scatter_schedule(party, root, &blocks, mine.as_ref()))
    })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn scatter_unequal(
    from: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    datatype: Datatype,
    buffer: *mut c_void,
    count: i64,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let root = communicator.root(root)?;
    let is_root = communicator.rank == root;
    let size = communicator.size();
    let blocks = if is_root { unequal(from, counts, places, datatype, size)? } else { vec![] };
    let mine = unless_in_place(buffer, count, into)?;
    check_none_overlaps(mine.as_ref(), &blocks)?;
    let call = Call::rooted(Kind::ScatterUnequal, root);
    run(&communicator, how, call, move |party| {
        Ok(scatter_schedule(party, root, &blocks, mine.as_ref()))
    })
}
