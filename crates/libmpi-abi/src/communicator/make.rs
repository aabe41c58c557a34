//! Creation of communicators: duplicates, parts, and those of a group.

use std::ffi::c_int;

use mpi::RankTopology;

use super::{Communicator, Object, get_object, register};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::group;
use crate::info;
use crate::request;

/// The hints of a duplicate.
#[derive(Clone, Copy)]
enum Hints {
    TheOldOnes,
    These(Info),
}

impl Hints {
    fn of(self, old: &Object) -> Result<mpi::Info> {
        match self {
            Hints::TheOldOnes => Ok(old.communicator.copied_info()),
            Hints::These(info) => info::copy_or_none(info),
        }
    }
}

fn dup_as(comm: Comm, hints: Hints) -> Result<Comm> {
    let old = get_object(comm)?;
    let (info, attributes) = (hints.of(&old)?, old.communicator.attributes().copy(comm.0)?);
    Ok(register(Some(old.communicator.dup(attributes, info)?), &old))
}

pub(crate) unsafe fn dup(comm: Comm, new: *mut Comm) -> Result {
    *new = dup_as(comm, Hints::TheOldOnes)?;
    Ok(())
}

pub(crate) unsafe fn dup_with_info(comm: Comm, info: Info, new: *mut Comm) -> Result {
    *new = dup_as(comm, Hints::These(info))?;
    Ok(())
}

/// Creates the communicator at once. It may be used once the request has ended.
unsafe fn idup_as(comm: Comm, hints: Hints, new: *mut Comm, request: *mut Request) -> Result {
    let old = get_object(comm)?;
    let (info, attributes) = (hints.of(&old)?, old.communicator.attributes().copy(comm.0)?);
    let (made, started) = old.communicator.start_dup(attributes, info)?;
    *new = register(Some(made), &old);
    *request = request::register(started);
    Ok(())
}

pub(crate) unsafe fn idup(comm: Comm, new: *mut Comm, request: *mut Request) -> Result {
    idup_as(comm, Hints::TheOldOnes, new, request)
}

pub(crate) unsafe fn idup_with_info(
    comm: Comm,
    info: Info,
    new: *mut Comm,
    request: *mut Request,
) -> Result {
    idup_as(comm, Hints::These(info), new, request)
}

pub(crate) unsafe fn create(comm: Comm, group: Group, new: *mut Comm) -> Result {
    let (old, group) = (get_object(comm)?, group::get(group)?);
    *new = register(old.communicator.create(&group)?, &old);
    Ok(())
}

/// Creates a communicator of a group. Only the members of the group make the call, so the agreement has a tag of the
/// program's choice.
pub(crate) unsafe fn create_group(comm: Comm, group: Group, tag: c_int, new: *mut Comm) -> Result {
    let (old, group) = (get_object(comm)?, group::get(group)?);
    ensure!(tag >= 0, ERR_TAG, "tag {tag}");
    *new = register(old.communicator.create_group(&group, tag as u32)?, &old);
    Ok(())
}

pub(crate) unsafe fn split(comm: Comm, colour: c_int, key: c_int, new: *mut Comm) -> Result {
    let old = get_object(comm)?;
    ensure!(colour >= 0 || colour == UNDEFINED, ERR_ARG, "colour {colour}");
    let colour = u32::try_from(colour).ok();
    *new = register(old.communicator.split(colour, i64::from(key))?, &old);
    Ok(())
}

/// Splits a communicator, and sets the topology of the part.
pub(crate) fn split_with(
    comm: Comm,
    colour: Option<usize>,
    key: usize,
    topology: impl Into<RankTopology>,
) -> Result<Comm> {
    let old = get_object(comm)?;
    let (colour, key) = (colour.map(|colour| colour as u32), key as i64);
    Ok(register(old.communicator.split_with_topology(colour, key, topology)?, &old))
}

/// Returns a handle of the communicator that `make` derives from another.
pub(crate) fn made_of(
    comm: Comm,
    make: impl FnOnce(&Communicator) -> Result<Option<Communicator>>,
) -> Result<Comm> {
    let old = get_object(comm)?;
    Ok(register(make(&old.communicator)?, &old))
}

/// Splits a communicator by type. This library has no parts below the host.
pub(crate) unsafe fn split_type(
    comm: Comm,
    split_type: c_int,
    key: c_int,
    info: Info,
    new: *mut Comm,
) -> Result {
    let old = get_object(comm)?;
    let resource = info::copy_or_none(info)?.get("mpi_hw_resource_type");
    let asks_for_memory = resource.is_some_and(|value| value == "mpi_shared_memory");
    let by_host = match split_type {
        COMM_TYPE_SHARED => true,
        COMM_TYPE_HW_GUIDED | COMM_TYPE_RESOURCE_GUIDED => asks_for_memory,
        COMM_TYPE_HW_UNGUIDED | UNDEFINED => false,
        _ => return Err(error_of(ERR_ARG, format!("split type {split_type}"))),
    };
    *new = register(old.communicator.split_by_host(by_host, i64::from(key))?, &old);
    Ok(())
}
