//! Requests: posted operations and their completion.

use std::ffi::c_int;

use contract::{Completion, Envelope, Error, Readable, Request, Result, Writable};

use super::MpiEndpoint;
use super::call::{counted, readable_at, writable_at};
use super::messages::{Address, Source};
use crate::library::{self, ERROR_TRUNCATE, Handle, SUCCESS};

/// Requests by number; numbers are reused.
#[derive(Default)]
pub(super) struct Requests {
    places: Vec<Option<Operation>>,
    free: Vec<Request>,
}

/// A posted operation.
pub(super) struct Operation {
    /// Request of the MPI; its null request after completion.
    pub(super) handle: Handle,
    pub(super) kind: Kind,
    /// Outcome, once the MPI has completed the operation.
    pub(super) ended: Option<Result<Envelope>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A send, with its envelope.
    Send(Envelope),
    /// A receive in a context, with the length of its buffer.
    Receive { context: u32, room: usize },
    /// A receive of a claimed message, with its envelope and the length of its buffer.
    ClaimedReceive { envelope: Envelope, room: usize },
}

impl Requests {
    pub(super) fn add(&mut self, handle: Handle, kind: Kind) -> Request {
        let operation = Some(Operation { handle, kind, ended: None });
        if let Some(request) = self.free.pop() {
            self.places[request.index()] = operation;
            return request;
        }
        self.places.push(operation);
        Request(self.places.len() as u32 - 1)
    }

    pub(super) fn get(&self, request: Request) -> &Operation {
        self.places[request.index()].as_ref().expect("the request is under way or done")
    }

    pub(super) fn get_mut(&mut self, request: Request) -> &mut Operation {
        self.places[request.index()].as_mut().expect("the request is under way or done")
    }

    pub(super) fn take(&mut self, request: Request) -> Operation {
        self.free.push(request);
        self.places[request.index()].take().expect("a request is ended once")
    }

    /// Returns the requests that the MPI has not completed.
    pub(super) fn under_way(&self) -> Vec<Request> {
        let is_under_way = |place: &Option<Operation>| {
            place.as_ref().is_some_and(|operation| operation.ended.is_none())
        };
        let numbers = (0..self.places.len()).filter(|&index| is_under_way(&self.places[index]));
        numbers.map(|index| Request(index as u32)).collect()
    }
}

impl Operation {
    /// Returns the envelope of a completed request. A failed receive has none.
    pub(super) fn envelope(&self) -> Envelope {
        if let Some(Ok(envelope)) = self.ended {
            return envelope;
        }
        match self.kind {
            Kind::Send(envelope) => envelope,
            Kind::Receive { context, room } => {
                Envelope { context, bytes: room, room, ..Envelope::default() }
            }
            Kind::ClaimedReceive { envelope, room } => Envelope { room, ..envelope },
        }
    }
}

impl MpiEndpoint {
    /// # Safety
    /// `data` must stay in place, unchanged, until the request has completed.
    pub(super) unsafe fn begin_send(
        &self,
        to: Address,
        data: &Readable,
        completion: Completion,
    ) -> Result<Handle> {
        let mut request = self.library.constants.request_null;
        let (byte, bytes) = (self.library.constants.byte, data.bytes());
        let from = readable_at(data);
        if completion == Completion::Synchronous {
            // SAFETY: the caller keeps `data`, which has the given length.
            let status = unsafe {
                counted!(
                    self.library,
                    bytes,
                    post_synchronous_send,
                    [count = bytes](from, count, byte, to.rank, to.tag, to.comm, &mut request)
                )
            }?;
            return self.library.check("MPI_Issend", status).map(|()| request);
        }
        // SAFETY: as above.
        let status = unsafe {
            counted!(
                self.library,
                bytes,
                post_send,
                [count = bytes](from, count, byte, to.rank, to.tag, to.comm, &mut request)
            )
        }?;
        self.library.check("MPI_Isend", status).map(|()| request)
    }

    /// # Safety
    /// `room` must stay in place, unused, until the request has completed; except that several requests may share it if
    /// it may contain any of their messages at the end.
    pub(super) unsafe fn begin_receive(&self, from: Source, room: &Writable) -> Result<Handle> {
        let mut request = self.library.constants.request_null;
        let (byte, bytes) = (self.library.constants.byte, room.bytes());
        let to = writable_at(room);
        // SAFETY: the caller keeps `room`, which has the given length.
        let status = unsafe {
            counted!(
                self.library,
                bytes,
                post_receive,
                [count = bytes](to, count, byte, from.rank, from.tag, from.comm, &mut request)
            )
        }?;
        self.library.check("MPI_Irecv", status).map(|()| request)
    }

