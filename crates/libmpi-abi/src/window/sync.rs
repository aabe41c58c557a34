//! Epochs: the synchronisation calls.

use std::ffi::c_int;

use mpi::{Lock, Promise};

use super::get;
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::group;

/// Returns a program's assertions, which must be among those of the call.
fn promise(assertion: c_int, permitted: c_int) -> Result<Promise> {
    ensure!(assertion & !permitted == 0, ERR_ASSERT, "assertion {assertion} in this call");
    let has = |one: c_int| assertion & one != 0;
    Ok(Promise { no_check: has(MODE_NOCHECK), no_succeed: has(MODE_NOSUCCEED) })
}

/// Returns a member, or `None` for MPI_PROC_NULL.
fn member(rank: c_int) -> Result<Option<usize>> {
    if rank == PROC_NULL {
        return Ok(None);
    }
    let found = usize::try_from(rank);
    found.map(Some).map_err(|_| error_of(ERR_RANK, format!("rank {rank}")))
}

pub(crate) unsafe fn fence(assertion: c_int, win: Win) -> Result {
    let permitted = MODE_NOSTORE | MODE_NOPUT | MODE_NOPRECEDE | MODE_NOSUCCEED;
    let window = get(win)?;
    window.fence(promise(assertion, permitted)?)
}

pub(crate) unsafe fn post(group: Group, assertion: c_int, win: Win) -> Result {
    let (window, group) = (get(win)?, group::get(group)?);
    window.post(&group, promise(assertion, MODE_NOCHECK | MODE_NOSTORE | MODE_NOPUT)?)
}

pub(crate) unsafe fn start(group: Group, assertion: c_int, win: Win) -> Result {
    let (window, group) = (get(win)?, group::get(group)?);
    window.start(&group, promise(assertion, MODE_NOCHECK)?)
}

pub(crate) unsafe fn complete(win: Win) -> Result {
    get(win)?.complete()
}

pub(crate) unsafe fn wait(win: Win) -> Result {
    get(win)?.wait()
}

pub(crate) unsafe fn test(win: Win, flag: *mut c_int) -> Result {
    *flag = c_int::from(get(win)?.test()?);
    Ok(())
}

pub(crate) unsafe fn lock(kind: c_int, rank: c_int, assertion: c_int, win: Win) -> Result {
    let window = get(win)?;
    let kind = match kind {
        LOCK_SHARED => Lock::Shared,
        LOCK_EXCLUSIVE => Lock::Exclusive,
        other => return Err(error_of(ERR_LOCKTYPE, format!("lock type {other}"))),
    };
    let promise = promise(assertion, MODE_NOCHECK)?;
    member(rank)?.map_or(Ok(()), |rank| window.lock(kind, rank, promise))
}

pub(crate) unsafe fn unlock(rank: c_int, win: Win) -> Result {
    let window = get(win)?;
    member(rank)?.map_or(Ok(()), |rank| window.unlock(rank))
}

pub(crate) unsafe fn lock_all(assertion: c_int, win: Win) -> Result {
    get(win)?.lock_all(promise(assertion, MODE_NOCHECK)?)
}

pub(crate) unsafe fn unlock_all(win: Win) -> Result {
    get(win)?.unlock_all()
}

/// Flushes operations on a member. All operations are complete at the origin as soon as they are at the target, so the
/// two kinds of flush are the same.
pub(crate) unsafe fn flush(rank: c_int, win: Win) -> Result {
    if let Some(outcome) = super::quick::flush(rank, win) {
        return outcome;
    }
    let window = get(win)?;
    member(rank)?.map_or(Ok(()), |rank| window.flush(Some(rank)))
}

pub(crate) unsafe fn flush_all(win: Win) -> Result {
    get(win)?.flush(None)
}

pub(crate) unsafe fn sync(win: Win) -> Result {
    get(win)?.sync();
    Ok(())
}
