//! Allgather and all-to-all, in all their variants.

use mpi::{AllToAll, AllToAllUnequal, Allgather, AllgatherUnequal};

use super::between::{self, is_between};
use super::blocks::{BlockOfEach, unequal, unless_in_place, whole};
use super::carry_out;
use crate::abi::*;
use crate::arguments::{Blocks, Data, is_in_place};
use crate::communicator;
use crate::failure::Result;
use crate::request::How;

pub(crate) unsafe fn allgather(mine: Data, each: Data, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::allgather(context, mine, each, how);
    }
    let mine = unless_in_place(mine)?;
    let all = whole(each, context.size())?;
    carry_out(Allgather::new(context, mine, all)?, how)
}

pub(crate) unsafe fn allgather_unequal(
    mine: Data,
    all: Blocks<Datatype>,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::allgather(context, mine, all, how);
    }
    let blocks = unequal(all, context.size())?;
    carry_out(AllgatherUnequal::new(context, unless_in_place(mine)?, blocks)?, how)
}

pub(crate) unsafe fn all_to_all(from: Data, to: Data, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::all_to_all(context, from, to, how);
    }
    let size = context.size();
    let from = if is_in_place(from.start) { None } else { Some(whole(from, size)?) };
    let to = whole(to, size)?;
    carry_out(AllToAll::new(context, from, to)?, how)
}

/// Implements MPI_Alltoallv, and MPI_Alltoallw, whose blocks have datatypes of their own.
pub(crate) unsafe fn all_to_all_unequal<T>(
    from: Blocks<T>,
    to: Blocks<T>,
    comm: Comm,
    how: How,
) -> Result
where
    Blocks<T>: BlockOfEach,
{
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::all_to_all(context, from, to, how);
    }
    let size = context.size();
    let to = to.blocks(size)?;
    let from = if is_in_place(from.start) { None } else { Some(from.blocks(size)?) };
    carry_out(AllToAllUnequal::new(context, from, to, Blocks::<T>::OWN_DATATYPES)?, how)
}
