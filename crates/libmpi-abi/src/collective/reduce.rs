//! Reductions: reduce, allreduce, scan, exscan and reduce-scatter.

use std::ffi::{c_int, c_void};

use mpi::{Allreduce, Memory, Reduce, ReduceScatter, Reduction, Scan, ScanKind};

use super::between::{self, is_between};
use super::blocks::unless_in_place;
use super::carry_out;
use super::root::check_root;
use crate::abi::*;
use crate::arguments::{Data, IntOrCount, Operands, is_in_place};
use crate::communicator;
use crate::failure::{Result, ensure};
use crate::operation;
use crate::request::How;

/// Returns the operation, the operands (`None` if they are in the place of the result), and the memory of the result,
/// of which this rank receives `wanted` elements.
#[inline(always)]
unsafe fn of_operands(
    operands: Operands<i64>,
    wanted: i64,
) -> Result<(Reduction, Option<Memory>, Memory)> {
    let Operands { from, to, count, of, op } = operands;
    let reduction = operation::reduction(op, of)?;
    let input = unless_in_place(Data::new(from, count, of))?;
    let room = if input.is_some() { wanted } else { count };
    let output = result(to, room, &reduction)?;
    Ok((reduction, input, output))
}

/// Returns the memory of a result.
#[inline(always)]
unsafe fn result(to: *const c_void, count: i64, reduction: &Reduction) -> Result<Memory> {
    let in_place = is_in_place(to) && count > 0;
    ensure!(!in_place, ERR_BUFFER, "MPI_IN_PLACE has no meaning for this buffer");
    Memory::new(to.cast(), count, reduction.of().clone())
}

pub(crate) unsafe fn reduce(operands: Operands<i64>, root: c_int, comm: Comm, how: How) -> Result {
    let Operands { from, to, count, of, op } = operands;
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::reduce(context, operands, root, how);
    }
    let root = check_root(&context, root)?;
    let is_root = context.rank() == root;
    ensure!(is_root || !is_in_place(from), ERR_BUFFER, "MPI_IN_PLACE away from the root");
    let reduction = operation::reduction(op, of)?;
    let input = unless_in_place(Data::new(from, count, of))?;
    // Only the root has a result; the argument of other ranks may be anything.
    let output = if is_root { Some(result(to, count, &reduction)?) } else { None };
    carry_out(Reduce::new(context, root, reduction, input, output)?, how)
}

pub(crate) unsafe fn allreduce(operands: Operands<i64>, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::allreduce(context, operands, how);
    }
    let (reduction, input, output) = of_operands(operands, operands.count)?;
    carry_out(Allreduce::new(context, reduction, input, output)?, how)
}

pub(crate) unsafe fn scan(operands: Operands<i64>, comm: Comm, kind: ScanKind, how: How) -> Result {
    let context = communicator::context(comm)?;
    between::check_one_group(&context)?;
    let (reduction, input, output) = of_operands(operands, operands.count)?;
    carry_out(Scan::new(context, kind, reduction, input, output)?, how)
}

pub(crate) unsafe fn reduce_scatter(
    operands: Operands<IntOrCount>,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::reduce_scatter(context, operands, how);
    }
    let counts = operands.count.read(context.size());
    for &count in &counts {
        ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    }
    let all = counts.iter().fold(0_i64, |sum, &count| sum.saturating_add(count));
    let own = counts[context.rank()];
    let (reduction, input, output) = of_operands(operands.of_count(all), own)?;
    carry_out(ReduceScatter::new(context, reduction, counts, input, output)?, how)
}

pub(crate) unsafe fn reduce_scatter_block(operands: Operands<i64>, comm: Comm, how: How) -> Result {
    let context = communicator::context(comm)?;
    if is_between(&context) {
        return between::reduce_scatter_block(context, operands, how);
    }
    let count = operands.count;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    let all = count.saturating_mul(context.size() as i64);
    let (reduction, input, output) = of_operands(operands.of_count(all), count)?;
    carry_out(ReduceScatter::of_equal_counts(context, reduction, count, input, output)?, how)
}
