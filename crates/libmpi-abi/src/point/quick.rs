//! The shortest way for sends and receives of plain data, blocking or started: no object is made, cloned or counted.
//!
//! Whatever is out of the ordinary, wrong arguments too, is left to the general way: then these return nothing, and have done
//! nothing.
//!
//! All of it is forced into the functions that C calls; why, the engine of `fabric-shm` says.

use std::ffi::{c_int, c_void};

use contract::Selector;

use super::transfer::status_of;
use crate::abi::*;
use crate::communicator;
use crate::datatype::plain_bytes;
use crate::failure::Result;
use crate::process::{endpoint, process};
use crate::request::Light;
use crate::status::Status;

/// Where the data lie: slices must not begin at null, even if they are empty.
#[inline]
fn start(buffer: *const c_void) -> *mut u8 {
    if buffer.is_null() { std::ptr::dangling_mut() } else { buffer.cast_mut().cast() }
}

/// Where a message goes: another rank of the world, and the context.
#[inline(always)]
fn address(to: c_int, comm: Comm) -> Option<(usize, u32)> {
    let process = process();
    let communicators = process.communicators.borrow();
    let communicator = communicators.get(comm)?;
    let to = *communicator.members.members().get(usize::try_from(to).ok()?)?;
    (to != process.rank.get()).then_some((to, communicator.point_context()))
}

/// What a send says of its data and its way: bytes, tag, rank of the world and context.
#[inline(always)]
fn outward(
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<(usize, u32, usize, u32)> {
    let bytes = plain_bytes(buffer, count, datatype)?;
    let tag = u32::try_from(tag).ok()?;
    let (to, context) = address(to, comm)?;
    Some((bytes, tag, to, context))
}

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
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<Result> {
    let (bytes, tag, to, context) = outward(buffer, count, datatype, to, tag, comm)?;
    if !process().schedules.is_empty() {
        return None;
    }
    let mut endpoint = endpoint().ok()?;
    let data = std::slice::from_raw_parts(start(buffer), bytes);
    Some(endpoint.send(to, context, tag, data).map_err(Into::into))
}

/// Starts a standard send.
#[inline(always)]
pub(super) unsafe fn send_later(
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<Result<Light>> {
    let (bytes, tag, to, context) = outward(buffer, count, datatype, to, tag, comm)?;
    let mut endpoint = endpoint().ok()?;
    let memory = start(buffer).cast_const();
    let started = match endpoint.send_at_once(to, context, tag, memory, bytes) {
        Ok(true) => return Some(Ok(Light::Sent)),
        Ok(false) => endpoint.start_send(to, context, tag, memory, bytes, false),
        Err(error) => Err(error),
    };
    Some(started.map(Light::Send).map_err(Into::into))
}

/// Starts to receive in a communicator whose ranks are those of the world.
#[inline(always)]
pub(super) unsafe fn receive_later(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Option<Result<Light>> {
    let room = plain_bytes(buffer, count, datatype)?;
    let tag = accepted(tag)?;
    let selector = {
        let communicators = process().communicators.borrow();
        let communicator = communicators.get(comm)?;
        let known = source >= 0 && (source as usize) < communicator.members.size();
        if !communicator.identity || !(known || source == ANY_SOURCE) {
            return None;
        }
        let source = known.then_some(source as u32);
        Selector { context: communicator.point_context(), source, tag }
    };
    let started = endpoint().ok()?.start_receive(selector, start(buffer), room);
    Some(started.map(Light::Receive).map_err(Into::into))
}

/// A receive from one rank.
#[inline]
pub(super) unsafe fn receive(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Option<Result> {
    let process = process();
    let room = plain_bytes(buffer, count, datatype)?;
    let tag = accepted(tag)?;
    let from = usize::try_from(source).ok()?;
    let selector = {
        let communicators = process.communicators.borrow();
        let communicator = communicators.get(comm)?;
        let member = *communicator.members.members().get(from)?;
        Selector { context: communicator.point_context(), source: Some(member as u32), tag }
    };
    if !process.schedules.is_empty() {
        return None;
    }
    let data = std::slice::from_raw_parts_mut(start(buffer), room);
    let received = endpoint().ok()?.receive(selector, data);
    let envelope = match received {
        Ok(envelope) => envelope,
        Err(error) => return Some(Err(error.into())),
    };
    if envelope.bytes <= room {
        Status::new(source, envelope.tag as c_int, envelope.bytes as i64).give(status);
        return Some(Ok(()));
    }
    let communicator = communicator::get(comm).ok()?;
    let (found, outcome) = status_of(&communicator, envelope, room);
    found.give(status);
    Some(outcome)
}
