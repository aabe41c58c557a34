//! The fastest path for sends and receives of plain data, blocking or started: no object is created, cloned or counted.
//!
//! The general path serves all other cases, including wrong arguments: for these the functions here return `None` and
//! have no effect.
//!
//! All of them are forced inline into the functions that C calls; the engine of `fabric-shm` states the reason.

use std::ffi::c_int;
use std::rc::Rc;

use contract::{Readable, Writable};
use mpi::{Context, Datatype, Engine, LightRequest, Signature};

use crate::abi::{ANY_SOURCE, ANY_TAG, Comm};
use crate::arguments::{Data, Partner};
use crate::chosen::Chosen;
use crate::communicator::COMMUNICATORS;
use crate::datatype;
use crate::failure::Result;
use crate::process::engine_if_any;
use crate::status::Status;

/// Returns the tag that a receive accepts: an inner `None` for any, an outer `None` for an invalid one.
#[inline(always)]
fn accepted(tag: c_int) -> Option<Option<u32>> {
    if tag == ANY_TAG { Some(None) } else { u32::try_from(tag).ok().map(Some) }
}

/// Calls `operation` with the engine and the communicator's context.
#[inline(always)]
unsafe fn within<T>(
    comm: Comm,
    operation: impl FnOnce(&'static Engine<Chosen>, &Rc<Context<Chosen>>) -> Option<T>,
) -> Option<T> {
    let communicators = COMMUNICATORS.borrow();
    let context = &communicators.get(comm)?.context;
    operation(engine_if_any()?, context)
}

/// Returns the data and the destination of a send.
#[inline(always)]
unsafe fn outgoing(data: Data, to: Partner) -> Option<(usize, u32, (Readable, Signature))> {
    let typed = |of: &Datatype, bytes| (bytes, of.signature(data.count));
    let (bytes, signature) = datatype::with_plain(data.start, data.count, data.of, typed)?;
    let (tag, to) = (u32::try_from(to.tag).ok()?, usize::try_from(to.rank).ok()?);
    Some((to, tag, (Readable::new(data.start.cast(), bytes), signature)))
}

/// Returns the memory of a receive, and the class of its elements.
#[inline(always)]
unsafe fn incoming(room: Data) -> Option<(Writable, u8)> {
    let typed = |of: &Datatype, bytes| (bytes, of.class());
    let (bytes, class) = datatype::with_plain(room.start, room.count, room.of, typed)?;
    Some((Writable::new(room.start.cast_mut().cast(), bytes), class))
}

/// Sends in standard mode.
#[inline(always)]
pub(super) unsafe fn send(data: Data, to: Partner, comm: Comm) -> Option<Result> {
    let (to, tag, data) = outgoing(data, to)?;
    within(comm, |engine, context| engine.send_plainly(context, to, tag, data))
}

/// Starts a send in standard mode.
#[inline(always)]
pub(super) unsafe fn send_later(
    data: Data,
    to: Partner,
    comm: Comm,
) -> Option<Result<LightRequest>> {
    let (to, tag, data) = outgoing(data, to)?;
    within(comm, |engine, context| engine.start_send_plainly(context, to, tag, data))
}

/// Starts a receive in a communicator whose ranks are those of the world.
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

/// Receives from one rank.
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
