//! Intercommunicators: their creation, and the merging of their two groups.

use std::ffi::{c_char, c_int};
use std::rc::Rc;

use mpi::{Bridge, SendBuffer};

use super::{Communicator, Object, get, get_object, register};
use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Result, ensure, error_of};
use crate::handler::{self, Handler};
use crate::process::running;
use crate::{group, text};

fn rank_of(rank: c_int) -> Result<usize> {
    usize::try_from(rank).map_err(|_| error_of(ERR_RANK, format!("leader {rank}")))
}

/// Returns the connection to the other group's leader, which only the leader of this one has.
fn bridge(peer: Comm, leader: c_int, tag: c_int) -> Result<Bridge<Chosen>> {
    ensure!(tag >= 0, ERR_TAG, "tag {tag}");
    let context = get(peer)?.context().clone();
    let leader = context.member(rank_of(leader)?)?;
    ensure!(leader != context.engine().rank(), ERR_COMM, "one process leads both groups");
    Ok(Bridge { context, leader, tag: tag as u32 })
}

/// Implements MPI_Intercomm_create.
pub(crate) unsafe fn create_between(
    comm: Comm,
    leader: c_int,
    peer: Comm,
    remote_leader: c_int,
    tag: c_int,
    new: *mut Comm,
) -> Result {
    let old = get_object(comm)?;
    let bridge = || bridge(peer, remote_leader, tag);
    let made = old.communicator.join_across(rank_of(leader)?, bridge)?;
    *new = register(Some(made), &old);
    Ok(())
}

/// Implements MPI_Intercomm_merge.
pub(crate) unsafe fn merge(comm: Comm, high: c_int, new: *mut Comm) -> Result {
    let old = get_object(comm)?;
    *new = register(Some(old.communicator.merge(high != 0)?), &old);
    Ok(())
}

/// Returns a handle for a communicator that is not derived from another.
fn register_new(
    new: Option<Communicator>,
    buffer: Option<Rc<SendBuffer>>,
    handler: Rc<Handler>,
) -> Comm {
    let Some(new) = new else { return COMM_NULL };
    if let Some(buffer) = buffer {
        new.context().send_buffers().share(buffer);
    }
    super::COMMUNICATORS.borrow_mut().add(Object::new(Rc::new(new), handler))
}

/// Implements MPI_Comm_create_from_group.
pub(crate) unsafe fn create_from_group(
    group: Group,
    tag: *const c_char,
    _info: Info,
    handler: Errhandler,
    new: *mut Comm,
) -> Result {
    let universe = running()?;
    let (group, name, handler) = (group::get(group)?, text::read(tag)?, handler::get(handler)?);
    let made = universe.create_from_group(&group, &name)?;
    *new = register_new(made, group.send_buffer.clone(), handler);
    Ok(())
}

/// Implements MPI_Intercomm_create_from_groups.
#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn create_between_groups(
    own: Group,
    leader: c_int,
    other: Group,
    other_leader: c_int,
    tag: *const c_char,
    _info: Info,
    handler: Errhandler,
    new: *mut Comm,
) -> Result {
    let universe = running()?;
    let (own, other) = (group::get(own)?, group::get(other)?);
    let (name, handler) = (text::read(tag)?, handler::get(handler)?);
    let buffer = own.send_buffer.clone();
    let (own, other) = ((&**own, rank_of(leader)?), (&**other, rank_of(other_leader)?));
    let made = universe.create_between_groups(own, other, &name)?;
    *new = register_new(Some(made), buffer, handler);
    Ok(())
}
