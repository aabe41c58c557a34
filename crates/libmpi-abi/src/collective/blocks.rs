//! Memory of collectives as C gives it.

use std::ffi::c_void;

use mpi::Memory;

use crate::abi::*;
use crate::arguments::IntOrCount;
use crate::datatype;
use crate::failure::{Result, ensure};

pub(super) fn is_in_place(buffer: *const c_void) -> bool {
    buffer as usize == IN_PLACE
}

/// A buffer that is not looked at if it is MPI_IN_PLACE.
#[inline]
pub(super) unsafe fn unless_in_place(
    buffer: *const c_void,
    count: i64,
    of: Datatype,
) -> Result<Option<Memory>> {
    if is_in_place(buffer) { Ok(None) } else { datatype::memory(buffer, count, of).map(Some) }
}

/// Blocks of equal counts as one memory.
#[inline]
pub(super) unsafe fn whole(
    buffer: *const c_void,
    count: i64,
    of: Datatype,
    blocks: usize,
) -> Result<Memory> {
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    datatype::memory(buffer, count.saturating_mul(blocks as i64), of)
}

/// Blocks of counts and places, in elements.
pub(super) unsafe fn unequal(
    buffer: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    of: Datatype,
    blocks: usize,
) -> Result<Vec<Memory>> {
    let (counts, places) = (counts.read(blocks), places.read(blocks));
    let one = |(count, place): (i64, i64)| {
        let first = datatype::memory(buffer, count, of)?;
        let offset = place.wrapping_mul(first.of().extent());
        let start = first.start().wrapping_offset(offset as isize);
        Memory::new(start, count, first.of().clone())
    };
    counts.into_iter().zip(places).map(one).collect()
}

/// Blocks of counts, places in bytes, and types of their own.
pub(super) unsafe fn of_types(
    buffer: *const c_void,
    counts: IntOrCount,
    places: IntOrCount,
    types: *const Datatype,
    blocks: usize,
) -> Result<Vec<Memory>> {
    let missing = blocks > 0 && (counts.is_null() || places.is_null() || types.is_null());
    ensure!(!missing, ERR_ARG, "an array of counts, places or types is a null pointer");
    let (counts, places) = (counts.read(blocks), places.read(blocks));
    let one = |index: usize| {
        let start = buffer.wrapping_byte_offset(places[index] as isize);
        datatype::memory(start, counts[index], *types.add(index))
    };
    (0..blocks).map(one).collect()
}
