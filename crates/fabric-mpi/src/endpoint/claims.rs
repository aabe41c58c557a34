//! Claimed messages: messages matched by MPI_Improbe, which receives of the MPI itself no longer match. They are
//! received by their new context and tag.

use contract::{Envelope, Request, Result, Selector, Writable};

use super::MpiEndpoint;
use super::call::{counted, writable_at};
use super::outcome::bytes_of;
use super::requests::Kind;
use crate::library::{self, Handle};

/// A message that was claimed and is not yet received.
pub(super) struct Claimed {
    /// MPI handle of the message.
    message: Handle,
    /// New envelope of the message.
    pub(super) envelope: Envelope,
}

impl MpiEndpoint {
    /// Matches the oldest message that `selector` accepts, and assigns it another context and tag.
    pub(super) fn claim_message(
        &mut self,
        selector: Selector,
        context: u32,
        tag: u32,
    ) -> Result<Option<Envelope>> {
        if let Some(index) = self.find_claimed(selector) {
            let found = &mut self.claimed[index].envelope;
            let before = *found;
            (found.context, found.tag) = (context, tag);
            return Ok(Some(before));
        }
        let source = self.source(selector)?;
        let (mut found, mut status) = (0, library::Status::default());
        let mut message = std::ptr::null_mut();
        // SAFETY: the communicator is ours; all places are live.
        let code = unsafe {
            (self.library.general.claim)(
                source.rank,
                source.tag,
                source.comm,
                &mut found,
                &mut message,
                &mut status,
            )
        };
        self.library.check("MPI_Improbe", code)?;
        if found == 0 {
            return Ok(None);
        }
        let bytes = bytes_of(&self.library, &status, true)?;
        let before = self.envelope_of(&status, selector.context, bytes, bytes)?;
        let envelope = Envelope { context, tag, ..before };
        self.claimed.push(Claimed { message, envelope });
        Ok(Some(before))
    }

    /// Returns the index of the oldest claimed message that `selector` accepts.
    #[inline]
    pub(super) fn find_claimed(&self, selector: Selector) -> Option<usize> {
        if self.claimed.is_empty() {
            return None;
        }
        self.claimed.iter().position(|claimed| selector.accepts(&claimed.envelope))
    }

    /// Starts to receive the claimed message at an index.
    pub(super) fn post_claimed(&mut self, place: usize, room: &Writable) -> Result<Request> {
        let Claimed { mut message, envelope } = self.claimed.remove(place);
        let mut request = self.library.constants.request_null;
        let (byte, bytes) = (self.library.constants.byte, room.bytes());
        // SAFETY: the message was matched and not yet received; the creator of `room` promised that many bytes until
        // the request has ended.
        let status = unsafe {
            counted!(
                self.library,
                bytes,
                post_claimed_receive,
                [count = bytes](writable_at(room), count, byte, &mut message, &mut request)
            )
        }?;
        self.library.check("MPI_Imrecv", status)?;
        Ok(self.requests.add(request, Kind::ClaimedReceive { envelope, room: bytes }))
    }

    /// Receives the claimed message at an index.
    #[cold]
    pub(super) fn receive_claimed(&mut self, place: usize, buffer: &mut [u8]) -> Result<Envelope> {
        // SAFETY: the request is waited for here, so `buffer` outlives it.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let request = self.post_claimed(place, &room)?;
        self.wait_for(request);
        let operation = self.requests.take(request);
        let envelope = operation.envelope();
        operation.ended.unwrap_or(Ok(envelope))
    }
}
