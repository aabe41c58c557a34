//! Sends and receives.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use contract::{Envelope, Request as Started, Selector};
use fabric_shm::ShmEndpoint as Endpoint;

use super::buffered::SendBuffer;
use super::quick;
use crate::abi::*;
use crate::collective::How;
use crate::communicator::{self, Communicator};
use crate::datatype::Memory;
use crate::failure::{Result, error_of};
use crate::process::{endpoint, process};
use crate::request::{self, Action};
use crate::status::Status;

/// What the end of a send says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Standard,
    /// The receive has begun.
    Synchronous,
    /// Nothing: the data was copied.
    Buffered,
    /// As standard; the program promises that the receive is posted, which changes nothing here.
    Ready,
}

/// A message on its way.
pub(crate) struct Transfer {
    started: Started,
    communicator: Rc<Communicator>,
    memory: Memory,
    /// The data in one piece, where it lies in several in the user's memory.
    staging: Option<Vec<u8>>,
    receives: bool,
    /// What a matched message was before it was claimed.
    claimed: Option<Envelope>,
    /// Data of ours that the message is made of.
    pub(super) keep: Option<Rc<Vec<u8>>>,
}

impl Transfer {
    pub(crate) fn has_ended(&self, endpoint: &Endpoint) -> bool {
        endpoint.is_done(self.started)
    }

    /// This message, if the rank that it needs has left.
    pub(crate) fn hopeless(&self, endpoint: &Endpoint) -> Option<Started> {
        endpoint.is_hopeless(self.started).then_some(self.started)
    }

    /// Takes note of the end.
    pub(crate) fn finish(self, endpoint: &mut Endpoint) -> (Status, Result) {
        let envelope = endpoint.end(self.started);
        if !self.receives {
            return (Status::empty(), Ok(()));
        }
        if let Some(staging) = &self.staging {
            // SAFETY: whoever started the receive promised the memory, and staging has room for all of the data.
            unsafe { self.memory.unpack(staging.as_ptr(), envelope.bytes.min(staging.len())) };
        }
        status_of(&self.communicator, self.claimed.unwrap_or(envelope), envelope.room)
    }

    /// Ends a receive that has no message yet.
    pub(crate) fn cancel(&mut self, endpoint: &mut Endpoint) -> Option<Status> {
        let cancelled = self.receives && endpoint.cancel_receive(self.started);
        cancelled.then(|| Status::empty().with_cancelled())
    }
}

/// What a receive says of its message.
pub(super) fn status_of(
    communicator: &Communicator,
    envelope: Envelope,
    room: usize,
) -> (Status, Result) {
    let source = communicator.rank_of(envelope.source as usize) as c_int;
    let kept = envelope.bytes.min(room) as i64;
    let status = Status::new(source, envelope.tag as c_int, kept);
    let outcome = if envelope.bytes > room {
        let (bytes, tag) = (envelope.bytes, envelope.tag);
        let what = format!(
            "a message of {bytes} bytes from rank {source} with tag {tag} is too long for a buffer of {room} bytes"
        );
        Err(communicator.failure(ERR_TRUNCATE, what))
    } else {
        Ok(())
    };
    (status, outcome)
}

pub(super) fn check_tag(tag: c_int) -> Result<u32> {
    u32::try_from(tag).map_err(|_| error_of(ERR_TAG, format!("tag {tag}")))
}

/// The selector of a receive or probe; none for MPI_PROC_NULL.
pub(super) fn selector(
    communicator: &Communicator,
    source: c_int,
    tag: c_int,
) -> Result<Option<Selector>> {
    let tag = if tag == ANY_TAG { None } else { Some(check_tag(tag)?) };
    let source = match source {
        PROC_NULL => return Ok(None),
        ANY_SOURCE => None,
        rank => Some(communicator.member(rank)? as u32),
    };
    Ok(Some(Selector { context: communicator.point_context(), source, tag }))
}

/// The buffer of a message. One with MPI_PROC_NULL has no data, so what the other arguments say of them does not matter.
#[inline]
fn memory(start: *const c_void, count: i64, datatype: Datatype, peer: c_int) -> Result<Memory> {
    let nothing = peer == PROC_NULL && datatype == DATATYPE_NULL;
    if nothing { Memory::new(start, 0, BYTE) } else { Memory::new(start, count, datatype) }
}

/// Where a message goes, checked.
#[derive(Clone)]
pub(super) struct Letter {
    communicator: Rc<Communicator>,
    memory: Memory,
    /// None for MPI_PROC_NULL.
    to: Option<usize>,
    tag: u32,
    mode: Mode,
}

impl Letter {
    #[inline]
    pub(super) fn new(
        memory: Memory,
        to: c_int,
        tag: c_int,
        comm: Comm,
        mode: Mode,
    ) -> Result<Letter> {
        let communicator = communicator::get(comm)?;
        let tag = check_tag(tag)?;
        let to = if to == PROC_NULL { None } else { Some(communicator.member(to)?) };
        Ok(Letter { communicator, memory, to, tag, mode })
    }

