//! Packing of data into bytes, in the form of memory and in the portable form.

use std::ffi::{c_char, c_void};

use mpi::Memory;

use crate::abi::*;
use crate::arguments::{Data, IntOrCountMut};
use crate::failure::{Result, ensure};
use crate::{communicator, datatype, text};

/// Returns the next `bytes` bytes of a buffer of packed data, and moves the position behind them.
unsafe fn next(
    start: *const c_void,
    room: i64,
    position: IntOrCountMut,
    bytes: usize,
) -> Result<Memory> {
    let (at, bytes) = (position.read(), bytes as i64);
    ensure!(at >= 0 && at + bytes <= room, ERR_TRUNCATE, "{bytes} bytes at {at} of {room}");
    let place = datatype::memory(start.wrapping_byte_offset(at as isize), bytes, BYTE)?;
    position.write(at + bytes);
    Ok(place)
}

unsafe fn memory(data: Data) -> Result<Memory> {
    datatype::memory(data.start, data.count, data.of)
}

/// Implements MPI_Pack. The communicator has no effect here.
pub(crate) unsafe fn pack(
    from: Data,
    to: *mut c_void,
    room: i64,
    position: IntOrCountMut,
    comm: Comm,
) -> Result {
    communicator::get(comm)?;
    let memory = memory(from)?;
    next(to, room, position, memory.bytes())?.copy_from(&memory);
    Ok(())
}

pub(crate) unsafe fn unpack(
    from: *const c_void,
    size: i64,
    position: IntOrCountMut,
    to: Data,
    comm: Comm,
) -> Result {
    communicator::get(comm)?;
    let memory = memory(to)?;
    memory.copy_from(&next(from, size, position, memory.bytes())?);
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

/// Checks the name of a data representation. Only one portable form has a name.
unsafe fn check(form: *const c_char) -> Result {
    let form = text::read(form)?;
    ensure!(form == "external32", ERR_ARG, "no data representation {form:?}");
    Ok(())
}

pub(crate) unsafe fn pack_external(
    form: *const c_char,
    from: Data,
    to: *mut c_void,
    room: i64,
    position: IntOrCountMut,
) -> Result {
    check(form)?;
    let memory = memory(from)?;
    memory.of().portable_bytes(from.count)?;
    let portable = memory.of().to_portable(&memory.packed())?;
    next(to, room, position, portable.len())?.unpack_from(&portable);
    Ok(())
}

pub(crate) unsafe fn unpack_external(
    form: *const c_char,
    from: *const c_void,
    size: i64,
    position: IntOrCountMut,
    to: Data,
) -> Result {
    check(form)?;
    let memory = memory(to)?;
    let bytes = memory.of().portable_bytes(to.count)?;
    let portable = next(from, size, position, bytes as usize)?;
    memory.unpack_from(&memory.of().from_portable(&portable.packed(), to.count));
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
