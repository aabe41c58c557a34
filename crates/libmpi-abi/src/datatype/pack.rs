//! Moving data between memory as a datatype describes it and plain bytes.

use std::ffi::{c_char, c_void};
use std::rc::Rc;

use super::{Type, get_committed};
use crate::bindings::*;
use crate::failure::{Failure, Result, ensure};
use crate::numbers::NumberOut;
use crate::text;

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
        Ok(Memory { start: start.cast_mut().cast(), count, of })
    }

    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        (self.count * self.of.size) as usize
    }

    /// Where the data lies, if it lies in one piece.
    #[inline]
    pub(crate) fn in_one_piece(&self) -> Option<*mut u8> {
        if self.of.dense || self.bytes() == 0 {
            return Some(self.start);
        }
        let single = self.count == 1 && self.of.runs.len() == 1;
        single.then(|| self.start.wrapping_offset(self.of.runs[0].offset as isize))
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

unsafe fn pack_at(memory: Memory, to: *mut c_void, room: i64, position: NumberOut) -> Result {
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

unsafe fn unpack_at(from: *const c_void, size: i64, position: NumberOut, to: Memory) -> Result {
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

/// The portable form has big-endian numbers.
unsafe fn check_portable(form: *const c_char) -> Result {
    let form = text::read(form)?;
    ensure!(form == "external32", ERR_ARG, "no data representation {form:?}");
    Ok(())
}

/// Turns packed data of `of` into the portable form, or back: the bytes of each number are reversed.
fn reverse_numbers(bytes: &mut [u8], of: &Type) -> Result {
    let mut done = 0;
    while done < bytes.len() {
        for run in &of.runs {
            let part = match run.kind {
                super::Kind::LongDouble | super::Kind::ComplexLongDouble => {
                    let what = "long double has another length in external32";
                    return Err(Failure::new(ERR_UNSUPPORTED_OPERATION, what));
                }
                super::Kind::Complex(width) => usize::from(width),
                kind => kind.bytes() as usize,
            };
            let end = done + run.bytes() as usize;
            bytes[done..end].chunks_mut(part).for_each(<[u8]>::reverse);
            done = end;
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn pack_external(
    form: *const c_char,
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    to: *mut c_void,
    room: i64,
    position: NumberOut,
) -> Result {
    check_portable(form)?;
    let memory = Memory::new(from, count, datatype)?;
    let mut bytes = memory.packed();
    reverse_numbers(&mut bytes, &memory.of)?;
    let length = bytes.len() as i64;
    pack_at(Memory::new(bytes.as_ptr().cast(), length, BYTE)?, to, room, position)
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn unpack_external(
    form: *const c_char,
    from: *const c_void,
    size: i64,
    position: NumberOut,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    check_portable(form)?;
    let memory = Memory::new(to, count, datatype)?;
    let mut bytes = vec![0_u8; memory.bytes()];
    let plain = Memory::new(bytes.as_ptr().cast(), bytes.len() as i64, BYTE)?;
    unpack_at(from, size, position, plain)?;
    reverse_numbers(&mut bytes, &memory.of)?;
    memory.unpack(bytes.as_ptr(), bytes.len());
    Ok(())
}

pub(crate) unsafe fn pack_external_size(
    form: *const c_char,
    count: i64,
    datatype: Datatype,
    size: NumberOut,
) -> Result {
    check_portable(form)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    size.write(count * super::get(datatype)?.size);
    Ok(())
}
