//! Memory of collectives from C arguments.

use std::ffi::c_void;

use mpi::Memory;

use crate::abi::*;
use crate::arguments::{Blocks, Data, is_in_place};
use crate::datatype;
use crate::failure::{Error, Result, ensure, error_of};

/// Returns a buffer, or `None` for MPI_IN_PLACE.
#[inline(always)]
pub(super) unsafe fn unless_in_place(data: Data) -> Result<Option<Memory>> {
    match is_in_place(data.start) {
        true => Ok(None),
        false => datatype::memory(data.start, data.count, data.of).map(Some),
    }
}

/// Returns `blocks` blocks of equal counts as one memory.
#[inline(always)]
pub(super) unsafe fn whole(each: Data, blocks: usize) -> Result<Memory> {
    ensure!(each.count >= 0, ERR_COUNT, "a count of {}", each.count);
    datatype::memory(each.start, each.count.saturating_mul(blocks as i64), each.of)
}

/// A buffer with a block for each of some members. MPI_IN_PLACE has no meaning for it, but blocks without data may have
/// its address, which is also that of an empty vector.
pub(crate) trait BlockOfEach {
    /// True if each block has a datatype of its own.
    const OWN_DATATYPES: bool = false;

    /// Returns its address.
    fn start(&self) -> *const c_void;

    /// Returns the blocks, each separately.
    unsafe fn blocks(self, members: usize) -> Result<Vec<Memory>>;
}

impl BlockOfEach for Data {
    fn start(&self) -> *const c_void {
        self.start
    }

    unsafe fn blocks(self, members: usize) -> Result<Vec<Memory>> {
        if is_in_place(self.start) {
            return Err(not_in_place());
        }
        let all = whole(self, members)?;
        Ok((0..members as i64).map(|index| all.part(index * self.count, self.count)).collect())
    }
}

impl BlockOfEach for Blocks<Datatype> {
    fn start(&self) -> *const c_void {
        self.start
    }

    unsafe fn blocks(self, members: usize) -> Result<Vec<Memory>> {
        unequal(self, members)
    }
}

impl BlockOfEach for Blocks<*const Datatype> {
    const OWN_DATATYPES: bool = true;

    fn start(&self) -> *const c_void {
        self.start
    }

    unsafe fn blocks(self, members: usize) -> Result<Vec<Memory>> {
        of_types(self, members)
    }
}

pub(super) fn not_in_place() -> Error {
    error_of(ERR_BUFFER, "MPI_IN_PLACE has no meaning for this buffer")
}

/// Returns blocks of counts and places, in elements.
pub(super) unsafe fn unequal(all: Blocks<Datatype>, blocks: usize) -> Result<Vec<Memory>> {
    let (counts, places) = (all.counts.read(blocks), all.places.read(blocks));
    let one = |(count, place): (i64, i64)| {
        let first = datatype::memory(all.start, count, all.of)?;
        let offset = place.wrapping_mul(first.of().extent());
        let start = first.start().wrapping_offset(offset as isize);
        Memory::new(start, count, first.of().clone())
    };
    counts.into_iter().zip(places).map(one).collect()
}

/// Returns blocks of counts, places in bytes, and types of their own.
unsafe fn of_types(all: Blocks<*const Datatype>, blocks: usize) -> Result<Vec<Memory>> {
    let missing = all.counts.is_null() || all.places.is_null() || all.of.is_null();
    ensure!(
        blocks == 0 || !missing,
        ERR_ARG,
        "an array of counts, places or types is a null pointer"
    );
    let (counts, places) = (all.counts.read(blocks), all.places.read(blocks));
    let one = |index: usize| {
        // `memory` does not see it once a place is added.
        if is_in_place(all.start) && counts[index] > 0 {
            return Err(not_in_place());
        }
        let start = all.start.wrapping_byte_offset(places[index] as isize);
        datatype::memory(start, counts[index], *all.of.add(index))
    };
    (0..blocks).map(one).collect()
}
