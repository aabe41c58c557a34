//! Looking for messages, and receiving those that were found.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use contract::{Envelope, Selector};
use fabric_shm::ShmEndpoint as Endpoint;

use super::transfer::{Slot, go_on, selector};
use crate::abi::*;
use crate::collective::How;
use crate::communicator::{self, Communicator};
use crate::datatype::Memory;
use crate::failure::{Result, ensure, error_of};
use crate::process::{endpoint, process};
use crate::request;
use crate::status::Status;

/// The context of messages that were claimed, which no communicator has.
const CLAIMED: u32 = u32::MAX;

/// A message that was found and that only its handle leads to.
pub(crate) struct Claimed {
    communicator: Rc<Communicator>,
    envelope: Envelope,
    claim: u32,
}

fn status_of(communicator: &Communicator, envelope: &Envelope) -> Status {
    let source = communicator.rank_of(envelope.source as usize) as c_int;
    Status::new(source, envelope.tag as c_int, envelope.bytes as i64)
}

/// Looks once, or until there is something.
fn find(
    waits: bool,
    selector: Selector,
    look: &mut dyn FnMut(&mut Endpoint) -> contract::Result<Option<Envelope>>,
) -> Result<Option<Envelope>> {
    if !waits {
        request::progress()?;
        return Ok(look(&mut *endpoint()?)?);
    }
    let mut found = Ok(None);
    let mut lost = false;
    request::wait_until(&mut |endpoint| {
        // Asked before the look: what a rank sent before it left is then found.
        lost = endpoint.none_will_send(selector);
        found = look(endpoint);
        lost || !matches!(found, Ok(None))
    })?;
    let found = found?;
    ensure!(
        found.is_some() || !lost,
        ERR_OTHER,
        "every rank that could send the message has called MPI_Finalize"
    );
    Ok(found)
}

unsafe fn probe_as(
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
    waits: bool,
) -> Result<bool> {
    let communicator = communicator::get(comm)?;
    let Some(selector) = selector(&communicator, source, tag)? else {
        Status::of_no_process().give(status);
        return Ok(true);
    };
    let found = find(waits, selector, &mut |endpoint| endpoint.probe(selector))?;
    if let Some(envelope) = &found {
        status_of(&communicator, envelope).give(status);
    }
    Ok(found.is_some())
}

pub(crate) unsafe fn probe(source: c_int, tag: c_int, comm: Comm, status: *mut Status) -> Result {
    probe_as(source, tag, comm, status, true).map(drop)
}

pub(crate) unsafe fn probe_once(
    source: c_int,
    tag: c_int,
    comm: Comm,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    *flag = c_int::from(probe_as(source, tag, comm, status, false)?);
    Ok(())
}

unsafe fn claim_as(
    source: c_int,
    tag: c_int,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
    waits: bool,
) -> Result<bool> {
    let communicator = communicator::get(comm)?;
    let Some(selector) = selector(&communicator, source, tag)? else {
        *message = MESSAGE_NO_PROC;
        Status::of_no_process().give(status);
        return Ok(true);
    };
    let claim = process().next_claim.get();
    let found = find(waits, selector, &mut |endpoint| endpoint.claim(selector, CLAIMED, claim))?;
    let Some(envelope) = found else { return Ok(false) };
    process().next_claim.set(claim.wrapping_add(1));
    status_of(&communicator, &envelope).give(status);
    let claimed = Rc::new(Claimed { communicator, envelope, claim });
    *message = process().messages.borrow_mut().add(claimed);
    Ok(true)
}

pub(crate) unsafe fn claim(
    source: c_int,
    tag: c_int,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    claim_as(source, tag, comm, message, status, true).map(drop)
}

pub(crate) unsafe fn claim_once(
    source: c_int,
    tag: c_int,
    comm: Comm,
    flag: *mut c_int,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    *flag = c_int::from(claim_as(source, tag, comm, message, status, false)?);
    Ok(())
}

/// The receive of a claimed message, whose handle ends with it.
unsafe fn slot_for(message: *mut Message, memory: Memory) -> Result<Slot> {
    if *message == MESSAGE_NO_PROC {
        *message = MESSAGE_NULL;
        let communicator = communicator::get(COMM_SELF)?;
        return Ok(Slot { communicator, memory, selector: None, claimed: None });
    }
    let claimed = process().messages.borrow_mut().remove(*message);
    let claimed = claimed.ok_or_else(|| error_of(ERR_REQUEST, "not a message"))?;
    *message = MESSAGE_NULL;
    let selector = Selector {
        context: CLAIMED,
        source: Some(claimed.envelope.source),
        tag: Some(claimed.claim),
    };
    Ok(Slot {
        communicator: claimed.communicator.clone(),
        memory,
        selector: Some(selector),
        claimed: Some(claimed.envelope),
    })
}

pub(crate) unsafe fn receive_claimed(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    let slot = slot_for(message, Memory::new(buffer, count, datatype)?)?;
    let mut handle = request::register(slot.start()?);
    request::wait(&mut handle, status)
}

pub(crate) unsafe fn receive_claimed_later(
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    message: *mut Message,
    how: How,
) -> Result {
    let slot = slot_for(message, Memory::new(buffer, count, datatype)?)?;
    go_on(how, move || slot.start()).map(drop)
}
