//! Looking for messages, and receiving those that were found.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Claimed, ProbeManner, ReceiveCall};

use super::peer::{accepted_tag, source as source_of};
use super::transfer::{finish, go_on_receiving};
use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator;
use crate::datatype;
use crate::failure::{Result, error_of};
use crate::handle::Table;
use crate::request::How;
use crate::shared::Shared;
use crate::status::Status;

/// The messages that were found for their handles alone.
static MESSAGES: Shared<RefCell<Table<Rc<Claimed<Chosen>>>>> =
    Shared::new(|| RefCell::new(Table::new()));

/// How many of them are not received.
pub(crate) fn count_messages() -> usize {
    MESSAGES.borrow().made()
}

unsafe fn probe_as(
    source: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
    manner: ProbeManner,
) -> Result<bool> {
    let communicator = communicator::get(comm)?;
    let (tag, source) = (accepted_tag(tag)?, source_of(&communicator, source)?);
    let found = mpi::probe(communicator.context(), source, tag, manner)?;
    if let Some(found) = found {
        Status::from(found).give(status);
    }
    Ok(found.is_some())
}

pub(crate) unsafe fn probe(source: c_int, tag: c_int, comm: Comm, status: *mut Status) -> Result {
    probe_as(source, tag, comm, status, ProbeManner::Wait).map(drop)
}

pub(crate) unsafe fn probe_once(
    source: c_int,
    tag: c_int,
    comm: Comm,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    *flag = c_int::from(probe_as(source, tag, comm, status, ProbeManner::Once)?);
    Ok(())
}

unsafe fn claim_as(
    source: c_int,
    tag: c_int,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
    manner: ProbeManner,
) -> Result<bool> {
    let communicator = communicator::get(comm)?;
    let (tag, from) = (accepted_tag(tag)?, source_of(&communicator, source)?);
    let found = mpi::claim(communicator.context(), from, tag, manner)?;
    let Some((claimed, found)) = found else { return Ok(false) };
    Status::from(found).give(status);
    *message = match source {
        PROC_NULL => MESSAGE_NO_PROC,
        _ => MESSAGES.borrow_mut().add(Rc::new(claimed)),
    };
    Ok(true)
}

pub(crate) unsafe fn claim(
    source: c_int,
    tag: c_int,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    claim_as(source, tag, comm, message, status, ProbeManner::Wait).map(drop)
}

pub(crate) unsafe fn claim_once(
    source: c_int,
    tag: c_int,
    comm: Comm,
    flag: *mut c_int,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    *flag = c_int::from(claim_as(source, tag, comm, message, status, ProbeManner::Once)?);
    Ok(())
}

/// The receive of a claimed message, whose handle ends with it.
unsafe fn receive_call(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    message: *mut Message,
) -> Result<ReceiveCall<Chosen>> {
    let memory = datatype::memory(buffer, count, of)?;
    let claimed = match *message {
        MESSAGE_NO_PROC => Rc::new(Claimed::of_nobody(communicator::get(COMM_SELF)?.context())),
        handle => {
            let found = MESSAGES.borrow_mut().remove(handle);
            found.ok_or_else(|| error_of(ERR_REQUEST, "not a message"))?
        }
    };
    *message = MESSAGE_NULL;
    Ok(claimed.receive(memory))
}

pub(crate) unsafe fn receive_claimed(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    finish(receive_call(buffer, count, of, message)?, status)
}

pub(crate) unsafe fn receive_claimed_later(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    message: *mut Message,
    how: How,
) -> Result {
    go_on_receiving(receive_call(buffer, count, of, message)?, how)
}