    /// # Safety
    /// The memory stays as it is until the send has ended.
    pub(super) unsafe fn start(&self) -> Result<Action> {
        let Some(to) = self.to else {
            return Ok(Action::Done(Status::empty(), Ok(())));
        };
        if self.mode == Mode::Buffered {
            let chosen = buffer_of(&self.communicator);
            chosen.send(to, self.communicator.point_context(), self.tag, self.memory.packed())?;
            return Ok(Action::Done(Status::empty(), Ok(())));
        }
        let (staging, start) = match self.memory.in_one_piece() {
            Some(start) => (None, start.cast_const()),
            None => {
                let packed = self.memory.packed();
                let start = packed.as_ptr();
                (Some(packed), start)
            }
        };
        let (context, bytes) = (self.communicator.point_context(), self.memory.bytes());
        let synchronous = self.mode == Mode::Synchronous;
        let started = endpoint()?.start_send(to, context, self.tag, start, bytes, synchronous)?;
        Ok(Action::Transfer(Transfer {
            started,
            communicator: self.communicator.clone(),
            memory: self.memory.clone(),
            staging,
            receives: false,
            claimed: None,
            keep: None,
        }))
    }

    /// The shortest way for a blocking send, where there is one.
    #[inline]
    unsafe fn send_now(&self) -> Result<bool> {
        let (Some(to), Mode::Standard | Mode::Ready) = (self.to, self.mode) else {
            return Ok(false);
        };
        let Some(start) = self.memory.in_one_piece() else { return Ok(false) };
        if !process().schedules.is_empty() || to == process().rank.get() {
            return Ok(false);
        }
        let bytes = self.memory.bytes();
        let data = std::slice::from_raw_parts(start, bytes);
        endpoint()?.send(to, self.communicator.point_context(), self.tag, data)?;
        Ok(true)
    }
}

fn buffer_of(communicator: &Communicator) -> &SendBuffer {
    match communicator.buffer.is_attached() {
        true => &communicator.buffer,
        false => &process().send_buffer,
    }
}

/// Starts something and goes on with it as asked.
pub(crate) unsafe fn go_on(
    how: How,
    start: impl Fn() -> Result<Action> + 'static,
) -> Result<Option<Status>> {
    match how {
        How::Blocking => {
            let mut handle = request::register(start()?);
            let mut status = Status::empty();
            request::wait(&mut handle, &mut status)?;
            return Ok(Some(status));
        }
        How::Nonblocking(place) => *place = request::register(start()?),
        How::Persistent(place) => *place = request::register_persistent(Box::new(start)),
    }
    Ok(None)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send(
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    mode: Mode,
    how: How,
) -> Result {
    if let (How::Blocking, Mode::Standard) = (how, mode)
        && let Some(outcome) = quick::send(buffer, count, datatype, to, tag, comm)
    {
        return outcome;
    }
    if let (How::Nonblocking(place), Mode::Standard | Mode::Ready) = (how, mode)
        && let Some(started) = quick::send_later(buffer, count, datatype, to, tag, comm)
    {
        *place = process().lights.add(started?);
        return Ok(());
    }
    let letter = Letter::new(memory(buffer, count, datatype, to)?, to, tag, comm, mode)?;
    if let How::Blocking = how
        && letter.send_now()?
    {
        return Ok(());
    }
    go_on(how, move || letter.start()).map(drop)
}

/// A receive, checked.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) communicator: Rc<Communicator>,
    pub(super) memory: Memory,
    /// None for MPI_PROC_NULL.
    pub(super) selector: Option<Selector>,
    pub(super) claimed: Option<Envelope>,
}

impl Slot {
    /// # Safety
    /// The memory is nobody else's until the receive has ended.
    pub(super) unsafe fn start(&self) -> Result<Action> {
        let Some(selector) = self.selector else {
            return Ok(Action::Done(Status::of_no_process(), Ok(())));
        };
        let room = self.memory.bytes();
        let (staging, start) = match self.memory.in_one_piece() {
            Some(start) => (None, start),
            None => {
                let mut room = vec![0_u8; room];
                let start = room.as_mut_ptr();
                (Some(room), start)
            }
        };
        let started = endpoint()?.start_receive(selector, start, room)?;
        Ok(Action::Transfer(Transfer {
            started,
            communicator: self.communicator.clone(),
            memory: self.memory.clone(),
            staging,
            receives: true,
            claimed: self.claimed,
            keep: None,
        }))
    }

    /// The shortest way for a blocking receive, where there is one.
    #[inline]
    unsafe fn receive_now(&self) -> Result<Option<(Status, Result)>> {
        let (Some(selector), Some(start)) = (self.selector, self.memory.in_one_piece()) else {
            return Ok(None);
        };
        if !process().schedules.is_empty() {
            return Ok(None);
        }
        let room = self.memory.bytes();
        let buffer = std::slice::from_raw_parts_mut(start, room);
        let envelope = endpoint()?.receive(selector, buffer)?;
        Ok(Some(status_of(&self.communicator, envelope, room)))
    }
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn receive(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> Result {
    if let Some(outcome) = quick::receive(buffer, count, datatype, source, tag, comm, status) {
        return outcome;
    }
    let slot = slot(buffer, count, datatype, source, tag, comm)?;
    if let Some((found, outcome)) = slot.receive_now()? {
        found.give(status);
        return outcome;
    }
    let mut handle = request::register(slot.start()?);
    request::wait(&mut handle, status)
}

pub(super) fn slot(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
) -> Result<Slot> {
    let communicator = communicator::get(comm)?;
    let memory = memory(buffer, count, datatype, source)?;
    let selector = selector(&communicator, source, tag)?;
    Ok(Slot { communicator, memory, selector, claimed: None })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn receive_later(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: c_int,
    tag: c_int,
    comm: Comm,
    how: How,
) -> Result {
    if let How::Nonblocking(place) = how
        && let Some(started) = quick::receive_later(buffer, count, datatype, source, tag, comm)
    {
        *place = process().lights.add(started?);
        return Ok(());
    }
    let slot = slot(buffer, count, datatype, source, tag, comm)?;
    go_on(how, move || slot.start()).map(drop)
}
