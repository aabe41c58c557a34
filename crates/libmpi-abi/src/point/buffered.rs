//! Buffered sends: the data is copied, and the call returns.
//!
//! The copies lie on our own heap; what the program attaches only says how much may be under way at once, as the standard
//! counts it: the data and MPI_BSEND_OVERHEAD for each message.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use contract::Request as Started;
use fabric_shm::ShmEndpoint as Endpoint;

use crate::abi::*;
use crate::arguments::IntOrCountMut;
use crate::communicator;
use crate::failure::{Result, ensure};
use crate::process::{check_running, endpoint, process};
use crate::request::{self, Action};

/// What is attached, and what is under way.
#[derive(Default)]
pub(crate) struct SendBuffer {
    attached: Cell<Option<(*mut c_void, i64)>>,
    under_way: RefCell<Vec<(Started, Vec<u8>)>>,
}

impl SendBuffer {
    pub(crate) fn is_attached(&self) -> bool {
        self.attached.get().is_some()
    }

    fn is_automatic(&self) -> bool {
        self.attached.get().is_some_and(|(start, _)| start as usize == BUFFER_AUTOMATIC)
    }

    /// Sends a copy.
    ///
    /// # Safety
    /// None beyond the endpoint's: the copy is kept until it has gone.
    pub(super) unsafe fn send(&self, to: usize, context: u32, tag: u32, data: Vec<u8>) -> Result {
        let mut endpoint = endpoint()?;
        endpoint.progress()?;
        self.forget_ended(&mut endpoint);
        let overhead = i64::from(BSEND_OVERHEAD);
        let used: i64 =
            self.under_way.borrow().iter().map(|(_, copy)| copy.len() as i64 + overhead).sum();
        let needed = data.len() as i64 + overhead;
        let size = self.attached.get().map_or(0, |(_, size)| size);
        let fits = self.is_automatic() || used + needed <= size;
        ensure!(
            fits,
            ERR_BUFFER,
            "{needed} bytes are needed, and {} of the attached buffer are left",
            size - used
        );
        let (start, bytes) = (data.as_ptr(), data.len());
        let started = endpoint.start_send(to, context, tag, start, bytes, false)?;
        self.under_way.borrow_mut().push((started, data));
        self.forget_ended(&mut endpoint);
        Ok(())
    }

    fn forget_ended(&self, endpoint: &mut Endpoint) {
        self.under_way.borrow_mut().retain(|(started, _)| {
            let ended = endpoint.is_done(*started);
            if ended {
                endpoint.end(*started);
            }
            !ended
        });
    }

    pub(crate) fn is_empty(&self, endpoint: &Endpoint) -> bool {
        self.under_way.borrow().iter().all(|(started, _)| endpoint.is_done(*started))
    }

    /// Waits until everything has gone.
    pub(crate) fn flush(&self) -> Result {
        if self.under_way.borrow().is_empty() {
            return Ok(());
        }
        request::wait_until(&mut |endpoint| self.is_empty(endpoint))?;
        self.forget_ended(&mut *endpoint()?);
        Ok(())
    }

    fn attach(&self, buffer: *mut c_void, size: i64) -> Result {
        check_running()?;
        ensure!(!self.is_attached(), ERR_BUFFER, "a buffer is attached already");
        ensure!(size >= 0, ERR_ARG, "a buffer of {size} bytes");
        self.attached.set(Some((buffer, size)));
        Ok(())
    }

    unsafe fn detach(&self, place: *mut c_void, size: IntOrCountMut) -> Result {
        check_running()?;
        self.flush()?;
        let (buffer, bytes) = self.attached.take().unwrap_or((std::ptr::null_mut(), 0));
        *place.cast() = buffer;
        size.write(bytes);
        Ok(())
    }
}

pub(crate) unsafe fn attach(buffer: *mut c_void, size: i64) -> Result {
    process().send_buffer.attach(buffer, size)
}

pub(crate) unsafe fn detach(place: *mut c_void, size: IntOrCountMut) -> Result {
    process().send_buffer.detach(place, size)
}

pub(crate) unsafe fn flush() -> Result {
    process().send_buffer.flush()
}

pub(crate) unsafe fn flush_later(request: *mut Request) -> Result {
    check_running()?;
    *request = request::register(Action::Flush(None));
    Ok(())
}

pub(crate) unsafe fn comm_attach(comm: Comm, buffer: *mut c_void, size: i64) -> Result {
    communicator::get(comm)?.buffer.attach(buffer, size)
}

pub(crate) unsafe fn comm_detach(comm: Comm, place: *mut c_void, size: IntOrCountMut) -> Result {
    communicator::get(comm)?.buffer.detach(place, size)
}

pub(crate) unsafe fn comm_flush(comm: Comm) -> Result {
    communicator::get(comm)?.buffer.flush()
}

pub(crate) unsafe fn comm_flush_later(comm: Comm, request: *mut Request) -> Result {
    communicator::get(comm)?;
    *request = request::register(Action::Flush(Some(comm)));
    Ok(())
}
