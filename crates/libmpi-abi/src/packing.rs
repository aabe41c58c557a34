//! Packing of data into bytes, in the form of memory and in the portable form.

use std::ffi::{c_char, c_void};

use mpi::Memory;

use crate::abi::*;
use crate::arguments::IntOrCountMut;
use crate::failure::{Result, ensure};
use crate::{communicator, datatype, text};

/// Returns the address of `bytes` bytes after `position` in a buffer of packed data, and the position after them.
unsafe fn packed_at(
    start: *const c_void,
    room: i64,
    position: IntOrCountMut,
    bytes: usize,
) -> Result<(Memory, i64)> {
    let (at, bytes) = (position.read(), bytes as i64);
    ensure!(at >= 0 && at + bytes <= room, ERR_TRUNCATE, "{bytes} bytes at {at} of {room}");
    let start = start.wrapping_byte_offset(at as isize);
    Ok((datatype::memory(start, bytes, BYTE)?, at + bytes))
}

/// MPI_Pack. The communicator has no effect here.
#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn pack(
    from: *const c_void,
    count: i64,
    datatype: Datatype,
    to: *mut c_void,
    room: i64,
    position: IntOrCountMut,
    comm: Comm,
) -> Result {
    communicator::get(comm)?;
    let memory = datatype::memory(from, count, datatype)?;
    let (place, after) = packed_at(to, room, position, memory.bytes())?;
    place.copy_from(&memory);
    position.write(after);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn unpack(
    from: *const c_void,
    size: i64,
    position: IntOrCountMut,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
    comm: Comm,
) -> Result {
    communicator::get(comm)?;
    let memory = datatype::memory(to, count, datatype)?;
    let (place, after) = packed_at(from, size, position, memory.bytes())?;
    memory.copy_from(&place);
    position.write(after);
    Ok(())
}

pub(crate) unsafe fn pack_size(
    count: i64,
    datatype: Datatype,
    comm: Comm,
    size: IntOrCountMut,
) -> Result {
    communicator::get(comm)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    size.write(count * datatype::get(datatype)?.size());
    Ok(())
}

/// Only one portable form has a name.
unsafe fn check(form: *const c_char) -> Result {
    let form = text::read(form)?;
    ensure!(form == "external32", ERR_ARG, "no data representation {form:?}");
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
    position: IntOrCountMut,
) -> Result {
    check(form)?;
    let memory = datatype::memory(from, count, datatype)?;
    memory.of().portable_bytes(count)?;
    let portable = memory.of().to_portable(&memory.packed())?;
    let (place, after) = packed_at(to, room, position, portable.len())?;
    place.unpack_from(&portable);
    position.write(after);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn unpack_external(
    form: *const c_char,
    from: *const c_void,
    size: i64,
    position: IntOrCountMut,
    to: *mut c_void,
    count: i64,
    datatype: Datatype,
) -> Result {
    check(form)?;
    let memory = datatype::memory(to, count, datatype)?;
    let bytes = memory.of().portable_bytes(count)?;
    let (place, after) = packed_at(from, size, position, bytes as usize)?;
    memory.unpack_from(&memory.of().from_portable(&place.packed(), count));
    position.write(after);
    Ok(())
}

pub(crate) unsafe fn pack_external_size(
    form: *const c_char,
    count: i64,
    datatype: Datatype,
    size: IntOrCountMut,
) -> Result {
    check(form)?;
    ensure!(count >= 0, ERR_COUNT, "a count of {count}");
    size.write(datatype::get(datatype)?.portable_bytes(count)?);
    Ok(())
}
