//! Sends and receives.

use mpi::{Mode, ReceiveCall, SendCall};

use super::peer::{accepted_tag, check_tag, destination, memory, source};
use super::quick;
use crate::abi::*;
use crate::arguments::{Data, Partner};
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::Result;
use crate::request::{How, LIGHT_REQUESTS, carry_out};
use crate::status::Status;

/// Creates a checked send.
#[inline]
pub(super) unsafe fn send_call(
    data: Data,
    to: Partner,
    comm: Comm,
    mode: Mode,
) -> Result<SendCall<Chosen>> {
    let memory = memory(data, to.rank)?;
    let communicator = communicator::get(comm)?;
    let (tag, to) = (check_tag(to.tag)?, destination(&communicator, to.rank)?);
    SendCall::new(communicator.context().clone(), memory, to, tag, mode)
}

/// Creates a checked receive.
#[inline]
pub(super) unsafe fn receive_call(
    room: Data,
    from: Partner,
    comm: Comm,
) -> Result<ReceiveCall<Chosen>> {
    let communicator = communicator::get(comm)?;
    let memory = memory(room, from.rank)?;
    let (tag, from) = (accepted_tag(from.tag)?, source(&communicator, from.rank)?);
    ReceiveCall::new(communicator.context().clone(), memory, from, tag)
}

#[inline(always)]
pub(crate) unsafe fn send(data: Data, to: Partner, comm: Comm, mode: Mode, how: How) -> Result {
    if let (How::Blocking, Mode::Standard) = (how, mode)
        && let Some(outcome) = quick::send(data, to, comm)
    {
        return outcome;
    }
    if let (How::Nonblocking(place), Mode::Standard | Mode::Ready) = (how, mode)
        && let Some(started) = quick::send_later(data, to, comm)
    {
        *place = LIGHT_REQUESTS.add(started?);
        return Ok(());
    }
    let call = send_call(data, to, comm, mode)?;
    carry_out(how, call, SendCall::run, SendCall::start, SendCall::persistent)
}

#[inline(always)]
pub(crate) unsafe fn receive(room: Data, from: Partner, comm: Comm, status: *mut Status) -> Result {
    if let Some(outcome) = quick::receive(room, from, comm, status) {
        return outcome;
    }
    finish(receive_call(room, from, comm)?, status)
}

/// Runs a receive to completion, and stores its status.
pub(super) unsafe fn finish(call: ReceiveCall<Chosen>, status: *mut Status) -> Result {
    let (found, outcome) = call.run()?;
    Status::from(found).give(status);
    outcome
}

/// Runs or starts a receive whose status is not needed now.
pub(super) unsafe fn carry_out_receive(call: ReceiveCall<Chosen>, how: How) -> Result {
    let run = |call: ReceiveCall<Chosen>| call.run()?.1;
    carry_out(how, call, run, ReceiveCall::start, ReceiveCall::persistent)
}

#[inline(always)]
pub(crate) unsafe fn receive_later(room: Data, from: Partner, comm: Comm, how: How) -> Result {
    if let How::Nonblocking(place) = how
        && let Some(started) = quick::receive_later(room, from, comm)
    {
        *place = LIGHT_REQUESTS.add(started?);
        return Ok(());
    }
    carry_out_receive(receive_call(room, from, comm)?, how)
}
