//! Waiting for requests to end.

use std::ffi::c_int;

use contract::Request as Started;
use fabric_shm::ShmEndpoint as Endpoint;

use super::list::Objects;
use super::{RequestObject, find, light};
use crate::abi::*;
use crate::failure::Result;
use crate::process::{endpoint, process};
use crate::status::Status;

/// Runs everything that is under way until `done` says so.
pub(crate) fn wait_until(done: &mut dyn FnMut(&mut Endpoint) -> bool) -> Result {
    wait_for(done, &|_| None)
}

/// The same, and fails once `hopeless` names a message without which there is no end, and that a rank which has left will
/// never send or take.
pub(crate) fn wait_for(
    done: &mut dyn FnMut(&mut Endpoint) -> bool,
    hopeless: &dyn Fn(&Endpoint) -> Option<Started>,
) -> Result {
    let mut endpoint = endpoint()?;
    let mut lost = None;
    endpoint.wait_until(&mut |endpoint| {
        process().schedules.advance(endpoint);
        if done(endpoint) {
            return true;
        }
        if endpoint.any_has_left() {
            // What it sent before may have arrived since the last look. A failure of this look shows in the next.
            let looked = endpoint.progress();
            lost = hopeless(endpoint).filter(|_| looked.is_ok() && !done(endpoint));
        }
        lost.is_some()
    })?;
    match lost {
        Some(request) => Err(endpoint.give_up_on(request).into()),
        None => Ok(()),
    }
}

/// One look at everything that is under way.
pub(crate) fn progress() -> Result {
    let mut endpoint = endpoint()?;
    endpoint.progress()?;
    process().schedules.advance(&mut endpoint);
    Ok(())
}

pub(crate) unsafe fn wait(request: *mut Request, status: *mut Status) -> Result {
    if let Some(outcome) = light::wait(request, status) {
        return outcome;
    }
    let Some(object) = find(*request)? else {
        Status::give_empty(status);
        return Ok(());
    };
    wait_for(&mut |endpoint| object.has_ended(endpoint), &|endpoint| object.hopeless(endpoint))?;
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
    wait_for(&mut |endpoint| objects.all_ended(endpoint), &|endpoint| {
        objects.present().find_map(|object| object.hopeless(endpoint))
    })?;
    objects.take_all(requests, statuses)
}

/// Waits until some of them have ended, and says which.
fn wait_for_some(objects: &Objects) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let hopeless = |endpoint: &Endpoint| {
        let of = |object: &std::rc::Rc<RequestObject>| object.hopeless(endpoint);
        let all = objects.active().map(of).collect::<Option<Vec<_>>>()?;
        all.first().copied()
    };
    let done = &mut |endpoint: &mut Endpoint| {
        found = objects.which_ended(endpoint);
        !found.is_empty()
    };
    wait_for(done, &hopeless)?;
    Ok(found)
}

pub(crate) unsafe fn wait_any(
    count: c_int,
    requests: *mut Request,
    index: *mut c_int,
    status: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    *index = UNDEFINED;
    if !objects.any_active() {
        Status::give_empty(status);
        return Ok(());
    }
    let first = wait_for_some(&objects)?[0];
    *index = first as c_int;
    objects.take_one(first, requests, status)
}

pub(crate) unsafe fn wait_some(
    count: c_int,
    requests: *mut Request,
    taken: *mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Result {
    let objects = Objects::new(count, requests)?;
    if !objects.any_active() {
        *taken = UNDEFINED;
        return Ok(());
    }
    let found = wait_for_some(&objects)?;
    objects.take_some(found, requests, taken, indices, statuses)
}
