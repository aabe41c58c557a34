//! Partitioned communication: its C arguments.

use std::ffi::{c_int, c_void};

use mpi::{Memory, Partitioned};

use crate::abi::*;
use crate::arguments::{Data, array};
use crate::chosen::Chosen;
use crate::communicator::{self, Communicator};
use crate::failure::{Result, ensure};
use crate::point;
use crate::request;

/// Returns the memory of all partitions.
unsafe fn memory(
    start: *const c_void,
    partitions: c_int,
    count: i64,
    of: Datatype,
) -> Result<Memory> {
    ensure!(partitions > 0, ERR_ARG, "{partitions} partitions");
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    point::memory(Data::new(start, count.saturating_mul(partitions.into()), of), 0)
}

/// Creates one side of a message, and registers its request.
unsafe fn make(
    comm: Comm,
    (rank, tag): (c_int, c_int),
    request: *mut Request,
    side: impl FnOnce(
        &Communicator,
        mpi::Peer,
        u32,
    ) -> Result<(Partitioned<Chosen>, mpi::Request<Chosen>)>,
) -> Result {
    let communicator = communicator::get(comm)?;
    let (tag, peer) = (point::check_tag(tag)?, point::destination(&communicator, rank)?);
    let (partitioned, made) = side(&communicator, peer, tag)?;
    *request = request::register_partitioned(made, partitioned);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn send(
    start: *const c_void,
    partitions: c_int,
    count: i64,
    of: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    let memory = memory(start, partitions, count, of)?;
    make(comm, (to, tag), request, |communicator, to, tag| {
        Partitioned::send(communicator.context().clone(), memory, partitions as usize, to, tag)
    })
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn receive(
    start: *mut c_void,
    partitions: c_int,
    count: i64,
    of: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    let memory = memory(start, partitions, count, of)?;
    make(comm, (from, tag), request, |communicator, from, tag| {
        Partitioned::receive(communicator.context().clone(), memory, partitions as usize, from, tag)
    })
}

pub(crate) unsafe fn ready(partition: c_int, request: Request) -> Result {
    request::partitioned(request)?.ready(partition.into())
}

pub(crate) unsafe fn ready_range(first: c_int, last: c_int, request: Request) -> Result {
    let partitioned = request::partitioned(request)?;
    ensure!(first <= last, ERR_ARG, "partitions {first} to {last}");
    (first..=last).try_for_each(|one| partitioned.ready(one.into()))
}

pub(crate) unsafe fn ready_list(
    count: c_int,
    partitions: *const c_int,
    request: Request,
) -> Result {
    let partitioned = request::partitioned(request)?;
    array(partitions, count, "partitions")?
        .iter()
        .try_for_each(|&one| partitioned.ready(one.into()))
}

pub(crate) unsafe fn has_arrived(request: Request, partition: c_int, flag: *mut c_int) -> Result {
    let arrived = match request {
        REQUEST_NULL => true,
        _ => request::partitioned(request)?.has_arrived(partition.into())?,
    };
    *flag = c_int::from(arrived);
    Ok(())
}
