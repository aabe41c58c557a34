//! Collective operations: their C arguments.

mod between;
mod blocks;
mod exchange;
mod neighbours;
mod reduce;
mod root;

use mpi::Collective;

pub(crate) use exchange::*;
pub(crate) use neighbours::*;
pub(crate) use reduce::*;
pub(crate) use root::*;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::Result;
use crate::request::{self, How};

/// Runs or starts a collective, as `how` specifies.
#[inline(always)]
unsafe fn carry_out<C: Collective<Chosen>>(call: C, how: How) -> Result {
    // This differs from messages: called through a parameter, the path would no longer be one function.
    match how {
        How::Blocking => return call.run(),
        How::Nonblocking(place) => *place = request::register(call.start()?),
        How::Persistent(place) => *place = request::register(call.persistent()?),
    }
    Ok(())
}

pub(crate) unsafe fn barrier(comm: Comm, how: How) -> Result {
    carry_out(mpi::Barrier::new(communicator::context(comm)?), how)
}
