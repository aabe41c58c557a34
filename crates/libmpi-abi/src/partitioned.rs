//! Partitioned communication: its C arguments.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Context, Memory, Partitioned, Peer};

use crate::abi::*;
use crate::arguments::{Data, Partner, array};
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::{Result, ensure};
use crate::point;
use crate::request;

/// Function that creates one side of a message, and its request.
type Side = fn(
    Rc<Context<Chosen>>,
    Memory,
    usize,
    Peer,
    u32,
) -> Result<(Partitioned<Chosen>, mpi::Request<Chosen>)>;

/// Implements MPI_Psend_init and MPI_Precv_init, as `side` specifies.
#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn init(
    start: *const c_void,
    partitions: c_int,
    count: i64,
    of: Datatype,
    with: Partner,
    comm: Comm,
    _info: Info,
    request: *mut Request,
    side: Side,
) -> Result {
    ensure!(partitions > 0, ERR_ARG, "{partitions} partitions");
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    let all = Data::new(start, count.saturating_mul(partitions.into()), of);
    let memory = point::memory(all, 0)?;
    let communicator = communicator::get(comm)?;
    let (tag, peer) = (point::check_tag(with.tag)?, point::destination(&communicator, with.rank)?);
    let context = communicator.context().clone();
    let (partitioned, made) = side(context, memory, partitions as usize, peer, tag)?;
    *request = request::register_partitioned(made, partitioned);
    Ok(())
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
