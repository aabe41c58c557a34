//! Reductions: reduce, allreduce, scan, exscan and reduce-scatter.

use std::ffi::{c_int, c_void};

use mpi::{Allreduce, Memory, Reduce, ReduceScatter, Reduction, Scan, ScanKind};

use super::blocks::{is_in_place, unless_in_place};
use super::go_on;
use super::root::check_root;
use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::communicator;
use crate::datatype;
use crate::failure::{Result, ensure};
use crate::operation;
use crate::request::How;

/// What is combined and how, and where the result goes.
struct Terms {
    reduction: Reduction,
    /// None where it is in the place of the result.
    input: Option<Memory>,
    output: Memory,
}

impl Terms {
    /// A reduction of `count` elements, of which this rank gets `wanted`.
    #[inline]
    unsafe fn new(
        from: *const c_void,
        to: *mut c_void,
        (count, wanted): (i64, i64),
        of: Datatype,
        op: Op,
    ) -> Result<Terms> {
        let reduction = operation::reduction(op, of)?;
        let input = unless_in_place(from, count, of)?;
        let room = if input.is_some() { wanted } else { count };
        let output = datatype::memory(to, room, of)?;
        Ok(Terms { reduction, input, output })
    }
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn reduce(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    of: Datatype,
    op: Op,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let root = check_root(&context, root)?;
    if context.rank() == root {
        let Terms { reduction, input, output } = Terms::new(from, to, (count, count), of, op)?;
        return go_on(Reduce::new(context, root, reduction, input, Some(output))?, how);
    }
    // Away from the root there is no result, and its argument may be anything.
    ensure!(!is_in_place(from), ERR_BUFFER, "MPI_IN_PLACE away from the root");
    let reduction = operation::reduction(op, of)?;
    let input = datatype::memory(from, count, of)?;
    go_on(Reduce::new(context, root, reduction, Some(input), None)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn allreduce(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    of: Datatype,
    op: Op,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let Terms { reduction, input, output } = Terms::new(from, to, (count, count), of, op)?;
    go_on(Allreduce::new(context, reduction, input, output)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn scan(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    of: Datatype,
    op: Op,
    comm: Comm,
    kind: ScanKind,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let Terms { reduction, input, output } = Terms::new(from, to, (count, count), of, op)?;
    go_on(Scan::new(context, kind, reduction, input, output)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn reduce_scatter(
    from: *const c_void,
    to: *mut c_void,
    counts: IntOrCount,
    of: Datatype,
    op: Op,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let counts = counts.read(context.size());
    for &count in &counts {
        ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    }
    let all = counts.iter().fold(0_i64, |sum, &count| sum.saturating_add(count));
    let own = counts[context.rank()];
    let Terms { reduction, input, output } = Terms::new(from, to, (all, own), of, op)?;
    go_on(ReduceScatter::new(context, reduction, counts, input, output)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn reduce_scatter_block(
    from: *const c_void,
    to: *mut c_void,
    count: i64,
    of: Datatype,
    op: Op,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    let all = count.saturating_mul(context.size() as i64);
    let Terms { reduction, input, output } = Terms::new(from, to, (all, count), of, op)?;
    go_on(ReduceScatter::of_equal_counts(context, reduction, count, input, output)?, how)
}
