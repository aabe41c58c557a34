//! Transfers that are posted now and end later.

use contract::{
    Claim, Completion, Destination, Envelope, Readable, Request, Result, Selector, Writable,
};

use crate::matching::Contents;
use crate::transfer::Transfer;
use crate::{MessageEngine, Poll, Transport};

impl<T: Transport> MessageEngine<T> {
    /// Starts a send. A synchronous request ends only once a receive has matched the message, at any length.
    ///
    /// # Errors
    /// Permanent errors, as of all calls of an engine.
    pub fn post_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let request = self.queue_send(to, data, until)?;
        if to.rank != self.rank() {
            self.transport.flush(&mut self.messages, to.rank)?;
        }
        Ok(request)
    }

    /// As `post_send`; what is queued may leave only with the next poll or [`flush`](Transport::flush).
    pub(crate) fn queue_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        self.check()?;
        let send = Transfer::send(self.rank(), to, data, until);
        let request = self.messages.transfers.start(send);
        if to.rank == self.rank() {
            self.messages.send_to_self(request, T::COPIED_TO_ITSELF_BYTES);
        } else {
            let started = self.transport.start_send(&mut self.messages, to.rank, request);
            if let Err(error) = started {
                self.messages.transfers.forget(request);
                return Err(error);
            }
        }
        Ok(request)
    }

    /// Starts a receive. If `in_place`, the message may stay in its sender's memory if the transport can.
    ///
    /// # Errors
    /// As above.
    #[inline(always)]
    pub fn post_receive(
        &mut self,
        selector: Selector,
        room: Writable,
        in_place: bool,
    ) -> Result<Request> {
        self.check()?;
        let messages = &mut self.messages;
        let request = messages.transfers.start(Transfer::receive(selector, &room, in_place));
        match messages.unexpected.take(&selector) {
            None => messages.posted.add(selector, request),
            Some(message) => {
                messages.transfers[request].begin(message.envelope);
                match message.contents {
                    Contents::Own(send) => messages.copy_to_self(send, request),
                    _ => self.transport.accept(messages, request, message)?,
                }
            }
        }
        Ok(request)
    }

    /// Returns whether a request is done.
    #[inline]
    pub fn is_done(&self, request: Request) -> bool {
        self.messages.transfers[request].done
    }

    /// Returns the envelope of a request that is done.
    #[inline]
    pub fn envelope(&self, request: Request) -> Envelope {
        self.messages.transfers[request].envelope
    }

    /// Frees a request that is done, and returns its envelope.
    #[inline]
    pub fn end(&mut self, request: Request) -> Envelope {
        self.messages.transfers.end(request)
    }

    /// Cancels a receive. Returns false if it has matched a message.
    pub fn cancel_receive(&mut self, request: Request) -> bool {
        let is_cancelled = self.messages.posted.remove(request);
        if is_cancelled {
            self.messages.transfers.forget(request);
        }
        is_cancelled
    }

    /// Returns the oldest message that has arrived and that `selector` accepts. If it is claimed, only receives for its new
    /// context and tag match it, and the envelope is the one that it had before.
    ///
    /// # Errors
    /// As above.
    pub fn probe(&mut self, selector: &Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        self.poll()?;
        let unexpected = &mut self.messages.unexpected;
        Ok(match claim {
            None => unexpected.find(selector).copied(),
            Some(Claim { context, tag }) => unexpected.claim(selector, context, tag),
        })
    }

    /// Takes in what has arrived, and fails if the run was aborted.
    ///
    /// # Errors
    /// As above.
    pub fn poll(&mut self) -> Result<()> {
        self.progress(None)
    }

    /// As [`poll`](MessageEngine::poll), for a request if one is wanted, and unless that is done.
    ///
    /// # Errors
    /// As above.
    #[inline]
    pub fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        self.check()?;
        if wanted.is_some_and(|request| self.is_done(request)) {
            return Ok(());
        }
        self.poll_for(Poll::Everything(wanted))?;
        self.check_aborted()
    }

    /// Polls without looking at whether the run was aborted.
    #[inline]
    pub(crate) fn poll_for(&mut self, poll: Poll) -> Result<()> {
        self.transport.poll(&mut self.messages, poll)?;
        self.check()
    }
}
