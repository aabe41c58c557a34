//! Sends and receives.

use std::ffi::{c_int, c_void};

use mpi::{Mode, ReceiveCall, SendCall};

use super::peer::{accepted_tag, check_tag, destination, memory, source as source_of};
use super::quick;
use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::Result;
use crate::request::{How, LIGHT_REQUESTS, go_on};
use crate::status::Status;

/// A send, checked.
#[inline]
pub(super) unsafe fn send_call(
    buffer: *const c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    mode: Mode,
) -> Result<SendCall<Chosen>> {
    let memory = memory(buffer, count, of, to)?;
    let communicator = communicator::get(comm)?;
    let (tag, to) = (check_tag(tag)?, destination(&communicator, to)?);
    SendCall::new(communicator.context().clone(), memory, to, tag, mode)
}

/// A receive, checked.
#[inline]
pub(super) unsafe fn receive_call(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<ReceiveCall<Chosen>> {
    let communicator = communicator::get(comm)?;
    let memory = memory(buffer, count, of, source)?;
    let (tag, source) = (accepted_tag(tag)?, source_of(&communicator, source)?);
    ReceiveCall::new(communicator.context().clone(), memory, source, tag)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send(
    buffer: *const c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    mode: Mode,
    how: How,
) -> Result {
    if let (How::Blocking, Mode::Standard) = (how, mode)
        && let Some(outcome) = quick::send(buffer, count, of, to, tag, comm)
    {
        return outcome;
    }
    if let (How::Nonblocking(place), Mode::Standard | Mode::Ready) = (how, mode)
        && let Some(started) = quick::send_later(buffer, count, of, to, tag, comm)
    {
        *place = LIGHT_REQUESTS.add(started?);
        return Ok(());
    }
    let call = send_call(buffer, count, of, to, tag, comm, mode)?;
    go_on(how, call, SendCall::run, SendCall::start, SendCall::persistent)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn receive(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Result {
    if let Some(outcome) = quick::receive(buffer, count, of, source, tag, comm, status) {
        return outcome;
    }
    finish(receive_call(buffer, count, of, source, tag, comm)?, status)
}

/// Carries a receive out, and tells its status.
pub(super) unsafe fn finish(call: ReceiveCall<Chosen>, status: *mut Status) -> Result {
    let (found, outcome) = call.run()?;
    Status::from(found).give(status);
    outcome
}

/// Goes on with a receive whose status nobody wants now.
pub(super) unsafe fn go_on_receiving(call: ReceiveCall<Chosen>, how: How) -> Result {
    let run = |call: ReceiveCall<Chosen>| call.run()?.1;
    go_on(how, call, run, ReceiveCall::start, ReceiveCall::persistent)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn receive_later(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    how: How,
) -> Result {
    if let How::Nonblocking(place) = how
        && let Some(started) = quick::receive_later(buffer, count, of, source, tag, comm)
    {
        *place = LIGHT_REQUESTS.add(started?);
        return Ok(());
    }
    go_on_receiving(receive_call(buffer, count, of, source, tag, comm)?, how)
}
