//! Allgather and all-to-all, in all their variants: every rank has a block for every rank.

use std::ffi::c_void;

use super::spread::{Blocks, check_none_overlaps, equal, unequal, unless_in_place};
use super::{
    Call, How, Kind, Schedule, check_apart, check_both_apart, copy, is_in_place, native, run,
};
use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::communicator::{self, Communicator};
use crate::datatype::Memory;
use crate::failure::{Result, error_of};

/// Everything in one round: `out[r]` goes to rank r, `into[r]` comes from it.
unsafe fn exchange(
    communicator: &Communicator,
    how: How,
    kind: Kind,
    out: Out,
    into: Blocks,
) -> Result {
    out.check_apart(&into)?;
    run(communicator, how, Call::of(kind), move |party| {
        let mut schedule = Schedule::new(party);
        let rank = schedule.rank();
        let places = schedule.incoming_from_others(&into);
        let mut from = Vec::new();
        match &out {
            Out::Blocks(blocks) => {
                copy(&blocks[rank], &into[rank]);
                from.extend(blocks.iter().map(|one| (schedule.outgoing(one), one.bytes())));
            }
            Out::Same(block) => {
                copy(block, &into[rank]);
                let place = schedule.outgoing(block);
                from.extend(into.iter().map(|_| (place, block.bytes())));
            }
            // What arrives would take the place of what is still to go.
            Out::InPlace => {
                for block in &into {
                    let place = schedule.temporary(block.bytes());
                    block.pack(place);
                    from.push((place.cast_const(), block.bytes()));
                }
            }
        }
        let size = schedule.size();
        let round = schedule.round();
        // Each begins with its neighbour, so that not all send to the same rank at once.
        for distance in 1..size {
            let (source, to) = ((rank + size - distance) % size, (rank + distance) % size);
            round.receive(source, places[source], into[source].bytes());
            round.send(to, from[to].0, from[to].1);
        }
        Ok(schedule)
    })
}

/// What a rank sends.
enum Out {
    Blocks(Blocks),
    /// The same to all.
    Same(Memory),
    /// What it receives takes the place of.
    InPlace,
}

impl Out {
    /// Of several blocks each is compared with the one that comes from the same rank.
    fn check_apart(&self, into: &Blocks) -> Result {
        match self {
            Out::Blocks(blocks) => blocks.iter().zip(into).try_for_each(|(a, b)| check_apart(a, b)),
            Out::Same(_) | Out::InPlace => Ok(()),
        }
    }
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn allgather(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    buffer: *mut c_void,
    each: i64,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    if let How::Blocking = how {
        let mine = unless_in_place(from, count, datatype)?;
        let all = Memory::new(buffer, each.saturating_mul(communicator.size() as i64), into)?;
        check_both_apart(mine.as_ref(), Some(&all))?;
        if let Some(outcome) = native::allgather(&communicator, mine.as_ref(), &all) {
            return outcome;
        }
    }
    let blocks = equal(buffer, each, into, communicator.size())?;
    allgather_blocks(&communicator, from, count, datatype, blocks, how, Kind::Allgather)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn allgather_unequal(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    buffer: *mut c_void,
    counts: IntOrCount,
    places: IntOrCount,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let blocks = unequal(buffer, counts, places, into, communicator.size())?;
    allgather_blocks(&communicator, from, count, datatype, blocks, how, Kind::AllgatherUnequal)
}

unsafe fn allgather_blocks(
    communicator: &Communicator,
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    blocks: Blocks,
    how: How,
    kind: Kind,
) -> Result {
    let mine = match is_in_place(from) {
        true => blocks[communicator.rank].clone(),
        false => Memory::new(from, count, datatype)?,
    };
    if !is_in_place(from) {
        check_none_overlaps(Some(&mine), &blocks)?;
    }
    exchange(communicator, how, kind, Out::Same(mine), blocks)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn all_to_all(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    buffer: *mut c_void,
    each: i64,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let size = communicator.size();
    if let How::Blocking = how {
        let from = unless_in_place(from, count.saturating_mul(size as i64), datatype)?;
        let to = Memory::new(buffer, each.saturating_mul(size as i64), into)?;
        check_both_apart(from.as_ref(), Some(&to))?;
        if let Some(outcome) = native::all_to_all(&communicator, from.as_ref(), &to) {
            return outcome;
        }
    }
    let blocks = equal(buffer, each, into, size)?;
    let out = match is_in_place(from) {
        true => Out::InPlace,
        false => Out::Blocks(equal(from, count, datatype, size)?),
    };
    exchange(&communicator, how, Kind::AllToAll, out, blocks)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn all_to_all_unequal(
    from: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    datatype: Datatype,
    buffer: *mut c_void,
    receive_counts: IntOrCount,
    receive_places: IntOrCount,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let size = communicator.size();
    let blocks = unequal(buffer, receive_counts, receive_places, into, size)?;
    let out = match is_in_place(from) {
        true => Out::InPlace,
        false => Out::Blocks(unequal(from, counts, places, datatype, size)?),
    };
    exchange(&communicator, how, Kind::AllToAllUnequal, out, blocks)
}

/// Blocks of counts, places in bytes, and types of their own.
unsafe fn of_types(
    buffer: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    types: *const Datatype,
    blocks: usize,
) -> Result<Blocks> {
    if blocks > 0 && (counts.is_null() || places.is_null() || types.is_null()) {
        return Err(error_of(ERR_ARG, "an array of counts, places or types is a null pointer"));
    }
    let (counts, places) = (counts.read(blocks), places.read(blocks));
    let one = |index: usize| {
        let start = buffer.wrapping_byte_offset(places[index] as isize);
        Memory::new(start, counts[index], *types.add(index))
    };
    (0..blocks).map(one).collect()
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn all_to_all_types(
    from: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    types: *const Datatype,
    buffer: *mut c_void,
    receive_counts: IntOrCount,
    receive_places: IntOrCount,
    receive_types: *const Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let communicator = communicator::get(comm)?;
    let size = communicator.size();
    let blocks = of_types(buffer, receive_counts, receive_places, receive_types, size)?;
    let out = match is_in_place(from) {
        true => Out::InPlace,
        false => Out::Blocks(of_types(from, counts, places, types, size)?),
    };
    exchange(&communicator, how, Kind::AllToAllTypes, out, blocks)
}
