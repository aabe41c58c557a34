//! Broadcast, gather and scatter.

use std::ffi::c_int;
use std::rc::Rc;

use mpi::{Broadcast, Context, Gather, GatherUnequal, Scatter, ScatterUnequal};

use super::between::{self, is_between};
use super::blocks::{unequal, unless_in_place, whole};
use super::carry_out;
use crate::abi::*;
use crate::arguments::{Blocks, Data};
use crate::chosen::Chosen;
use crate::communicator;
use crate::datatype;
use crate::failure::{Result, error_of};
use crate::request::How;

/// Checks a root argument.
#[inline(always)]
pub(super) fn check_root(context: &Rc<Context<Chosen>>, root: c_int) -> Result<usize> {
    let rank = usize::try_from(root).ok().filter(|&root| root < context.size());
    rank.ok_or_else(|| {
        error_of(ERR_ROOT, format!("root {root} of a communicator of {}", context.size()))
    })
}

/// Checks a root argument. Also returns the blocks at the root; other members need none.
#[inline(always)]
fn rooted<T>(
    context: &Rc<Context<Chosen>>,
    root: c_int,
    blocks: impl FnOnce(usize) -> Result<T>,
) -> Result<(usize, Option<T>)> {
    let root = check_root(context, root)?;
    let is_root = context.rank() == root;
    Ok((root, if is_root { Some(blocks(context.size())?) } else { None }))
}

pub(crate) unsafe fn broadcast(data: Data, root: c_int, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::broadcast(context, data, root, how);
    }
    let root = check_root(&context, root)?;
    let memory = datatype::memory(data.start, data.count, data.of)?;
    carry_out(Broadcast::new(context, root, memory)?, how)
}

pub(crate) unsafe fn gather(mine: Data, each: Data, root: c_int, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::gather(context, mine, each, root, how);
    }
    let (root, all) = rooted(&context, root, |members| whole(each, members))?;
    carry_out(Gather::new(context, root, unless_in_place(mine)?, all)?, how)
}

pub(crate) unsafe fn gather_unequal(
    mine: Data,
    all: Blocks<Datatype>,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::gather(context, mine, all, root, how);
    }
    let (root, blocks) = rooted(&context, root, |members| unequal(all, members))?;
    let blocks = blocks.unwrap_or_default();
    carry_out(GatherUnequal::new(context, root, unless_in_place(mine)?, blocks)?, how)
}

pub(crate) unsafe fn scatter(each: Data, mine: Data, root: c_int, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::scatter(context, each, mine, root, how);
    }
    let (root, all) = rooted(&context, root, |members| whole(each, members))?;
    carry_out(Scatter::new(context, root, all, unless_in_place(mine)?)?, how)
}

pub(crate) unsafe fn scatter_unequal(
    all: Blocks<Datatype>,
    mine: Data,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::scatter(context, all, mine, root, how);
    }
    let (root, blocks) = rooted(&context, root, |members| unequal(all, members))?;
    let blocks = blocks.unwrap_or_default();
    carry_out(ScatterUnequal::new(context, root, blocks, unless_in_place(mine)?)?, how)
}
