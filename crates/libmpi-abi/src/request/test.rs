//! Tests of requests: the calls that also end them, and the calls that only query them.

use std::ffi::c_int;

use super::find;
use super::list::{Objects, write_indices};
use crate::abi::*;
use crate::failure::Result;
use crate::process::engine;
use crate::status::Status;

pub(crate) unsafe fn test(request: *mut Request, flag: *mut c_int, status: *mut Status) -> Result {
    let Some(object) = find(*request)? else {
        *flag = 1;
        Status::give_empty(status);
        return Ok(());
    };
    *flag = c_int::from(object.request.test()?);
    if *flag == 0 {
        return Ok(());
    }
    let (found, outcome) = object.take(&mut *request)?;
    found.give(status);
    outcome
}

pub(crate) unsafe fn get_status(request: Request, flag: *mut c_int, status: *mut Status) -> Result {
    let Some(object) = find(request)? else {
        *flag = 1;
        Status::give_empty(status);
        return Ok(());
    };
    *flag = c_int::from(object.request.test()?);
    if *flag != 0 {
        let (found, outcome) = object.outcome()?;
        found.give(status);
        outcome?;
    }
    Ok(())
}

pub(crate) unsafe fn test_all(
    count: c_int,
    requests: *mut Request,
    flag: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    *flag = c_int::from(mpi::have_all_ended(engine()?, objects.places())?);
    if *flag == 0 { Ok(()) } else { objects.take_all(requests, statuses) }
}

/// Implements MPI_Request_get_status_all.
pub(crate) unsafe fn get_status_all(
    count: c_int,
    requests: *const Request,
    flag: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    *flag = c_int::from(mpi::have_all_ended(engine()?, objects.places())?);
    if *flag != 0 && !statuses.is_null() {
        for index in 0..objects.places().len() {
            *statuses.add(index) = objects.status_of(index)?;
        }
    }
    Ok(())
}

/// Stores the first request that has ended, if there is one to end or to query.
unsafe fn first_of(
    objects: &Objects,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> Result<Option<usize>> {
    (*index, *flag) = (UNDEFINED, 1);
    let Some(found) = mpi::which_have_ended(engine()?, objects.places())? else {
        Status::give_empty(status);
        return Ok(None);
    };
    match found.first() {
        Some(&first) => *index = first as c_int,
        None => *flag = 0,
    }
    Ok(found.first().copied())
}

pub(crate) unsafe fn test_any(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    match first_of(&objects, index, flag, status)? {
        Some(first) => objects.take_one(first, requests, status),
        None => Ok(()),
    }
}

/// Implements MPI_Request_get_status_any.
pub(crate) unsafe fn get_status_any(
    count: c_int,
    requests: *const Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    if let Some(first) = first_of(&objects, index, flag, status)? {
        objects.status_of(first)?.give(status);
    }
    Ok(())
}

/// Implements MPI_Request_get_status_some.
pub(crate) unsafe fn get_status_some(
    count: c_int,
    requests: *const Request,
    taken: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    let Some(found) = mpi::which_have_ended(engine()?, objects.places())? else {
        *taken = UNDEFINED;
        return Ok(());
    };
    write_indices(&found, taken, indices);
    if !statuses.is_null() {
        for (place, &index) in found.iter().enumerate() {
            *statuses.add(place) = objects.status_of(index)?;
        }
    }
    Ok(())
}
