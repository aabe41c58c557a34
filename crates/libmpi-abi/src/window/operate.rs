//! Putting, getting and accumulating.

use std::ffi::{c_int, c_void};

use mpi::{Memory, Place, Predefined};

use super::{Window, get, quick};
use crate::abi::*;
use crate::datatype;
use crate::failure::{Result, ensure, error_of};
use crate::operation;
use crate::request::{self, How};
use std::rc::Rc;

/// What an operation is on: elements of a member, unless there is no such process.
struct Target {
    window: Rc<Window>,
    place: Option<Place>,
}

fn target(
    (rank, displacement): (c_int, i64),
    (count, of): (i64, Datatype),
    win: Win,
) -> Result<Target> {
    let (window, of) = (get(win)?, datatype::get(of)?);
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    if rank == PROC_NULL {
        return Ok(Target { window, place: None });
    }
    let exists = (0..window.size() as c_int).contains(&rank);
    ensure!(exists, ERR_RANK, "rank {rank} of a window of {}", window.size());
    let place = Place { rank: rank as usize, displacement, count, of };
    Ok(Target { window, place: Some(place) })
}

/// The operation behind a handle, which must be one of MPI's.
fn known(op: Op) -> Result<Predefined> {
    let found = operation::predefined(op);
    found.ok_or_else(|| error_of(ERR_OP, "not an operation that MPI defines"))
}

/// Gives the request of an operation, if it has one.
unsafe fn give(how: How, request: mpi::Request<crate::chosen::Chosen>) {
    if let How::Nonblocking(place) | How::Persistent(place) = how {
        *place = request::register(request);
    }
}

#[allow(clippy::too_many_arguments)] // The standard's.
#[inline]
pub(crate) unsafe fn put(
    origin: *const c_void,
    count: i64,
    of: Datatype,
    rank: c_int,
    displacement: i64,
    target_count: i64,
    target_of: Datatype,
    win: Win,
    how: How,
) -> Result {
    let is_quick = matches!(how, How::Blocking)
        && quick::put((origin, count, of), (rank, displacement), (target_count, target_of), win);
    if is_quick {
        return Ok(());
    }
    let Target { window, place } = target((rank, displacement), (target_count, target_of), win)?;
    let origin = datatype::memory(origin, count, of)?;
    if let Some(place) = place {
        window.put(&origin, &place)?;
    }
    give(how, window.done());
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
#[inline]
pub(crate) unsafe fn get_data(
    origin: *mut c_void,
    count: i64,
    of: Datatype,
    rank: c_int,
    displacement: i64,
    target_count: i64,
    target_of: Datatype,
    win: Win,
    how: How,
) -> Result {
    let is_quick = matches!(how, How::Blocking)
        && quick::get((origin, count, of), (rank, displacement), (target_count, target_of), win);
    if is_quick {
        return Ok(());
    }
    let Target { window, place } = target((rank, displacement), (target_count, target_of), win)?;
    let origin = datatype::memory(origin, count, of)?;
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

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn accumulate(
    origin: *const c_void,
    count: i64,
    of: Datatype,
    rank: c_int,
    displacement: i64,
    target_count: i64,
    target_of: Datatype,
    op: Op,
    win: Win,
    how: How,
) -> Result {
    let is_quick = matches!(how, How::Blocking)
        && (count, of) == (target_count, target_of)
        && quick::accumulate((origin, None), (count, of), (rank, displacement), op, win);
    if is_quick {
        return Ok(());
    }
    let Target { window, place } = target((rank, displacement), (target_count, target_of), win)?;
    let known = known(op)?;
    ensure!(op != NO_OP, ERR_OP, "MPI_NO_OP in an operation that fetches nothing");
    let origin = datatype::memory(origin, count, of)?;
    if let Some(place) = place {
        window.accumulate(known, &origin, &place)?;
    }
    give(how, window.done());
    Ok(())
}

/// An operation that fetches.
unsafe fn fetch(
    (origin, result): (&Memory, &Memory),
    op: Predefined,
    Target { window, place }: &Target,
    how: How,
) -> Result {
    let Some(place) = place else {
        give(how, window.done());
        return Ok(());
    };
    match how {
        How::Blocking => window.get_accumulate(op, origin, result, place)?,
        _ => give(how, window.request_get_accumulate(op, origin, result, place)?),
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn get_accumulate(
    origin: *const c_void,
    count: i64,
    of: Datatype,
    result: *mut c_void,
    result_count: i64,
    result_of: Datatype,
    rank: c_int,
    displacement: i64,
    target_count: i64,
    target_of: Datatype,
    op: Op,
    win: Win,
    how: How,
) -> Result {
    let there = target((rank, displacement), (target_count, target_of), win)?;
    let known = known(op)?;
    let result = datatype::memory(result, result_count, result_of)?;
    // Nothing is read of what goes with MPI_NO_OP, which may be anything.
    let origin = match op {
        NO_OP => result.clone(),
        _ => datatype::memory(origin, count, of)?,
    };
    fetch((&origin, &result), known, &there, how)
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
    if quick::accumulate((origin, Some(result)), (1, of), (rank, displacement), op, win) {
        return Ok(());
    }
    let there = target((rank, displacement), (1, of), win)?;
    let known = known(op)?;
    let result = datatype::memory(result, 1, of)?;
    let origin = match op {
        NO_OP => result.clone(),
        _ => datatype::memory(origin, 1, of)?,
    };
    fetch((&origin, &result), known, &there, How::Blocking)
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
    if quick::compare_and_swap((new, compare, result), of, (rank, displacement), win) {
        return Ok(());
    }
    let Target { window, place } = target((rank, displacement), (1, of), win)?;
    let memory = |start| datatype::memory(start, 1, of);
    let (new, compare, result) = (memory(new)?, memory(compare)?, memory(result)?);
    place.map_or(Ok(()), |place| window.compare_and_swap(&new, &compare, &result, &place))
}
