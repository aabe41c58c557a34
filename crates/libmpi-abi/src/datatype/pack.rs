//! Moving data between memory as a datatype describes it and plain bytes.

use std::ffi::c_void;
use std::rc::Rc;

use super::{Type, get_committed};
use crate::abi::*;
use crate::failure::{Result, ensure};
use crate::numbers::NumberOut;

/// More cannot lie in memory, and its addresses cannot be counted.
const MOST_BYTES: i64 = i64::MAX / 2;

/// Some memory of the user, seen through a datatype.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) start: *mut u8,
    pub(crate) count: i64,
    pub(crate) of: Rc<Type>,
}

impl Memory {
    /// Checks a buffer argument.
    #[inline]
    pub(crate) fn new(start: *const c_void, count: i64, datatype: Datatype) -> Result<Memory> {
        ensure!(count >= 0, ERR_COUNT, "a count of {count}");
        let of = get_committed(datatype)?;
        // An absolute type of addresses goes with MPI_BOTTOM, which is null; others need a buffer if there is data.
        let missing = start.is_null() && count > 0 && of.size > 0 && of.true_lower == 0;
        ensure!(!missing, ERR_BUFFER, "the buffer is a null pointer");
        // Where there is no data, an address of 1 is also what an empty vector has.
        let in_place = start as usize == IN_PLACE && count > 0 && of.size > 0;
        ensure!(!in_place, ERR_BUFFER, "MPI_IN_PLACE has no meaning for this buffer");
        let fits = count.checked_mul(of.size).is_some_and(|bytes| bytes <= MOST_BYTES);
        ensure!(fits, ERR_COUNT, "{count} elements of {} bytes are too many", of.size);
        Ok(Memory { start: start.cast_mut().cast(), count, of })
    }

    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        (self.count * self.of.size) as usize
    }

    /// Where the data lies, if it lies in one piece. Of no data that is a place that is never null, as slices want it.
    #[inline]
    pub(crate) fn in_one_piece(&self) -> Option<*mut u8> {
        if self.bytes() == 0 {
            return Some(std::ptr::dangling_mut());
        }
        if self.of.dense {
            return Some(self.start);
        }
        let single = self.count == 1 && self.of.runs.len() == 1;
        single.then(|| self.start.wrapping_offset(self.of.runs[0].offset as isize))
    }

    /// Whether it and another have bytes in common, as far as can be told without looking at every element: for data in one
    /// piece, and for the same buffer of the same type.
    pub(crate) fn overlaps(&self, other: &Memory) -> bool {
        let (bytes, others) = (self.bytes(), other.bytes());
        if bytes == 0 || others == 0 {
            return false;
        }
        match (self.in_one_piece(), other.in_one_piece()) {
            (Some(one), Some(two)) => {
                let (one, two) = (one as usize, two as usize);
                one < two.wrapping_add(others) && two < one.wrapping_add(bytes)
            }
            _ => self.start == other.start && Rc::ptr_eq(&self.of, &other.of),
        }
    }

    /// A part of it: `count` elements from element `first` on.
    pub(crate) fn part(&self, first: i64, count: i64) -> Memory {
        let start = self.start.wrapping_offset((first * self.of.extent) as isize);
        Memory { start, count, of: self.of.clone() }
    }

    /// Calls `with` for each piece of the data in its order, until that says no.
    fn pieces(&self, mut with: impl FnMut(*mut u8, usize) -> bool) {
        if let Some(start) = self.in_one_piece() {
            with(start, self.bytes());
            return;
        }
        for index in 0..self.count {
            for run in &self.of.runs {
                let offset = index * self.of.extent + run.offset;
                if !with(self.start.wrapping_offset(offset as isize), run.bytes() as usize) {
                    return;
                }
            }
        }
    }

    /// Copies the data out.
    ///
    /// # Safety
    /// The memory is what the datatype says, and `to` has room for its bytes.
    pub(crate) unsafe fn pack(&self, to: *mut u8) {
        let mut done = 0;
        self.pieces(|piece, bytes| {
            // SAFETY: our caller's promise.
            unsafe { std::ptr::copy(piece, to.add(done), bytes) };
            done += bytes;
            true
        });
    }

    /// Copies the data out, into a buffer of its own.
    ///
    /// # Safety
    /// The memory is what the datatype says.
    pub(crate) unsafe fn packed(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes()];
        self.pack(bytes.as_mut_ptr());
        bytes
    }

    /// Copies data in, as much as there is.
    ///
    /// # Safety
    /// The memory is what the datatype says, and `from` has `bytes` bytes.
    pub(crate) unsafe fn unpack(&self, from: *const u8, bytes: usize) {
        let mut done = 0;
        self.pieces(|piece, room| {
            let here = room.min(bytes - done);
            // SAFETY: our caller's promise.
            unsafe { std::ptr::copy(from.add(done), piece, here) };
            done += here;
            done < bytes
        });
    }

    /// Copies from memory of another shape but the same data, as far as both go.
    ///
    /// # Safety
    /// Both are what their datatypes say.
    pub(crate) unsafe fn copy_from(&self, from: &Memory) {
        match (from.in_one_piece(), self.in_one_piece()) {
            (Some(start), _) => self.unpack(start, from.bytes().min(self.bytes())),
            (None, Some(start)) if from.bytes() <= self.bytes() => from.pack(start),
            _ => {
                let packed = from.packed();
                self.unpack(packed.as_ptr(), packed.len().min(self.bytes()));
            }
        }
    }
}

/// MPI_Pack. The communicator changes nothing here.
#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn pack(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    to: *mut c_void,
    room: i64,
    position: NumberOut,
    comm: Comm,
) -> Result {
    crate::communicator::get(comm)?;
    pack_at(Memory::new(from, count, datatype)?, to, room, position)
}

/// Packs behind `position`, and moves that on.
pub(super) unsafe fn pack_at(
    memory: Memory,
    to: *mut c_void,
    room: i64,
    position: NumberOut,
) -> Result {
    let (at, bytes) = (position.read(), memory.bytes() as i64);
    ensure!(at >= 0 && at + bytes <= room, ERR_TRUNCATE, "{bytes} bytes at {at} of {room}");
    memory.pack(to.cast::<u8>().add(at as usize));
    position.write(at + bytes);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn unpack(
    from: *const c_void,
    size: i64,
    position: NumberOut,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
    comm: Comm,
) -> Result {
    crate::communicator::get(comm)?;
    unpack_at(from, size, position, Memory::new(to, count, datatype)?)
}

pub(super) unsafe fn unpack_at(
    from: *const c_void,
    size: i64,
    position: NumberOut,
    to: Memory,
) -> Result {
    let (at, bytes) = (position.read(), to.bytes() as i64);
    ensure!(at >= 0 && at + bytes <= size, ERR_TRUNCATE, "{bytes} bytes at {at} of {size}");
    to.unpack(from.cast::<u8>().add(at as usize), bytes as usize);
    position.write(at + bytes);
    Ok(())
}

pub(crate) unsafe fn pack_size(
    count: i64,
    datatype: Datatype,
    comm: Comm,
    size: NumberOut,
) -> Result {
    crate::communicator::get(comm)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    size.write(count * super::get(datatype)?.size);
    Ok(())
}
