//! Put, get and accumulate operations.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Memory, Place, Predefined};

use super::{Window, get, quick};
use crate::abi::*;
use crate::arguments::{Data, Target};
use crate::datatype;
use crate::failure::{Result, ensure, error_of};
use crate::operation;
use crate::request::{self, How};

/// The target of an operation: elements of a member, unless it is the null process.
struct Found {
    window: Rc<Window>,
    place: Option<Place>,
}

fn find(Target { rank, displacement, count, of }: Target, win: Win) -> Result<Found> {
    let (window, of) = (get(win)?, datatype::get(of)?);
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    if rank == PROC_NULL {
        return Ok(Found { window, place: None });
    }
    let exists = (0..window.size() as c_int).contains(&rank);
    ensure!(exists, ERR_RANK, "rank {rank} of a window of {}", window.size());
    let place = Place { rank: rank as usize, displacement, count, of };
    Ok(Found { window, place: Some(place) })
}

unsafe fn memory(data: Data) -> Result<Memory> {
    datatype::memory(data.start, data.count, data.of)
}

/// Returns the predefined operation of a handle.
fn predefined(op: Op) -> Result<Predefined> {
    let found = operation::predefined(op);
    found.ok_or_else(|| error_of(ERR_OP, "not an operation that MPI defines"))
}

/// Stores the request of an operation, if it has one.
unsafe fn give(how: How, request: mpi::Request<crate::chosen::Chosen>) {
    if let How::Nonblocking(place) | How::Persistent(place) = how {
        *place = request::register(request);
    }
}

#[inline]
pub(crate) unsafe fn put(origin: Data, target: Target, win: Win, how: How) -> Result {
    if matches!(how, How::Blocking) && quick::put(origin, target, win) {
        return Ok(());
    }
    let Found { window, place } = find(target, win)?;
    let origin = memory(origin)?;
    if let Some(place) = place {
        window.put(&origin, &place)?;
    }
    give(how, window.done());
    Ok(())
}

#[inline]
pub(crate) unsafe fn get_data(origin: Data, target: Target, win: Win, how: How) -> Result {
    if matches!(how, How::Blocking) && quick::get(origin, target, win) {
        return Ok(());
    }
    let Found { window, place } = find(target, win)?;
    let origin = memory(origin)?;
    let Some(place) = place else {
        give(how, window.done());
        return Ok(());
    };
    match how {
        How::Blocking => window.get(&origin, &place)?,
        _ => give(how, window.request_get(&origin, &place)?),
    }
    Ok(())
}

pub(crate) unsafe fn accumulate(
    origin: Data,
    target: Target,
    op: Op,
    win: Win,
    how: How,
) -> Result {
    let is_quick = matches!(how, How::Blocking)
        && (origin.count, origin.of) == (target.count, target.of)
        && quick::accumulate(origin.start, None, target, op, win);
    if is_quick {
        return Ok(());
    }
    let Found { window, place } = find(target, win)?;
    let operation = predefined(op)?;
    ensure!(op != NO_OP, ERR_OP, "MPI_NO_OP in an operation that fetches nothing");
    let origin = memory(origin)?;
    if let Some(place) = place {
        window.accumulate(operation, &origin, &place)?;
    }
    give(how, window.done());
    Ok(())
}

pub(crate) unsafe fn get_accumulate(
    origin: Data,
    result: Data,
    target: Target,
    op: Op,
    win: Win,
    how: How,
) -> Result {
    let Found { window, place } = find(target, win)?;
    let operation = predefined(op)?;
    let result = memory(result)?;
    // MPI_NO_OP reads no operand, so that argument may be anything.
    let origin = if op == NO_OP { result.clone() } else { memory(origin)? };
    let Some(place) = place else {
        give(how, window.done());
        return Ok(());
    };
    match how {
        How::Blocking => window.get_accumulate(operation, &origin, &result, &place)?,
        _ => give(how, window.request_get_accumulate(operation, &origin, &result, &place)?),
    }
    Ok(())
}

pub(crate) unsafe fn fetch_and_op(
    origin: *const c_void,
    result: *mut c_void,
    of: Datatype,
    rank: c_int,
    displacement: i64,
    op: Op,
    win: Win,
) -> Result {
    let target = Target::new(rank, displacement, 1, of);
    if quick::accumulate(origin, Some(result), target, op, win) {
        return Ok(());
    }
    let one = |start| Data::new(start, 1, of);
    get_accumulate(one(origin), one(result), target, op, win, How::Blocking)
}

pub(crate) unsafe fn compare_and_swap(
    new: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    of: Datatype,
    rank: c_int,
    displacement: i64,
    win: Win,
) -> Result {
    let target = Target::new(rank, displacement, 1, of);
    if quick::compare_and_swap((new, compare, result), target, win) {
        return Ok(());
    }
    let Found { window, place } = find(target, win)?;
    let memory = |start| datatype::memory(start, 1, of);
    let (new, compare, result) = (memory(new)?, memory(compare)?, memory(result)?);
    place.map_or(Ok(()), |place| window.compare_and_swap(&new, &compare, &result, &place))
}
