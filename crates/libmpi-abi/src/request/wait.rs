//! Waits for requests.

use std::ffi::c_int;

use super::list::{Objects, write_indices};
use super::{find, light};
use crate::abi::*;
use crate::failure::Result;
use crate::process::engine;
use crate::status::Status;

pub(crate) unsafe fn wait(request: *mut Request, status: *mut Status) -> Result {
    if let Some(outcome) = light::wait(request, status) {
        return outcome;
    }
    let Some(object) = find(*request)? else {
        Status::give_empty(status);
        return Ok(());
    };
    object.request.wait_for_end()?;
    let (found, outcome) = object.take(&mut *request)?;
    found.give(status);
    outcome
}

pub(crate) unsafe fn wait_all(
    count: c_int,
    requests: *mut Request,
    statuses: *mut Status,
) -> Result {
    if let Some(outcome) = light::wait_all(count, requests, statuses) {
        return outcome;
    }
    let objects = Objects::new(count, requests)?;
    mpi::wait_for_all(engine()?, objects.places())?;
    objects.take_all(requests, statuses)
}

pub(crate) unsafe fn wait_any(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    *index = UNDEFINED;
    let Some(found) = mpi::wait_for_some(engine()?, objects.places())? else {
        Status::give_empty(status);
        return Ok(());
    };
    *index = found[0] as c_int;
    objects.take_one(found[0], requests, status)
}

/// Behaviour of a call on several requests while none has ended.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    Waits,
    Returns,
}

/// Implements MPI_Waitsome and MPI_Testsome.
pub(crate) unsafe fn take_some(
    count: c_int,
    requests: *mut Request,
    taken: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
    manner: Manner,
) -> Result {
    let objects = Objects::new(count, requests)?;
    let found = match manner {
        Manner::Waits => mpi::wait_for_some(engine()?, objects.places())?,
        Manner::Returns => mpi::which_have_ended(engine()?, objects.places())?,
    };
    let Some(found) = found else {
        *taken = UNDEFINED;
        return Ok(());
    };
    write_indices(&found, taken, indices);
    objects.take_each(found.into_iter(), requests, statuses)
}