    /// Waits until the MPI has completed a request.
    pub(super) fn wait_for(&mut self, request: Request) {
        let operation = self.requests.get_mut(request);
        if operation.ended.is_some() {
            return;
        }
        let mut status = library::Status::default();
        // SAFETY: the MPI's request is under way; both places are live.
        let code = unsafe { (self.library.general.wait)(&mut operation.handle, &mut status) };
        self.note_end(request, "MPI_Wait", code, &status);
    }

    /// Tests a request with the MPI for completion.
    pub(super) fn test_for(&mut self, request: Request) -> bool {
        let operation = self.requests.get_mut(request);
        if operation.ended.is_some() {
            return true;
        }
        let (mut done, mut status) = (0, library::Status::default());
        // SAFETY: the MPI's request is under way; all places are live.
        let code =
            unsafe { (self.library.general.test)(&mut operation.handle, &mut done, &mut status) };
        if code == SUCCESS && done == 0 {
            return false;
        }
        self.note_end(request, "MPI_Test", code, &status);
        true
    }

    /// Returns the failure of a request that has one.
    pub(super) fn check_outcome(&self, request: Request) -> Result<()> {
        match &self.requests.get(request).ended {
            Some(Err(error)) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Waits until the MPI has completed one of several incomplete requests, and returns its index among them.
    pub(super) fn wait_for_any(&mut self, requests: &[Request]) -> Result<usize> {
        let mut handles = std::mem::take(&mut self.window.requests);
        handles.clear();
        handles.extend(requests.iter().map(|&request| self.requests.get(request).handle));
        let (mut index, mut status) = (0, library::Status::default());
        // SAFETY: all of the MPI's requests are under way, each once; their number is the given one.
        let code = unsafe {
            (self.library.general.wait_any)(
                handles.len() as c_int,
                handles.as_mut_ptr(),
                &mut index,
                &mut status,
            )
        };
        self.window.requests = handles;
        let Some(place) = usize::try_from(index).ok().filter(|place| *place < requests.len())
        else {
            return Err(self.library.error("MPI_Waitany", code));
        };
        self.note_end(requests[place], "MPI_Waitany", code, &status);
        Ok(place)
    }

    /// Records the outcome of a request that the MPI has completed with `code`.
    fn note_end(
        &mut self,
        request: Request,
        call: &'static str,
        code: c_int,
        status: &library::Status,
    ) {
        let outcome = match self.requests.get(request).kind {
            Kind::Send(envelope) => self.library.check(call, code).map(|()| envelope),
            Kind::Receive { context, room } => self.received(call, code, status, context, room),
            // The length is known, and a message that does not fit is no error here.
            Kind::ClaimedReceive { envelope, room } => match code {
                SUCCESS => Ok(()),
                code if self.library.class(code) == ERROR_TRUNCATE => Ok(()),
                code => Err(self.library.error(call, code)),
            }
            .map(|()| Envelope { room, ..envelope }),
        };
        let operation = self.requests.get_mut(request);
        operation.handle = self.library.constants.request_null;
        operation.ended = Some(outcome);
    }

    /// Cancels a receive. Returns false if it has matched a message; it is then complete.
    pub(super) fn cancel(&mut self, request: Request) -> Result<bool> {
        let library = std::rc::Rc::clone(&self.library);
        let operation = self.requests.get_mut(request);
        if operation.ended.is_some() || !matches!(operation.kind, Kind::Receive { .. }) {
            return Ok(false);
        }
        let (mut status, mut cancelled) = (library::Status::default(), 0);
        // SAFETY: the MPI's request is under way until MPI_Wait has ended it; all places are live.
        unsafe {
            library.check("MPI_Cancel", (library.general.cancel)(&mut operation.handle))?;
            let code = (library.general.wait)(&mut operation.handle, &mut status);
            let tested = (library.general.test_cancelled)(&status, &mut cancelled);
            library.check("MPI_Test_cancelled", tested)?;
            if cancelled == 0 {
                self.note_end(request, "MPI_Wait", code, &status);
                return Ok(false);
            }
        }
        self.requests.take(request);
        Ok(true)
    }

    /// Waits for sends, and cancels receives.
    pub(super) fn complete_requests(&mut self) -> Result<()> {
        for request in self.requests.under_way() {
            match self.requests.get(request).kind {
                Kind::Receive { .. } => drop(self.cancel(request)?),
                Kind::Send(_) | Kind::ClaimedReceive { .. } => {
                    self.wait_for(request);
                    self.requests.take(request).ended.unwrap_or(Err(Error::UnknownRequest))?;
                }
            }
        }
        self.forget_received_from_self()
    }
}
