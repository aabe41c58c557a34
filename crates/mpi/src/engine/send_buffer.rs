//! Buffered sends: the data are copied, and the call returns.
//!
//! The copies lie on the library's own heap. The attached buffer only limits the amount in progress, as the standard
//! counts it: the data and an overhead for each message.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use contract::{Completion, Destination, Endpoint, Request};

use super::Engine;
use crate::error::{ErrorClass, Result, ensure};
use crate::memory::Storage;

/// The limit on the data in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// This number of bytes, including [`SendBuffer::OVERHEAD_BYTES`] for each message.
    Bytes(usize),
    /// No limit but the memory.
    Automatic,
}

/// The attached capacity, and the sends in progress.
#[derive(Default)]
pub struct SendBuffer {
    attached: Cell<Option<Capacity>>,
    under_way: RefCell<Vec<(Request, Storage)>>,
}

/// The buffers for the buffered sends of a communicator.
#[derive(Default)]
pub struct SendBuffers {
    /// Its own, if the program has attached one.
    own: Rc<SendBuffer>,
    /// That of several communicators, used if the other has no capacity.
    shared: OnceCell<Rc<SendBuffer>>,
}

impl SendBuffers {
    /// Returns its own buffer.
    pub fn own(&self) -> &Rc<SendBuffer> {
        &self.own
    }

    /// Sets the shared buffer.
    pub fn share(&self, buffer: Rc<SendBuffer>) {
        self.shared.get_or_init(|| buffer);
    }

    /// Returns the buffers of a part or copy of the communicator.
    pub(super) fn of_copy(&self) -> Self {
        SendBuffers { own: Rc::default(), shared: self.shared.clone() }
    }

    /// Returns the buffer that is used: its own, the shared one, or the global one, whichever has a capacity.
    pub(crate) fn in_use<'a, E: Endpoint>(&'a self, engine: &'a Engine<E>) -> &'a SendBuffer {
        let mut own = [Some(&self.own), self.shared.get()].into_iter().flatten();
        own.find(|one| one.is_attached()).unwrap_or(engine.send_buffer())
    }
}

impl SendBuffer {
    /// Overhead of each message in addition to its data: MPI_BSEND_OVERHEAD.
    pub const OVERHEAD_BYTES: usize = 512;

    /// Returns whether there is a capacity.
    pub fn is_attached(&self) -> bool {
        self.attached.get().is_some()
    }

    /// Attaches a capacity.
    ///
    /// # Errors
    /// [`ErrorClass::Buffer`] if it has one.
    pub fn attach(&self, capacity: Capacity) -> Result {
        ensure!(!self.is_attached(), ErrorClass::Buffer, "a buffer is attached already");
        self.attached.set(Some(capacity));
        Ok(())
    }

    /// Detaches the capacity after everything was sent.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn detach<E: Endpoint>(&self, engine: &Engine<E>) -> Result {
        self.flush(engine)?;
        self.attached.set(None);
        Ok(())
    }

    /// Sends `data`, which is kept until it was sent.
    pub(crate) fn send<E: Endpoint>(
        &self,
        endpoint: &mut E,
        to: Destination,
        data: Vec<u8>,
    ) -> Result {
        endpoint.progress(None)?;
        self.forget_ended(endpoint);
        let taken = |bytes: usize| bytes + Self::OVERHEAD_BYTES;
        let used: usize = self.under_way.borrow().iter().map(|(_, one)| taken(one.bytes())).sum();
        let needed = taken(data.len());
        let left = match self.attached.get() {
            Some(Capacity::Automatic) => usize::MAX,
            Some(Capacity::Bytes(size)) => size.saturating_sub(used),
            None => 0,
        };
        ensure!(
            needed <= left,
            ErrorClass::Buffer,
            "{needed} bytes are needed, and {left} of the attached buffer are left"
        );
        let data = Storage::from(data);
        let readable = data.readable(0..data.bytes());
        let started = endpoint.post_send(to, readable, Completion::Local)?;
        self.under_way.borrow_mut().push((started, data));
        self.forget_ended(endpoint);
        Ok(())
    }

    fn forget_ended<E: Endpoint>(&self, endpoint: &mut E) {
        self.under_way.borrow_mut().retain(|(started, _)| {
            let ended = endpoint.is_done(*started);
            if ended {
                endpoint.end(*started);
            }
            !ended
        });
    }

    /// Returns whether everything was sent.
    pub fn is_empty<E: Endpoint>(&self, endpoint: &E) -> bool {
        self.under_way.borrow().iter().all(|(started, _)| endpoint.is_done(*started))
    }

    /// Waits until everything was sent.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn flush<E: Endpoint>(&self, engine: &Engine<E>) -> Result {
        if self.under_way.borrow().is_empty() {
            return Ok(());
        }
        engine.wait_until(&mut |endpoint| self.is_empty(endpoint))?;
        self.forget_ended(&mut *engine.endpoint()?);
        Ok(())
    }
}

impl Drop for SendBuffer {
    /// Sends in progress need their memory for ever.
    fn drop(&mut self) {
        std::mem::forget(self.under_way.take());
    }
}
