//! Requests: their handles, and the modes in which a call completes.

mod generalized;
mod life;
mod light;
mod list;
mod test;
mod wait;

use std::cell::RefCell;
use std::rc::Rc;

use call_stack::CallSite;
use mpi::{Partitioned, RequestPlace};

pub(crate) use generalized::{generalized_complete, generalized_start};
pub(crate) use life::{cancel, free, start, start_all};
pub(crate) use light::LIGHT_REQUESTS;
pub(crate) use test::*;
pub(crate) use wait::*;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Result, error_of};
use crate::handle::Table;
use crate::process::engine;
use crate::shared::Shared;
use crate::status::Status;
use generalized::Generalized;

/// Completion of a call after the check of its arguments.
#[derive(Clone, Copy)]
pub(crate) enum How {
    /// It runs to completion.
    Blocking,
    /// It is in progress, and the request completes it.
    Nonblocking(*mut Request),
    /// The request starts it, any number of times.
    Persistent(*mut Request),
}

/// The target of a request's handle.
pub(crate) struct Object {
    request: mpi::Request<Chosen>,
    /// The program's part of a generalized request.
    generalized: Option<Rc<Generalized>>,
    /// The partitioned message.
    partitioned: Option<Rc<Partitioned<Chosen>>>,
}

static REQUESTS: Shared<RefCell<Table<Rc<Object>>>> = Shared::new(|| RefCell::new(Table::new()));

impl RequestPlace<Chosen> for Object {
    fn request(&self) -> Option<&mpi::Request<Chosen>> {
        Some(&self.request)
    }
}

/// Returns a handle for a request.
pub(crate) fn register(request: mpi::Request<Chosen>) -> Request {
    REQUESTS.borrow_mut().add(Rc::new(Object::of(request)))
}

/// Returns a handle for the request of a partitioned message.
pub(crate) fn register_partitioned(
    request: mpi::Request<Chosen>,
    partitioned: Partitioned<Chosen>,
) -> Request {
    let partitioned = Some(Rc::new(partitioned));
    REQUESTS.borrow_mut().add(Rc::new(Object { partitioned, ..Object::of(request) }))
}

/// Returns the partitioned message of a handle.
pub(crate) fn partitioned(request: Request) -> Result<Rc<Partitioned<Chosen>>> {
    let found = given(request)?.partitioned.clone();
    found.ok_or_else(|| error_of(ERR_REQUEST, "not a partitioned request"))
}

/// Returns the calls that have made the requests which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    let is_freed = |one: &Object| one.generalized.as_ref().is_some_and(|one| one.is_freed.get());
    let mut all = REQUESTS.borrow().makers_of(|one| !is_freed(one));
    all.extend(LIGHT_REQUESTS.makers());
    all
}

/// Runs or starts a call, as `how` specifies.
#[inline(always)]
pub(crate) unsafe fn carry_out<C>(
    how: How,
    call: C,
    run: impl FnOnce(C) -> Result,
    start: impl FnOnce(C) -> Result<mpi::Request<Chosen>>,
    persistent: impl FnOnce(C) -> mpi::Request<Chosen>,
) -> Result {
    match how {
        How::Blocking => return run(call),
        How::Nonblocking(place) => *place = register(start(call)?),
        How::Persistent(place) => *place = register(persistent(call)),
    }
    Ok(())
}

/// Returns the object of a handle, or `None` for the null handle.
fn find(request: Request) -> Result<Option<Rc<Object>>> {
    if request == REQUEST_NULL {
        return Ok(None);
    }
    if let Some(light) = LIGHT_REQUESTS.get(request) {
        let request = mpi::Request::of_light(engine()?, light);
        return Ok(Some(Rc::new(Object::of(request))));
    }
    let found = REQUESTS.borrow().get(request).cloned();
    found.map(Some).ok_or_else(|| error_of(ERR_REQUEST, "not a request"))
}

/// Returns the object of a handle that must not be null.
fn given(request: Request) -> Result<Rc<Object>> {
    find(request)?.ok_or_else(|| error_of(ERR_REQUEST, "a null request"))
}

impl Object {
    fn of(request: mpi::Request<Chosen>) -> Self {
        Object { request, generalized: None, partitioned: None }
    }

    /// Converts a status for C. Only the program has that of a generalized request.
    fn as_c(&self, status: mpi::Status) -> Status {
        self.generalized.as_ref().map_or_else(|| status.into(), |one| one.latest_status())
    }

    /// Returns its status, which may be called again.
    fn outcome(&self) -> Result<(Status, Result)> {
        let (status, outcome) = self.request.status_and_outcome()?;
        Ok((self.as_c(status), outcome))
    }

    /// Returns its status for the last time: a persistent request may be started again, any other becomes invalid.
    fn take(&self, handle: &mut Request) -> Result<(Status, Result)> {
        let (status, outcome) = self.request.take()?;
        LIGHT_REQUESTS.take(*handle);
        if !self.request.is_persistent() {
            REQUESTS.borrow_mut().remove(*handle);
            *handle = REQUEST_NULL;
        }
        Ok((self.as_c(status), outcome))
    }
}
