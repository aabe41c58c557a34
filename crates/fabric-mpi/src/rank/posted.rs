//! Operations that are posted, and their ends.

use std::ffi::c_int;

use contract::{Buffer, Completed, Posted, Result, Source, Status, Tag, TagSelector};

use super::MpiRank;
use super::call::{counted, readable, writable};
use super::messages::Selector;
use crate::library::{self, Handle, SUCCESS};

/// What was posted.
pub(super) struct Operation {
    request: Handle,
    /// Where MPI reads or writes until the request has ended. Its pages do not move with it.
    buffer: Buffer,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A send, with what its status will say.
    Send(Status),
    /// A receive of a user's message, or of a collective's.
    Receive { reserved: bool },
}

impl MpiRank {
    /// # Safety
    /// `data` must stay where it is, unchanged, until the request has ended.
    pub(super) unsafe fn begin_send(
        &self,
        to: usize,
        comm: Handle,
        tag: c_int,
        data: &[u8],
    ) -> Result<Handle> {
        let mut request = self.library.constants.request_null;
        let byte = self.library.constants.byte;
        // SAFETY: the caller keeps `data`, which is as long as is said.
        let status = unsafe {
            counted!(
                self.library,
                data.len(),
                post_send,
                [count = data.len()](
                    readable(data),
                    count,
                    byte,
                    to as c_int,
                    tag,
                    comm,
                    &mut request
                )
            )
        }?;
        self.library.check("MPI_Isend", status)?;
        Ok(request)
    }

    /// # Safety
    /// `buffer` must stay where it is, and nobody may use it, until the request has ended; except that several requests
    /// may share it where it does not matter which of their messages it holds at the end.
    pub(super) unsafe fn begin_receive(
        &self,
        selector: Selector,
        buffer: &mut [u8],
    ) -> Result<Handle> {
        let mut request = self.library.constants.request_null;
        let byte = self.library.constants.byte;
        // SAFETY: the caller keeps `buffer`, which is as long as is said.
        let status = unsafe {
            counted!(
                self.library,
                buffer.len(),
                post_receive,
                [count = buffer.len()](
                    writable(buffer),
                    count,
                    byte,
                    selector.source,
                    selector.tag,
                    selector.comm,
                    &mut request
                )
            )
        }?;
        self.library.check("MPI_Irecv", status)?;
        Ok(request)
    }

    pub(super) fn start_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        let (comm, wire_tag) = self.envelope(to, tag)?;
        // SAFETY: `held` keeps the buffer, whose pages do not move with it, until the request has ended.
        let request = unsafe { self.begin_send(to, comm, wire_tag, &buffer) }?;
        let status = Status { source: self.setting.rank, tag, bytes: buffer.len() };
        Ok(self.held.keep(Operation { request, buffer, kind: Kind::Send(status) }))
    }

    pub(super) fn start_receive(
        &mut self,
        from: Source,
        tag: TagSelector,
        mut buffer: Buffer,
    ) -> Result<Posted> {
        let selector = self.selector(from, tag)?;
        // SAFETY: as in `start_send`; nobody else reaches the buffer meanwhile.
        let request = unsafe { self.begin_receive(selector, &mut buffer) }?;
        let kind = Kind::Receive { reserved: selector.reserved };
        Ok(self.held.keep(Operation { request, buffer, kind }))
    }

    pub(super) fn wait_for(&mut self, posted: &Posted) -> Result<Completed> {
        let request = &mut self.held.get(posted)?.request;
        let mut status = library::Status::default();
        // SAFETY: the request is under way; both places are live.
        let code = unsafe { (self.library.general.wait)(request, &mut status) };
        self.ended(posted, "MPI_Wait", code, &status)
    }

    pub(super) fn test_for(&mut self, posted: &Posted) -> Result<Option<Completed>> {
        let request = &mut self.held.get(posted)?.request;
        let (mut done, mut status) = (0, library::Status::default());
        // SAFETY: the request is under way; all places are live.
        let code = unsafe { (self.library.general.test)(request, &mut done, &mut status) };
        if code == SUCCESS && done == 0 {
            return Ok(None);
        }
        self.ended(posted, "MPI_Test", code, &status).map(Some)
    }

    pub(super) fn wait_for_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        let mut requests = std::mem::take(&mut self.window.requests);
        requests.clear();
        for one in posted.iter() {
            requests.push(self.held.get(one)?.request);
        }
        let (mut index, mut status) = (0, library::Status::default());
        // SAFETY: all requests are under way, each once; there are as many as is said.
        let code = unsafe {
            (self.library.general.wait_any)(
                requests.len() as c_int,
                requests.as_mut_ptr(),
                &mut index,
                &mut status,
            )
        };
        self.window.requests = requests;
        let Some(place) = usize::try_from(index).ok().filter(|place| *place < posted.len()) else {
            return Err(self.library.error("MPI_Waitany", code));
        };
        let one = posted.remove(place);
        self.ended(&one, "MPI_Waitany", code, &status).map(|completed| (place, completed))
    }

    /// Gives back the buffer of a posted operation that MPI has ended with `code`.
    fn ended(
        &mut self,
        posted: &Posted,
        call: &'static str,
        code: c_int,
        status: &library::Status,
    ) -> Result<Completed> {
        let Operation { buffer, kind, .. } = self.held.take(posted)?;
        let status = match kind {
            Kind::Send(status) => self.library.check(call, code).map(|()| status),
            Kind::Receive { reserved } => self.received(call, code, status, reserved, buffer.len()),
        }?;
        Ok(Completed { buffer, status, in_place: None })
    }

    /// Waits for sends, and gives receives up.
    pub(super) fn complete_held(&mut self) -> Result<()> {
        let library = std::rc::Rc::clone(&self.library);
        for operation in self.held.rest() {
            let mut status = library::Status::default();
            if matches!(operation.kind, Kind::Receive { .. }) {
                // SAFETY: the request is under way.
                let cancelled = unsafe { (library.general.cancel)(&mut operation.request) };
                library.check("MPI_Cancel", cancelled)?;
            }
            // SAFETY: as before; both places are live.
            let code = unsafe { (library.general.wait)(&mut operation.request, &mut status) };
            library.check("MPI_Wait", code)?;
        }
        self.forget_received_from_self()
    }
}
