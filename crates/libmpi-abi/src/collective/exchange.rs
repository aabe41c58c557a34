//! Allgather and all-to-all, in all their variants: every rank has a block for every rank.

use std::ffi::c_void;

use mpi::{AllToAll, AllToAllUnequal, Allgather, AllgatherUnequal};

use super::blocks::{is_in_place, of_types, unequal, unless_in_place, whole};
use super::go_on;
use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::communicator;
use crate::failure::Result;
use crate::request::How;

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn allgather(
    from: *const c_void,
    count: i64,
    of: Datatype,
    buffer: *mut c_void,
    each: i64,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let mine = unless_in_place(from, count, of)?;
    let all = whole(buffer, each, into, context.size())?;
    go_on(Allgather::new(context, mine, all)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn allgather_unequal(
    from: *const c_void,
    count: i64,
    of: Datatype,
    buffer: *mut c_void,
    counts: IntOrCount,
    places: IntOrCount,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let blocks = unequal(buffer, counts, places, into, context.size())?;
    let mine = unless_in_place(from, count, of)?;
    go_on(AllgatherUnequal::new(context, mine, blocks)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn all_to_all(
    from: *const c_void,
    count: i64,
    of: Datatype,
    buffer: *mut c_void,
    each: i64,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let size = context.size();
    let from = match is_in_place(from) {
        true => None,
        false => Some(whole(from, count, of, size)?),
    };
    let to = whole(buffer, each, into, size)?;
    go_on(AllToAll::new(context, from, to)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn all_to_all_unequal(
    from: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    of: Datatype,
    buffer: *mut c_void,
    receive_counts: IntOrCount,
    receive_places: IntOrCount,
    into: Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let size = context.size();
    let to = unequal(buffer, receive_counts, receive_places, into, size)?;
    let from = match is_in_place(from) {
        true => None,
        false => Some(unequal(from, counts, places, of, size)?),
    };
    go_on(AllToAllUnequal::new(context, from, to, false)?, how)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn all_to_all_types(
    from: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    types: *const Datatype,
    buffer: *mut c_void,
    receive_counts: IntOrCount,
    receive_places: IntOrCount,
    receive_types: *const Datatype,
    comm: Comm,
    how: How,
) -> Result {
    let context = communicator::context(comm)?;
    let size = context.size();
    let to = of_types(buffer, receive_counts, receive_places, receive_types, size)?;
    let from = match is_in_place(from) {
        true => None,
        false => Some(of_types(from, counts, places, types, size)?),
    };
    go_on(AllToAllUnequal::new(context, from, to, true)?, how)
}
