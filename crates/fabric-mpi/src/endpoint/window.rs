//! Windows: many messages of one call.

use std::ffi::c_int;

use contract::{Completion, Destination, Envelope, Result, Selector, Writable, receive_in_turn};

use super::messages::lend;
use super::{MpiEndpoint, Window};
use crate::library::{self, SUCCESS};

impl MpiEndpoint {
    pub(super) fn send_many(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        let address = self.address(to)?;
        if to.rank == self.setting.rank {
            return (0..count).try_for_each(|_| self.send_to_self(address, data));
        }
        // SAFETY: all requests are waited for before this returns, so `data` outlives them.
        let lent = unsafe { lend(data) };
        self.window.requests.clear();
        let mut begun = Ok(());
        for _ in 0..count {
            // SAFETY: as above.
            match unsafe { self.begin_send(address, &lent, Completion::Local) } {
                Ok(request) => self.window.requests.push(request),
                Err(error) => {
                    begun = Err(error);
                    break;
                }
            }
        }
        let code = self.wait_for_window();
        begun.and(self.library.check("MPI_Waitall", code))
    }

    pub(super) fn receive_many(
        &mut self,
        selector: Selector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<Option<Envelope>> {
        if self.find_claimed(selector).is_some() {
            return receive_in_turn(self, selector, buffer, count);
        }
        let source = self.source(selector)?;
        // SAFETY: all requests are waited for before this returns. The contract permits that they share the buffer,
        // which contains one of the messages at the end.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        self.window.requests.clear();
        for _ in 0..count {
            // SAFETY: as above.
            match unsafe { self.begin_receive(source, &room) } {
                Ok(request) => self.window.requests.push(request),
                Err(error) => {
                    self.take_window_back();
                    return Err(error);
                }
            }
        }
        match self.wait_for_window() {
            SUCCESS => Ok(None),
            code => self.first_of_window_that_failed(code, selector.context, room.bytes()),
        }
    }

    /// Waits for all requests of the window, and returns the code of the MPI.
    fn wait_for_window(&mut self) -> c_int {
        let Window { requests, statuses } = &mut self.window;
        statuses.resize(requests.len().max(statuses.len()), library::Status::default());
        // SAFETY: all requests are under way; their number is the given one, and there are at least as many statuses.
        // (Statuses of Open MPI are shorter than the array elements: `status_at` reads them at their true positions.)
        unsafe {
            (self.library.general.wait_all)(
                requests.len() as c_int,
                requests.as_mut_ptr(),
                statuses.as_mut_ptr(),
            )
        }
    }

    /// Completes the receives of a window if not all could be posted. Messages that have matched one are lost.
    fn take_window_back(&mut self) {
        for request in &mut self.window.requests {
            // SAFETY: the request is under way; its end is waited for below.
            unsafe { (self.library.general.cancel)(request) };
        }
        self.wait_for_window();
    }

    /// Returns the first error of a window: a message that did not fit, or any other error.
    #[cold]
    fn first_of_window_that_failed(
        &self,
        code: c_int,
        context: u32,
        room: usize,
    ) -> Result<Option<Envelope>> {
        let call = "MPI_Waitall";
        if self.library.class(code) == self.library.constants.error_in_status {
            for index in 0..self.window.requests.len() {
                let status = self.library.status_at(&self.window.statuses, index);
                if status.error != SUCCESS {
                    return self.received(call, status.error, &status, context, room).map(Some);
                }
            }
        }
        Err(self.library.error(call, code))
    }
}
