//! A send and a receive in one call.

use std::ffi::{c_int, c_void};

use mpi::{ExchangeCall, Mode};

use super::transfer::{receive_call, send_call};
use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::Result;
use crate::request::{How, go_on};
use crate::status::Status;

/// Both at once, and both to their end.
unsafe fn finish(call: ExchangeCall<Chosen>, status: *mut Status) -> Result {
    let request = call.start()?;
    request.wait_for_end()?;
    let (found, outcome) = request.take()?;
    Status::from(found).give(status);
    outcome
}

unsafe fn go_on_with(call: ExchangeCall<Chosen>, how: How) -> Result {
    let run = |call| finish(call, std::ptr::null_mut());
    go_on(how, call, run, ExchangeCall::start, ExchangeCall::persistent)
}

#[allow(clippy::too_many_arguments)] // The standard's.
unsafe fn apart(
    from: *const c_void,
    send_count: i64,
    send_type: Datatype,
    to: c_int,
    send_tag: c_int,
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<ExchangeCall<Chosen>> {
    let send = send_call(from, send_count, send_type, to, send_tag, comm, Mode::Standard)?;
    Ok(ExchangeCall::new(send, receive_call(buffer, count, of, source, tag, comm)?))
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive(
    from: *const c_void,
    send_count: i64,
    send_type: Datatype,
    to: c_int,
    send_tag: c_int,
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Result {
    let call =
        apart(from, send_count, send_type, to, send_tag, buffer, count, of, source, tag, comm)?;
    finish(call, status)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive_later(
    from: *const c_void,
    send_count: i64,
    send_type: Datatype,
    to: c_int,
    send_tag: c_int,
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let call =
        apart(from, send_count, send_type, to, send_tag, buffer, count, of, source, tag, comm)?;
    go_on_with(call, how)
}

/// What is received takes the place of what is sent.
#[allow(clippy::too_many_arguments)] // The standard's.
unsafe fn replacing(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    send_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<ExchangeCall<Chosen>> {
    let send = send_call(buffer, count, of, to, send_tag, comm, Mode::Standard)?;
    Ok(ExchangeCall::replacing(send, receive_call(buffer, count, of, source, tag, comm)?))
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive_replace(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    send_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Result {
    finish(replacing(buffer, count, of, to, send_tag, source, tag, comm)?, status)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send_receive_replace_later(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    send_tag: c_int,
    source: c_int,
    tag: c_int,
    comm: Comm,
    how: How,
) -> Result {
    go_on_with(replacing(buffer, count, of, to, send_tag, source, tag, comm)?, how)
}
