//! Many messages of one call.

use std::ffi::c_int;

use contract::{Result, Source, Tag, TagSelector};

use super::{MpiRank, Window};
use crate::library::{self, SUCCESS};

impl MpiRank {
    pub(super) fn send_many(
        &mut self,
        to: usize,
        tag: Tag,
        data: &[u8],
        count: usize,
    ) -> Result<()> {
        let (comm, tag) = self.envelope(to, tag)?;
        if to == self.setting.rank {
            return (0..count).try_for_each(|_| self.send_to_self(comm, tag, data));
        }
        self.window.requests.clear();
        for _ in 0..count {
            // SAFETY: all requests are waited for before this returns, so `data` outlives them.
            let request = unsafe { self.begin_send(to, comm, tag, data) }?;
            self.window.requests.push(request);
        }
        self.wait_for_window("MPI_Waitall", false, data.len())
    }

    pub(super) fn receive_many(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<()> {
        let selector = self.selector(from, tag)?;
        self.window.requests.clear();
        for _ in 0..count {
            // SAFETY: all requests are waited for before this returns; that they share the buffer is what the contract
            // asks for, which says that it ends up with one of the messages.
            let request = unsafe { self.begin_receive(selector, buffer) }?;
            self.window.requests.push(request);
        }
        self.wait_for_window("MPI_Waitall", selector.reserved, buffer.len())
    }

    /// Waits for all requests of the window, and tells the first that ended with an error.
    fn wait_for_window(
        &mut self,
        call: &'static str,
        reserved: bool,
        buffer_bytes: usize,
    ) -> Result<()> {
        let Window { requests, statuses } = &mut self.window;
        statuses.resize(requests.len().max(statuses.len()), library::Status::default());
        // SAFETY: all requests are under way; there are as many of them as is said, and at least as many statuses.
        // (Open MPI's statuses are shorter than the room for each: `status_at` reads them where it puts them.)
        let code = unsafe {
            (self.library.general.wait_all)(
                requests.len() as c_int,
                requests.as_mut_ptr(),
                statuses.as_mut_ptr(),
            )
        };
        if code == SUCCESS {
            return Ok(());
        }
        if self.library.class(code) != self.library.constants.error_in_status {
            return Err(self.library.error(call, code));
        }
        for index in 0..self.window.requests.len() {
            let status = self.library.status_at(&self.window.statuses, index);
            if status.error != SUCCESS {
                self.received(call, status.error, &status, reserved, buffer_bytes)?;
            }
        }
        Err(self.library.error(call, code))
    }
}
