//! Probes for messages, and receives of matched messages.

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use call_stack::CallSite;
use mpi::{Claimed, ProbeManner, ReceiveCall};

use super::peer::{accepted_tag, source};
use super::transfer::{carry_out_receive, finish};
use crate::abi::*;
use crate::arguments::{Data, Partner};
use crate::chosen::Chosen;
use crate::communicator;
use crate::datatype;
use crate::failure::{Result, error_of};
use crate::handle::Table;
use crate::request::How;
use crate::shared::Shared;
use crate::status::Status;

/// The matched messages that only their handles can receive.
static MESSAGES: Shared<RefCell<Table<Rc<Claimed<Chosen>>>>> =
    Shared::new(|| RefCell::new(Table::new()));

/// Returns the calls that have matched those which are not received.
pub(crate) fn makers_of_messages() -> Vec<CallSite> {
    MESSAGES.borrow().makers()
}

unsafe fn probe_as(
    from: Partner,
    comm: Comm,
    status: *mut Status,
    manner: ProbeManner,
) -> Result<bool> {
    let communicator = communicator::get(comm)?;
    let (tag, source) = (accepted_tag(from.tag)?, source(&communicator, from.rank)?);
    let found = mpi::probe(communicator.context(), source, tag, manner)?;
    if let Some(found) = found {
        Status::from(found).give(status);
    }
    Ok(found.is_some())
}

pub(crate) unsafe fn probe(from: Partner, comm: Comm, status: *mut Status) -> Result {
    probe_as(from, comm, status, ProbeManner::Wait).map(drop)
}

pub(crate) unsafe fn probe_once(
    from: Partner,
    comm: Comm,
    flag: *mut c_int,
    status: *mut Status,
) -> Result {
    *flag = c_int::from(probe_as(from, comm, status, ProbeManner::Once)?);
    Ok(())
}

unsafe fn claim_as(
    from: Partner,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
    manner: ProbeManner,
) -> Result<bool> {
    let communicator = communicator::get(comm)?;
    let (tag, source) = (accepted_tag(from.tag)?, source(&communicator, from.rank)?);
    let found = mpi::claim(communicator.context(), source, tag, manner)?;
    let Some((claimed, found)) = found else { return Ok(false) };
    Status::from(found).give(status);
    *message = match from.rank {
        PROC_NULL => MESSAGE_NO_PROC,
        _ => MESSAGES.borrow_mut().add(Rc::new(claimed)),
    };
    Ok(true)
}

pub(crate) unsafe fn claim(
    from: Partner,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    claim_as(from, comm, message, status, ProbeManner::Wait).map(drop)
}

pub(crate) unsafe fn claim_once(
    from: Partner,
    comm: Comm,
    flag: *mut c_int,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    *flag = c_int::from(claim_as(from, comm, message, status, ProbeManner::Once)?);
    Ok(())
}

/// Returns the receive of a claimed message, whose handle ends with it.
unsafe fn receive_call(room: Data, message: *mut Message) -> Result<ReceiveCall<Chosen>> {
    let memory = datatype::memory(room.start, room.count, room.of)?;
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
    room: Data,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    finish(receive_call(room, message)?, status)
}

pub(crate) unsafe fn receive_claimed_later(room: Data, message: *mut Message, how: How) -> Result {
    carry_out_receive(receive_call(room, message)?, how)
}
