//! Collective operations: their arguments as C gives them.

mod blocks;
mod exchange;
mod reduce;
mod root;

use mpi::Collective;

pub(crate) use exchange::*;
pub(crate) use reduce::*;
pub(crate) use root::*;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::Result;
use crate::request::{self, How};

/// Goes on with a collective as asked.
#[inline]
unsafe fn go_on<C: Collective<Chosen>>(call: C, how: How) -> Result {
    request::go_on(how, call, C::run, C::start, C::persistent)
}

pub(crate) unsafe fn barrier(comm: Comm, how: How) -> Result {
    go_on(mpi::Barrier::new(communicator::context(comm)?), how)
}
