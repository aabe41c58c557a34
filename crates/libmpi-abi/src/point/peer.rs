//! Ranks and tags from C arguments.

use std::ffi::c_int;

use mpi::{Memory, Peer};

use crate::abi::*;
use crate::arguments::Data;
use crate::communicator::Communicator;
use crate::datatype;
use crate::failure::{Error, Result, error_of};

pub(crate) fn check_tag(tag: c_int) -> Result<u32> {
    u32::try_from(tag).map_err(|_| error_of(ERR_TAG, format!("tag {tag}")))
}

/// Returns the tag that a receive or probe accepts, or `None` for any.
pub(super) fn accepted_tag(tag: c_int) -> Result<Option<u32>> {
    if tag == ANY_TAG { Ok(None) } else { check_tag(tag).map(Some) }
}

fn no_rank(communicator: &Communicator, rank: c_int) -> Error {
    let size = communicator.size();
    error_of(ERR_RANK, format!("rank {rank} of a communicator of {size}"))
}

/// Returns the destination of a message. The rank is checked later.
pub(crate) fn destination(communicator: &Communicator, rank: c_int) -> Result<Peer> {
    match rank {
        PROC_NULL => Ok(Peer::Nobody),
        _ => u32::try_from(rank).map(Peer::Rank).map_err(|_| no_rank(communicator, rank)),
    }
}

/// Returns the source of a message.
pub(super) fn source(communicator: &Communicator, rank: c_int) -> Result<Peer> {
    if rank == ANY_SOURCE { Ok(Peer::Any) } else { destination(communicator, rank) }
}

/// Returns the buffer of a message. With MPI_PROC_NULL there are no data, so the other arguments do not matter.
#[inline]
pub(crate) unsafe fn memory(data: Data, peer: c_int) -> Result<Memory> {
    let nothing = peer == PROC_NULL && data.of == DATATYPE_NULL;
    match nothing {
        true => datatype::memory(data.start, 0, BYTE),
        false => datatype::memory(data.start, data.count, data.of),
    }
}
