//! Messages between two ranks.

use std::ffi::c_int;

use contract::{
    Buffer, Completed, EAGER_BYTES, Error, Posted, Result, Source, Status, Tag, TagSelector,
    check_rank,
};

use super::MpiRank;
use super::call::{counted, readable, writable};
use crate::error::message_bytes_in;
use crate::library::{self, ERROR_TRUNCATE, Handle, Library, SUCCESS};

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

/// Which messages a receive takes, in the MPI's terms.
#[derive(Clone, Copy)]
struct Selector {
    comm: Handle,
    source: c_int,
    tag: c_int,
    reserved: bool,
}

impl MpiRank {
    /// The communicator that a message with this tag travels in, and its tag there.
    #[inline]
    fn envelope(&self, to: usize, tag: Tag) -> Result<(Handle, c_int)> {
        check_rank(to, self.setting.size)?;
        let comm = if tag.is_reserved() { self.reserved } else { self.comm };
        Ok((comm, self.tags.to_mpi(tag)?))
    }

    #[inline]
    fn selector(&self, from: Source, tag: TagSelector) -> Result<Selector> {
        let source = match from {
            Source::Any => self.library.constants.any_source,
            Source::Rank(rank) => {
                check_rank(rank, self.setting.size)?;
                rank as c_int
            }
        };
        let any = self.library.constants.any_tag;
        let (comm, tag, reserved) = match tag {
            TagSelector::Any => (self.comm, any, false),
            TagSelector::AnyReserved => (self.reserved, any, true),
            TagSelector::Is(tag) if tag.is_reserved() => {
                (self.reserved, self.tags.to_mpi(tag)?, true)
            }
            TagSelector::Is(tag) => (self.comm, self.tags.to_mpi(tag)?, false),
        };
        Ok(Selector { comm, source, tag, reserved })
    }

    #[inline]
    pub(super) fn send_bytes(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        let (comm, tag) = self.envelope(to, tag)?;
        if to == self.setting.rank {
            return self.send_to_self(comm, tag, data);
        }
        let byte = self.library.constants.byte;
        // SAFETY: MPI reads `data`, which is as long as is said, and is done with it when the call returns.
        let status = unsafe {
            counted!(
                self.library,
                data.len(),
                send,
                [count = data.len()](readable(data), count, byte, to as c_int, tag, comm)
            )
        }?;
        self.library.check("MPI_Send", status)
    }

    /// An MPI may let a blocking send to oneself wait for its receive, however short. Short ones are copied here.
    #[cold]
    fn send_to_self(&mut self, comm: Handle, tag: c_int, data: &[u8]) -> Result<()> {
        self.forget_received_from_self()?;
        if data.len() > EAGER_BYTES {
            // SAFETY: the request is waited for here, so `data` outlives it.
            let mut request = unsafe { self.begin_send(self.setting.rank, comm, tag, data) }?;
            let mut status = library::Status::default();
            // SAFETY: the request was made just now; both places are live.
            let waited = unsafe { (self.library.general.wait)(&mut request, &mut status) };
            return self.library.check("MPI_Wait", waited);
        }
        let copy = Buffer::from_bytes(data);
        // SAFETY: the copy is kept, and its bytes do not move, until the request has ended.
        let request = unsafe { self.begin_send(self.setting.rank, comm, tag, &copy) }?;
        self.to_self.push_back((request, copy));
        Ok(())
    }

    fn forget_received_from_self(&mut self) -> Result<()> {
        while let Some((request, _)) = self.to_self.front_mut() {
            let (mut done, mut status) = (0, library::Status::default());
            // SAFETY: the request is under way; all places are live.
            let tested = unsafe { (self.library.general.test)(request, &mut done, &mut status) };
            self.library.check("MPI_Test", tested)?;
            if done == 0 {
                break;
            }
            self.to_self.pop_front();
        }
        Ok(())
    }

