//! Reads and writes.

use std::ffi::c_void;

use mpi::{Direction, Members, Position};

use super::get;
use crate::abi::*;
use crate::arguments::Data;
use crate::datatype;
use crate::failure::Result;
use crate::request;
use crate::status::Status;

pub(crate) unsafe fn transfer(
    fh: File,
    data: Data,
    status: *mut Status,
    direction: Direction,
    position: Position,
    members: Members,
) -> Result {
    let file = get(fh)?;
    let memory = datatype::memory(data.start, data.count, data.of)?;
    let found = file.transfer(direction, position, members, &memory)?;
    Status::from(found).give(status);
    Ok(())
}

pub(crate) unsafe fn transfer_at(
    fh: File,
    offset: i64,
    data: Data,
    status: *mut Status,
    direction: Direction,
    members: Members,
) -> Result {
    transfer(fh, data, status, direction, Position::At(offset), members)
}

pub(crate) unsafe fn start(
    fh: File,
    data: Data,
    place: *mut Request,
    direction: Direction,
    position: Position,
) -> Result {
    let file = get(fh)?;
    let memory = datatype::memory(data.start, data.count, data.of)?;
    *place = request::register(file.start(direction, position, &memory)?);
    Ok(())
}

pub(crate) unsafe fn start_at(
    fh: File,
    offset: i64,
    data: Data,
    place: *mut Request,
    direction: Direction,
) -> Result {
    start(fh, data, place, direction, Position::At(offset))
}

pub(crate) unsafe fn begin(
    fh: File,
    data: Data,
    direction: Direction,
    position: Position,
) -> Result {
    let file = get(fh)?;
    let memory = datatype::memory(data.start, data.count, data.of)?;
    file.begin(direction, position, &memory)
}

pub(crate) unsafe fn begin_at(fh: File, offset: i64, data: Data, direction: Direction) -> Result {
    begin(fh, data, direction, Position::At(offset))
}

/// Ends a split collective operation. Its buffer was passed at the beginning.
pub(crate) unsafe fn end(
    fh: File,
    _buffer: *const c_void,
    status: *mut Status,
    direction: Direction,
) -> Result {
    Status::from(get(fh)?.end(direction)?).give(status);
    Ok(())
}
