//! Broadcast, gather and scatter.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Broadcast, Context, Gather, GatherUnequal, Scatter, ScatterUnequal};

use super::blocks::{unequal, unless_in_place, whole};
use super::go_on;
use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::chosen::Chosen;
use crate::communicator;
use crate::datatype;
use crate::failure::{Result, error_of};
use crate::request::How;

/// A root argument.
#[inline]
pub(super) fn check_root(context: &Rc<Context<Chosen>>, root: c_int) -> Result<usize> {
    let known = usize::try_from(root).ok().filter(|&root| root < context.size());
    known.ok_or_else(|| {
        error_of(ERR_ROOT, format!("root {root} of a communicator of {}", context.size()))
    })
}

pub(crate) unsafe fn broadcast(
    buffer: *mut c_void,
    count: i64,
    of: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let root = check_root(&context, root)?;
    go_on(Broadcast::new(context, root, datatype::memory(buffer, count, of)?)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn gather(
    from: *const c_void,
    count: i64,
    of: Datatype,
    buffer: *mut c_void,
    each: i64,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let root = check_root(&context, root)?;
    let mine = unless_in_place(from, count, of)?;
    let all = match context.rank() == root {
        true => Some(whole(buffer, each, into, context.size())?),
        false => None,
    };
    go_on(Gather::new(context, root, mine, all)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn gather_unequal(
    from: *const c_void,
    count: i64,
    of: Datatype,
    buffer: *mut c_void,
    counts: IntOrCount,
    places: IntOrCount,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let root = check_root(&context, root)?;
    let blocks = match context.rank() == root {
        true => unequal(buffer, counts, places, into, context.size())?,
        false => vec![],
    };
    let mine = unless_in_place(from, count, of)?;
    go_on(GatherUnequal::new(context, root, mine, blocks)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn scatter(
    from: *const c_void,
    each: i64,
    of: Datatype,
    buffer: *mut c_void,
    count: i64,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let root = check_root(&context, root)?;
    let mine = unless_in_place(buffer, count, into)?;
    let all = match context.rank() == root {
        true => Some(whole(from, each, of, context.size())?),
        false => None,
    };
    go_on(Scatter::new(context, root, all, mine)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn scatter_unequal(
    from: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    of: Datatype,
    buffer: *mut c_void,
    count: i64,
    into: Datatype,
    root: c_int,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let root = check_root(&context, root)?;
    let blocks = match context.rank() == root {
        true => unequal(from, counts, places, of, context.size())?,
        false => vec![],
    };
    let mine = unless_in_place(buffer, count, into)?;
    go_on(ScatterUnequal::new(context, root, blocks, mine)?, how)
}
