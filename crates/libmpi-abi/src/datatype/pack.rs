//! Moving data between memory as a datatype describes it and plain bytes.

use std::ffi::{c_char, c_void};
use std::rc::Rc;

use super::{Type, get_committed};
use crate::bindings::*;
use crate::failure::{Result, ensure};
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

/// Which way data goes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Out,
    Home,
}

/// Turns packed data of `of` into the portable form, or back: numbers with their highest byte first.
fn convert(bytes: &mut [u8], of: &Type, way: Way) {
    let mut done = 0;
    while done < bytes.len() {
        for run in &of.runs {
            let (part, long) = match run.kind {
                super::Kind::LongDouble | super::Kind::ComplexLongDouble => (16, true),
                super::Kind::Complex(width) => (usize::from(width), false),
                kind => (kind.bytes() as usize, false),
            };
            let end = done + run.bytes() as usize;
            for number in bytes[done..end].chunks_mut(part) {
                match (long, way) {
                    (true, Way::Out) => to_quad(number),
                    (true, Way::Home) => from_quad(number),
                    (false, _) => number.reverse(),
                }
            }
            done = end;
        }
    }
}

/// From the ten bytes of the x87 to IEEE's sixteen: the exponents are the same, and the leading one of the mantissa goes.
fn to_quad(number: &mut [u8]) {
    let mantissa = u64::from_le_bytes(number[..8].try_into().expect("sixteen bytes"));
    let high = u16::from_le_bytes([number[8], number[9]]);
    let quad = u128::from(high) << 112 | u128::from(mantissa << 1 >> 1) << 49;
    number.copy_from_slice(&quad.to_be_bytes());
}

/// The way back. What the shorter mantissa cannot hold is cut off.
fn from_quad(number: &mut [u8]) {
    let quad = u128::from_be_bytes((&*number).try_into().expect("sixteen bytes"));
    let high = (quad >> 112) as u16;
    let leading = if high & 0x7fff == 0 { 0 } else { 1 << 63 };
    let mantissa = (((quad >> 49) as u64) << 1 >> 1) | leading;
    number.fill(0);
    number[..8].copy_from_slice(&mantissa.to_le_bytes());
    number[8..10].copy_from_slice(&high.to_le_bytes());
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
    convert(&mut bytes, &memory.of, Way::Out);
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
    convert(&mut bytes, &memory.of, Way::Home);
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