    /// # Safety
    /// `data` must stay where it is, unchanged, until the request has ended.
    unsafe fn begin_send(
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
    unsafe fn begin_receive(&self, selector: Selector, buffer: &mut [u8]) -> Result<Handle> {
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

    #[inline]
    pub(super) fn receive_bytes(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
    ) -> Result<Status> {
        let selector = self.selector(from, tag)?;
        let byte = self.library.constants.byte;
        let mut status = library::Status::default();
        // SAFETY: MPI writes at most as many bytes as `buffer` has, and is done with it when the call returns.
        let code = unsafe {
            counted!(
                self.library,
                buffer.len(),
                receive,
                [count = buffer.len()](
                    writable(buffer),
                    count,
                    byte,
                    selector.source,
                    selector.tag,
                    selector.comm,
                    &mut status
                )
            )
        }?;
        self.received("MPI_Recv", code, &status, selector.reserved, buffer.len())
    }

    pub(super) fn exchange_bytes(
        &mut self,
        (to, send_tag, data): (usize, Tag, &[u8]),
        (from, receive_tag, buffer): (Source, TagSelector, &mut [u8]),
    ) -> Result<Status> {
        let (comm, tag) = self.envelope(to, send_tag)?;
        let selector = self.selector(from, receive_tag)?;
        if comm != selector.comm {
            let posted = self.start_send(to, send_tag, Buffer::from_bytes(data))?;
            let status = self.receive_bytes(from, receive_tag, buffer)?;
            return self.wait_for(&posted).map(|_| status);
        }
        let byte = self.library.constants.byte;
        let mut status = library::Status::default();
        let largest = data.len().max(buffer.len());
        // SAFETY: as in `send_bytes` and `receive_bytes`; the two do not overlap, as one is borrowed to write.
        let code = unsafe {
            counted!(
                self.library,
                largest,
                send_receive,
                [sent = data.len(), room = buffer.len()](
                    readable(data),
                    sent,
                    byte,
                    to as c_int,
                    tag,
                    writable(buffer),
                    room,
                    byte,
                    selector.source,
                    selector.tag,
                    selector.comm,
                    &mut status
                )
            )
        }?;
        self.received("MPI_Sendrecv", code, &status, selector.reserved, buffer.len())
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
        Ok(Completed { buffer, status })
    }

    pub(super) fn probe_for(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        let selector = self.selector(from, tag)?;
        let (mut found, mut status) = (0, library::Status::default());
        // SAFETY: the communicator is ours; all places are live.
        let code = unsafe {
            (self.library.general.probe)(
                selector.source,
                selector.tag,
                selector.comm,
                &mut found,
                &mut status,
            )
        };
        self.library.check("MPI_Iprobe", code)?;
        if found == 0 {
            return Ok(None);
        }
        // A message may be longer than any buffer that it was looked for with.
        let bytes = bytes_of(&self.library, &status, true)?;
        Ok(Some(self.status(&status, selector.reserved, bytes)))
    }

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

    /// The contract's view of a receive that ended with `code`.
    #[inline]
    fn received(
        &self,
        call: &'static str,
        code: c_int,
        status: &library::Status,
        reserved: bool,
        buffer_bytes: usize,
    ) -> Result<Status> {
        if code != SUCCESS {
            return Err(self.receive_error(call, code, status, reserved, buffer_bytes));
        }
        let bytes = bytes_of(&self.library, status, buffer_bytes > i32::MAX as usize)?;
        Ok(self.status(status, reserved, bytes))
    }

    #[inline]
    fn status(&self, status: &library::Status, reserved: bool, bytes: usize) -> Status {
        let tag = self.tags.of_mpi(status.tag, reserved);
        Status { source: status.source as usize, tag, bytes }
    }

    #[cold]
    fn receive_error(
        &self,
        call: &'static str,
        code: c_int,
        status: &library::Status,
        reserved: bool,
        buffer_bytes: usize,
    ) -> Error {
        if self.library.class(code) != ERROR_TRUNCATE {
            return self.library.error(call, code);
        }
        // Either the status tells the length of the message, or the MPI's words do.
        let counted =
            bytes_of(&self.library, status, true).ok().filter(|bytes| *bytes > buffer_bytes);
        match counted.or_else(|| message_bytes_in(&self.library.words(code))) {
            Some(message_bytes) => Error::Truncated {
                from: status.source as usize,
                tag: self.tags.of_mpi(status.tag, reserved).value(),
                message_bytes,
                buffer_bytes,
            },
            None => self.library.error(call, code),
        }
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

use super::Window;

/// The length of the message that a status is of.
#[inline]
fn bytes_of(library: &Library, status: &library::Status, may_be_long: bool) -> Result<usize> {
    let byte = library.constants.byte;
    if may_be_long && let Some(long) = &library.long {
        let mut count = 0i64;
        // SAFETY: `status` was set by a receive or a probe; both places are live.
        let code = unsafe { (long.count_of)(status, byte, &mut count) };
        return library.check("MPI_Get_count_c", code).map(|()| count as usize);
    }
    let mut count = 0;
    // SAFETY: as above.
    let code = unsafe { (library.short.count_of)(status, byte, &mut count) };
    library.check("MPI_Get_count", code).map(|()| count as usize)
}
