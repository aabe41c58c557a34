//! The buffers of buffered sends.

use std::cell::Cell;
use std::ffi::c_void;

use mpi::{Capacity, SendBuffer};

use crate::abi::*;
use crate::arguments::{IntOrCountMut, store};
use crate::communicator;
use crate::failure::{Result, ensure};
use crate::process::{check_running, engine, process};
use crate::request;

const _: () = assert!(SendBuffer::OVERHEAD_BYTES == BSEND_OVERHEAD as usize);

/// Address and length of the buffer that a program has attached.
pub(crate) type Attached = Cell<Option<(*mut c_void, i64)>>;

pub(crate) fn attach_to(
    send_buffer: &SendBuffer,
    attached: &Attached,
    buffer: *mut c_void,
    size: i64,
) -> Result {
    check_running()?;
    ensure!(size >= 0, ERR_ARG, "a buffer of {size} bytes");
    send_buffer.attach(match buffer as usize {
        BUFFER_AUTOMATIC => Capacity::Automatic,
        _ => Capacity::Bytes(size as usize),
    })?;
    attached.set(Some((buffer, size)));
    Ok(())
}

pub(crate) unsafe fn detach_from(
    send_buffer: &SendBuffer,
    attached: &Attached,
    place: *mut c_void,
    size: IntOrCountMut,
) -> Result {
    send_buffer.detach(engine()?)?;
    let (buffer, bytes) = attached.take().unwrap_or((std::ptr::null_mut(), 0));
    store(place, buffer);
    size.write(bytes);
    Ok(())
}

pub(crate) unsafe fn attach(buffer: *mut c_void, size: i64) -> Result {
    attach_to(engine()?.send_buffer(), &process().send_buffer, buffer, size)
}

pub(crate) unsafe fn detach(place: *mut c_void, size: IntOrCountMut) -> Result {
    detach_from(engine()?.send_buffer(), &process().send_buffer, place, size)
}

pub(crate) unsafe fn flush() -> Result {
    let engine = engine()?;
    engine.send_buffer().flush(engine)
}

pub(crate) unsafe fn flush_later(request: *mut Request) -> Result {
    let engine = engine()?;
    *request = request::register(mpi::Request::flush(engine, engine.send_buffer().clone()));
    Ok(())
}

pub(crate) unsafe fn comm_attach(comm: Comm, buffer: *mut c_void, size: i64) -> Result {
    let object = communicator::get_object(comm)?;
    attach_to(object.context.send_buffers().own(), &object.of_c.send_buffer, buffer, size)
}

pub(crate) unsafe fn comm_detach(comm: Comm, place: *mut c_void, size: IntOrCountMut) -> Result {
    let object = communicator::get_object(comm)?;
    detach_from(object.context.send_buffers().own(), &object.of_c.send_buffer, place, size)
}

pub(crate) unsafe fn comm_flush(comm: Comm) -> Result {
    communicator::get(comm)?.context().send_buffers().own().flush(engine()?)
}

pub(crate) unsafe fn comm_flush_later(comm: Comm, request: *mut Request) -> Result {
    let buffer = communicator::get(comm)?.context().send_buffers().own().clone();
    *request = request::register(mpi::Request::flush(engine()?, buffer));
    Ok(())
}
