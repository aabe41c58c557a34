//! Collectives of intercommunicators: their C arguments.

use std::ffi::c_int;
use std::rc::Rc;

use mpi::{Between, Context, Memory, RootBetween};

use super::blocks::BlockOfEach;
use super::carry_out;
use crate::abi::*;
use crate::arguments::{Data, IntOrCount, Operands, is_in_place};
use crate::chosen::Chosen;
use crate::datatype;
use crate::failure::{Result, ensure, error_of};
use crate::operation;
use crate::request::How;

type Members = Rc<Context<Chosen>>;

/// Returns whether a communicator has two groups.
#[inline(always)]
pub(super) fn is_between(context: &Members) -> bool {
    context.two_groups().is_some()
}

/// Returns the collectives, and the root as this member sees it.
fn rooted(context: Members, root: c_int) -> Result<(Between<Chosen>, RootBetween)> {
    let between = Between::new(context)?;
    let root = match root {
        ROOT => RootBetween::Me,
        PROC_NULL => RootBetween::NoPart,
        _ => {
            let wrong = || error_of(ERR_ROOT, format!("root {root} of an intercommunicator"));
            between.across(usize::try_from(root).map_err(|_| wrong())?)?
        }
    };
    Ok((between, root))
}

unsafe fn memory(data: Data) -> Result<Memory> {
    ensure!(!is_in_place(data.start), ERR_BUFFER, "MPI_IN_PLACE in an intercommunicator");
    datatype::memory(data.start, data.count, data.of)
}

/// Returns the memory of a member of the group opposite the root; others need none.
unsafe fn across(root: RootBetween, data: Data) -> Result<Option<Memory>> {
    match root {
        RootBetween::Across(_) => memory(data).map(Some),
        _ => Ok(None),
    }
}

pub(super) unsafe fn broadcast(context: Members, data: Data, root: c_int, how: How) -> Result {
    let (between, root) = rooted(context, root)?;
    let data = match root {
        RootBetween::NoPart => datatype::memory(data.start, 0, BYTE)?,
        _ => memory(data)?,
    };
    carry_out(between.broadcast(root, data), how)
}

/// Returns the blocks at the root; others need none.
unsafe fn at_root(
    between: &Between<Chosen>,
    root: RootBetween,
    all: impl BlockOfEach,
) -> Result<Vec<Memory>> {
    match root {
        RootBetween::Me if between.others() > 0 => all.blocks(between.others()),
        _ => Ok(vec![]),
    }
}

pub(super) unsafe fn gather(
    context: Members,
    mine: Data,
    all: impl BlockOfEach,
    root: c_int,
    how: How,
) -> Result {
    let (between, root) = rooted(context, root)?;
    let blocks = at_root(&between, root, all)?;
    carry_out(between.gather(root, across(root, mine)?, blocks)?, how)
}

pub(super) unsafe fn scatter(
    context: Members,
    all: impl BlockOfEach,
    mine: Data,
    root: c_int,
    how: How,
) -> Result {
    let (between, root) = rooted(context, root)?;
    let blocks = at_root(&between, root, all)?;
    carry_out(between.scatter(root, blocks, across(root, mine)?)?, how)
}

pub(super) unsafe fn allgather(
    context: Members,
    mine: Data,
    all: impl BlockOfEach,
    how: How,
) -> Result {
    let between = Between::new(context)?;
    let blocks = all.blocks(between.others())?;
    carry_out(between.allgather(memory(mine)?, blocks)?, how)
}

pub(super) unsafe fn all_to_all<B: BlockOfEach>(
    context: Members,
    from: B,
    to: B,
    how: How,
) -> Result {
    let between = Between::new(context)?;
    ensure!(!is_in_place(from.start()), ERR_BUFFER, "MPI_IN_PLACE in an intercommunicator");
    let others = between.others();
    carry_out(between.all_to_all(from.blocks(others)?, to.blocks(others)?)?, how)
}

pub(super) unsafe fn reduce(
    context: Members,
    operands: Operands<i64>,
    root: c_int,
    how: How,
) -> Result {
    let (between, root) = rooted(context, root)?;
    if root == RootBetween::NoPart {
        return carry_out(between.reduce_without_part(), how);
    }
    let Operands { from, to, count, of, op } = operands;
    let reduction = operation::reduction(op, of)?;
    let input = across(root, Data::new(from, count, of))?;
    let is_root = root == RootBetween::Me;
    let output = if is_root { Some(memory(Data::new(to, count, of))?) } else { None };
    carry_out(between.reduce(root, reduction, input, output), how)
}

pub(super) unsafe fn allreduce(context: Members, operands: Operands<i64>, how: How) -> Result {
    let between = Between::new(context)?;
    let Operands { from, to, count, of, op } = operands;
    let reduction = operation::reduction(op, of)?;
    let input = memory(Data::new(from, count, of))?;
    carry_out(between.allreduce(reduction, input, memory(Data::new(to, count, of))?), how)
}

pub(super) unsafe fn reduce_scatter(
    context: Members,
    operands: Operands<IntOrCount>,
    how: How,
) -> Result {
    let own = context.two_groups().map_or(0, |both| both.own().len());
    let counts = operands.count.read(own);
    reduce_scatter_counts(context, operands.of_count(counts), how)
}

pub(super) unsafe fn reduce_scatter_block(
    context: Members,
    operands: Operands<i64>,
    how: How,
) -> Result {
    let own = context.two_groups().map_or(0, |both| both.own().len());
    let counts = vec![operands.count; own];
    reduce_scatter_counts(context, operands.of_count(counts), how)
}

unsafe fn reduce_scatter_counts(
    context: Members,
    operands: Operands<Vec<i64>>,
    how: How,
) -> Result {
    let Operands { from, to, count: counts, of, op } = operands;
    for &count in &counts {
        ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    }
    let all = counts.iter().fold(0_i64, |sum, &count| sum.saturating_add(count));
    let own = context.two_groups().map_or(0, |both| counts[both.me - both.own().start]);
    let reduction = operation::reduction(op, of)?;
    let input = memory(Data::new(from, all, of))?;
    let output = memory(Data::new(to, own, of))?;
    let between = Between::new(context)?;
    carry_out(between.reduce_scatter(reduction, &counts, input, output)?, how)
}

/// Fails for an intercommunicator, for which scans are not defined.
pub(super) fn check_one_group(context: &Members) -> Result {
    ensure!(!is_between(context), ERR_COMM, "an intercommunicator has no such collective");
    Ok(())
}
