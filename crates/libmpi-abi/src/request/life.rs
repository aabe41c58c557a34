//! Starting, freeing and cancelling requests.

use std::ffi::c_int;
use std::rc::Rc;

use super::wait::wait_until;
use super::{Action, Light, RequestObject, ended, given};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::process::{endpoint, process};

pub(crate) unsafe fn start(request: *mut Request) -> Result {
    let object = given(*request)?;
    let start = object.start.as_ref();
    let start = start.ok_or_else(|| error_of(ERR_REQUEST, "not a persistent request"))?;
    ensure!(!object.is_active(), ERR_REQUEST, "the request is active already");
    let action = start()?;
    *object.action.borrow_mut() = Some(action);
    Ok(())
}

pub(crate) unsafe fn start_all(count: c_int, requests: *mut Request) -> Result {
    ensure!(count >= 0, ERR_COUNT, "{count} requests");
    (0..count as usize).try_for_each(|index| start(requests.add(index)))
}

pub(crate) unsafe fn free(request: *mut Request) -> Result {
    let object = given(*request)?;
    process().requests.borrow_mut().remove(*request);
    process().lights.take(*request);
    *request = REQUEST_NULL;
    if let Some(Action::Generalized(one)) = &*object.action.borrow()
        && one.complete.get()
    {
        return one.release();
    }
    if object.is_active() {
        process().orphans.borrow_mut().push(object);
    }
    settle_orphans()
}

fn settle_orphans() -> Result {
    let left = process().orphans.take();
    for object in left {
        if !ended(&object)? {
            process().orphans.borrow_mut().push(object);
        } else if let Some(Action::Light(light)) = &*object.action.borrow() {
            light.end(&mut *endpoint()?);
        } else {
            object.settle()?;
        }
    }
    Ok(())
}

/// Waits for requests that nobody waits for any more.
pub(crate) fn finish_orphans() -> Result {
    let objects = process().orphans.take();
    // Generalized ones end when the program says so, which it may never do.
    let own = |object: &&Rc<RequestObject>| {
        !matches!(&*object.action.borrow(), Some(Action::Generalized(_)))
    };
    wait_until(&mut |endpoint| objects.iter().filter(own).all(|object| object.has_ended(endpoint)))
}

pub(crate) unsafe fn cancel(request: *mut Request) -> Result {
    let object = given(*request)?;
    let mut action = object.action.borrow_mut();
    match &mut *action {
        None => Err(error_of(ERR_REQUEST, "an inactive request")),
        Some(Action::Light(Light::Receive(started))) => {
            if endpoint()?.cancel_receive(*started) {
                process().lights.cancel(*request);
            }
            Ok(())
        }
        Some(Action::Transfer(transfer)) => {
            if let Some(status) = transfer.cancel(&mut *endpoint()?) {
                *action = Some(Action::Done(status, Ok(())));
            }
            Ok(())
        }
        Some(Action::Generalized(one)) => one.cancel(),
        Some(Action::Collective(_)) => {
            Err(error_of(ERR_REQUEST, "a collective operation cannot be cancelled"))
        }
        Some(_) => Ok(()),
    }
}
