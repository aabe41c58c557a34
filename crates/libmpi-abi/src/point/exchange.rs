//! A send and a receive in one call.

use mpi::{ExchangeCall, Mode};

use super::transfer::{receive_call, send_call};
use crate::abi::*;
use crate::arguments::{Data, Partner};
use crate::chosen::Chosen;
use crate::failure::Result;
use crate::request::{How, carry_out};
use crate::status::Status;

/// Runs both to completion at the same time.
unsafe fn finish(call: ExchangeCall<Chosen>, status: *mut Status) -> Result {
    let request = call.start()?;
    request.wait_for_end()?;
    let (found, outcome) = request.take()?;
    Status::from(found).give(status);
    outcome
}

unsafe fn carry_out_exchange(call: ExchangeCall<Chosen>, how: How) -> Result {
    let run = |call| finish(call, std::ptr::null_mut());
    carry_out(how, call, run, ExchangeCall::start, ExchangeCall::persistent)
}

/// The sent and the received data, with a partner each.
type Ways = ((Data, Partner), (Data, Partner));

unsafe fn with_two_buffers((out, back): Ways, comm: Comm) -> Result<ExchangeCall<Chosen>> {
    let send = send_call(out.0, out.1, comm, Mode::Standard)?;
    Ok(ExchangeCall::new(send, receive_call(back.0, back.1, comm)?))
}

pub(crate) unsafe fn send_receive(
    data: Data,
    to: Partner,
    room: Data,
    from: Partner,
    comm: Comm,
    status: *mut Status,
) -> Result {
    finish(with_two_buffers(((data, to), (room, from)), comm)?, status)
}

pub(crate) unsafe fn send_receive_later(
    data: Data,
    to: Partner,
    room: Data,
    from: Partner,
    comm: Comm,
    how: How,
) -> Result {
    carry_out_exchange(with_two_buffers(((data, to), (room, from)), comm)?, how)
}

/// Sends and receives in the same buffer: the received message replaces the sent one.
unsafe fn replacing(
    data: Data,
    to: Partner,
    from: Partner,
    comm: Comm,
) -> Result<ExchangeCall<Chosen>> {
    let send = send_call(data, to, comm, Mode::Standard)?;
    Ok(ExchangeCall::replacing(send, receive_call(data, from, comm)?))
}

pub(crate) unsafe fn send_receive_replace(
    data: Data,
    to: Partner,
    from: Partner,
    comm: Comm,
    status: *mut Status,
) -> Result {
    finish(replacing(data, to, from, comm)?, status)
}

pub(crate) unsafe fn send_receive_replace_later(
    data: Data,
    to: Partner,
    from: Partner,
    comm: Comm,
    how: How,
) -> Result {
    carry_out_exchange(replacing(data, to, from, comm)?, how)
}
