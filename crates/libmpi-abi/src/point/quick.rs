//! The shortest way for sends and receives of plain data, blocking or started: no object is made, cloned or counted.
//!
//! Whatever is out of the ordinary, wrong arguments too, is left to the general way: then these return nothing, and have done
//! nothing.
//!
//! All of it is forced into the functions that C calls; why, the engine of `fabric-shm` says.

use std::ffi::c_int;
use std::rc::Rc;

use contract::{Readable, Writable};
use mpi::{Context, Engine, LightRequest};

use crate::abi::*;
use crate::arguments::{Data, Partner};
use crate::chosen::Chosen;
use crate::communicator::COMMUNICATORS;
use crate::datatype;
use crate::failure::Result;
use crate::process::engine_if_any;
use crate::status::Status;

/// Returns the tag that a receive accepts; none inside for any, none outside for one that is no tag.
#[inline(always)]
fn accepted(tag: c_int) -> Option<Option<u32>> {
    if tag == ANY_TAG { Some(None) } else { u32::try_from(tag).ok().map(Some) }
}

/// Calls `go_on` with the engine and the communicator's context.
#[inline(always)]
unsafe fn within<T>(
    comm: Comm,
    go_on: impl FnOnce(&'static Engine<Chosen>, &Rc<Context<Chosen>>) -> Option<T>,
) -> Option<T> {
    let communicators = COMMUNICATORS.borrow();
    let context = &communicators.get(comm)?.context;
    go_on(engine_if_any()?, context)
}

/// Returns the data of a send, and where it goes.
#[inline(always)]
unsafe fn outgoing(data: Data, to: Partner) -> Option<(usize, u32, Readable)> {
    let bytes = datatype::plain_bytes(data.start, data.count, data.of)?;
    let (tag, to) = (u32::try_from(to.tag).ok()?, usize::try_from(to.rank).ok()?);
    Some((to, tag, Readable::new(data.start.cast(), bytes)))
}

/// Returns the room of a receive.
#[inline(always)]
unsafe fn incoming(room: Data) -> Option<Writable> {
    let bytes = datatype::plain_bytes(room.start, room.count, room.of)?;
    Some(Writable::new(room.start.cast_mut().cast(), bytes))
}

/// A standard send.
#[inline(always)]
pub(super) unsafe fn send(data: Data, to: Partner, comm: Comm) -> Option<Result> {
    let (to, tag, data) = outgoing(data, to)?;
    within(comm, |engine, context| engine.send_plainly(context, to, tag, data))
}

/// Starts a standard send.
#[inline(always)]
pub(super) unsafe fn send_later(
    data: Data,
    to: Partner,
    comm: Comm,
) -> Option<Result<LightRequest>> {
    let (to, tag, data) = outgoing(data, to)?;
    within(comm, |engine, context| engine.start_send_plainly(context, to, tag, data))
}

/// Starts to receive in a communicator whose ranks are those of the world.
#[inline(always)]
pub(super) unsafe fn receive_later(
    room: Data,
    from: Partner,
    comm: Comm,
) -> Option<Result<LightRequest>> {
    let (room, tag) = (incoming(room)?, accepted(from.tag)?);
    let source = match from.rank {
        ANY_SOURCE => None,
        rank => Some(u32::try_from(rank).ok()?),
    };
    within(comm, |engine, context| engine.start_receive_plainly(context, source, tag, room))
}

/// A receive from one rank.
#[inline(always)]
pub(super) unsafe fn receive(
    room: Data,
    from: Partner,
    comm: Comm,
    status: *mut Status,
) -> Option<Result> {
    let (room, tag) = (incoming(room)?, accepted(from.tag)?);
    let source = usize::try_from(from.rank).ok()?;
    within(comm, |engine, context| {
        let envelope = match engine.receive_plainly(context, source, tag, room)? {
            Ok(envelope) => envelope,
            Err(error) => return Some(Err(error)),
        };
        if !envelope.is_cut() {
            Status::new(from.rank, envelope.tag as c_int, envelope.bytes as i64).give(status);
            return Some(Ok(()));
        }
        let (found, outcome) = context.status_of(&envelope);
        Status::from(found).give(status);
        Some(outcome)
    })
}
