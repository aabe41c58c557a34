//! Calls that return when their messages have ended.
#![allow(unsafe_code)]

use contract::{
    Completion, Destination, Envelope, Error, Readable, Request, Result, Selector, Writable,
};

use crate::{MessageEngine, Transport};

/// Number of messages of one window in flight at once. More would only fill the receiver's queue.
const WINDOW: usize = 64;

impl<T: Transport> MessageEngine<T> {
    /// Sends, and returns when `data` may be changed.
    ///
    /// # Errors
    /// [`Error::Deadlock`] for a message to itself that waits for its receive; else permanent errors.
    #[inline]
    pub fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        if self.send_at_once(to, data)? {
            return Ok(());
        }
        // SAFETY: `data` is borrowed until this call returns. By then the request has ended, or the engine has failed
        // and no longer accesses it.
        let lent = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let request = self.post_send(to, lent, Completion::Local)?;
        if to.rank == self.rank() && !self.is_done(request) {
            let Destination { rank, tag, .. } = to;
            return Err(self.fail(Error::Deadlock {
                explanation: format!(
                    "rank {rank} sends {} bytes to itself with tag {tag}, and has posted no receive for them",
                    data.len()
                ),
            }));
        }
        self.wait(request).map(drop)
    }

    /// Sends if the whole message leaves at once. Otherwise returns false and has no effect.
    ///
    /// # Errors
    /// Permanent errors.
    #[inline(always)]
    pub fn send_at_once(&mut self, to: Destination, data: &[u8]) -> Result<bool> {
        self.check()?;
        Ok(to.rank != self.rank() && self.transport.send_now(&self.messages, to, data))
    }

    /// Sends `data` `count` times, with up to [`WINDOW`] messages in flight.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        self.check()?;
        let mut pending = [None; WINDOW];
        for index in 0..count {
            if to.rank != self.rank() && self.transport.send_now(&self.messages, to, data) {
                continue;
            }
            // SAFETY: as in `send`; the loop below waits for every request.
            let lent = unsafe { Readable::new(data.as_ptr(), data.len()) };
            let next = self.queue_send(to, lent, Completion::Local)?;
            if let Some(oldest) = pending[index % WINDOW].replace(next) {
                self.wait(oldest)?;
            }
        }
        // All frames were queued before the first is written, so that short messages share system calls.
        if to.rank != self.rank() {
            self.transport.flush(&mut self.messages, to.rank)?;
        }
        for request in pending.into_iter().flatten() {
            self.wait(request)?;
        }
        Ok(())
    }

    /// Receives into `buffer`.
    ///
    /// # Errors
    /// Permanent errors.
    #[inline]
    pub fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.check()?;
        if let Some(envelope) = self.transport.receive_now(&self.messages, &selector, buffer) {
            return Ok(envelope);
        }
        // SAFETY: as in `send`.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let request = self.post_receive(selector, room, false)?;
        self.wait(request)
    }

    /// Sends and receives at the same time.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        // SAFETY: as in `send`; both requests have ended when this returns without an error.
        let (data, room) = unsafe {
            (
                Readable::new(data.as_ptr(), data.len()),
                Writable::new(buffer.as_mut_ptr(), buffer.len()),
            )
        };
        let receive = self.post_receive(selector, room, false)?;
        let send = self.post_send(to, data, Completion::Local)?;
        let received = self.wait(receive)?;
        self.wait(send)?;
        Ok(received)
    }

    /// Waits for a request to end, and frees it.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn wait(&mut self, request: Request) -> Result<Envelope> {
        self.wait_any(&[request])?;
        Ok(self.end(request))
    }
}
