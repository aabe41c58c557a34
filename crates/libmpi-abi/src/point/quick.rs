//! The shortest way for sends and receives of plain data, blocking or started: no object is made, cloned or counted.
//!
//! Whatever is out of the ordinary, wrong arguments too, is left to the general way: then these return nothing, and have done
//! nothing.
//!
//! All of it is forced into the functions that C calls; why, the engine of `fabric-shm` says.

use std::ffi::{c_int, c_void};

use contract::{Readable, Writable};
use mpi::LightRequest;

use crate::abi::*;
use crate::communicator::COMMUNICATORS;
use crate::datatype;
use crate::failure::Result;
use crate::process::engine_if_any;
use crate::status::Status;

/// The tag that a receive accepts; none inside for any, none outside for one that is no tag.
#[inline(always)]
fn accepted(tag: c_int) -> Option<Option<u32>> {
    if tag == ANY_TAG { Some(None) } else { u32::try_from(tag).ok().map(Some) }
}

/// A standard send.
#[inline]
pub(super) unsafe fn send(
    buffer: *const c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<Result> {
    let bytes = datatype::plain_bytes(buffer, count, of)?;
    let (tag, to) = (u32::try_from(tag).ok()?, usize::try_from(to).ok()?);
    let communicators = COMMUNICATORS.borrow();
    let context = &communicators.get(comm)?.context;
    let data = Readable::new(buffer.cast(), bytes);
    engine_if_any()?.send_plainly(context, to, tag, data)
}

/// Starts a standard send.
#[inline(always)]
pub(super) unsafe fn send_later(
    buffer: *const c_void,
    count: i64,
    of: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<Result<LightRequest>> {
    let bytes = datatype::plain_bytes(buffer, count, of)?;
    let (tag, to) = (u32::try_from(tag).ok()?, usize::try_from(to).ok()?);
    let communicators = COMMUNICATORS.borrow();
    let context = &communicators.get(comm)?.context;
    let data = Readable::new(buffer.cast(), bytes);
    engine_if_any()?.start_send_plainly(context, to, tag, data)
}

/// Starts to receive in a communicator whose ranks are those of the world.
#[inline(always)]
pub(super) unsafe fn receive_later(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<Result<LightRequest>> {
    let bytes = datatype::plain_bytes(buffer, count, of)?;
    let tag = accepted(tag)?;
    let source = match source {
        ANY_SOURCE => None,
        rank => Some(u32::try_from(rank).ok()?),
    };
    let communicators = COMMUNICATORS.borrow();
    let context = &communicators.get(comm)?.context;
    let room = Writable::new(buffer.cast(), bytes);
    engine_if_any()?.start_receive_plainly(context, source, tag, room)
}

/// A receive from one rank.
#[inline]
pub(super) unsafe fn receive(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Option<Result> {
    let bytes = datatype::plain_bytes(buffer, count, of)?;
    let tag = accepted(tag)?;
    let from = usize::try_from(source).ok()?;
    let communicators = COMMUNICATORS.borrow();
    let context = &communicators.get(comm)?.context;
    let room = Writable::new(buffer.cast(), bytes);
    let envelope = match engine_if_any()?.receive_plainly(context, from, tag, room)? {
        Ok(envelope) => envelope,
        Err(error) => return Some(Err(error)),
    };
    if !envelope.is_cut() {
        Status::new(source, envelope.tag as c_int, envelope.bytes as i64).give(status);
        return Some(Ok(()));
    }
    let (found, outcome) = context.status_of(&envelope);
    Status::from(found).give(status);
    Some(outcome)
}
