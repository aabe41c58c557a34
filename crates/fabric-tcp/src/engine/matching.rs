//! Matching: posted receives and unexpected messages.
//!
//! Both are kept in order of arrival, and both are searched from the oldest.

use std::collections::VecDeque;

use contract::{Envelope, Request, Selector};

/// An unexpected message.
pub(crate) struct Unexpected {
    pub(crate) envelope: Envelope,
    pub(crate) content: Content,
}

/// The available part of an unexpected message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing usable yet: its connection is reading it.
    Arriving,
    /// All of it.
    Copy(Vec<u8>),
    /// The envelope of a message that the sender keeps under this request of its own.
    Rts(u32),
    /// A synchronous message of this rank to itself, which stays in the memory of its send.
    Own(Request),
}

#[derive(Default)]
pub(crate) struct Matching {
    posted: VecDeque<(Selector, Request)>,
    unexpected: VecDeque<Unexpected>,
}

impl Matching {
    /// Adds a receive that has matched no message.
    pub(crate) fn post(&mut self, selector: Selector, request: Request) {
        self.posted.push_back((selector, request));
    }

    /// Adds a message that has matched no receive.
    pub(crate) fn keep(&mut self, envelope: Envelope, content: Content) {
        self.unexpected.push_back(Unexpected { envelope, content });
    }

    /// Removes and returns the oldest receive that accepts a message.
    pub(crate) fn receive_for(&mut self, envelope: &Envelope) -> Option<Request> {
        let place = self.posted.iter().position(|(selector, _)| selector.accepts(envelope))?;
        self.posted.remove(place).map(|(_, request)| request)
    }

    /// Removes and returns the oldest message that a receive accepts.
    pub(crate) fn message_for(&mut self, selector: &Selector) -> Option<Unexpected> {
        let place = self.unexpected.iter().position(|one| selector.accepts(&one.envelope))?;
        self.unexpected.remove(place)
    }

    /// Removes a receive. Returns false if it has matched a message.
    pub(crate) fn cancel(&mut self, request: Request) -> bool {
        let place = self.posted.iter().position(|&(_, posted)| posted == request);
        place.is_some_and(|place| self.posted.remove(place).is_some())
    }

    /// Returns the oldest message that `selector` accepts.
    pub(crate) fn probe(&self, selector: &Selector) -> Option<Envelope> {
        self.unexpected.iter().map(|one| one.envelope).find(|one| selector.accepts(one))
    }

    /// Moves the oldest message that `selector` accepts to another context and tag, and returns the envelope that it
    /// had. It keeps its position, because the rest of it may still be arriving.
    pub(crate) fn claim(
        &mut self,
        selector: &Selector,
        context: u32,
        tag: u32,
    ) -> Option<Envelope> {
        let mut messages = self.unexpected.iter_mut();
        let envelope = &mut messages.find(|one| selector.accepts(&one.envelope))?.envelope;
        let before = *envelope;
        (envelope.context, envelope.tag) = (context, tag);
        Some(before)
    }

    /// Records that the arriving message of `source` is complete.
    pub(crate) fn arrived(&mut self, source: usize, bytes: Vec<u8>) {
        let mut messages = self.unexpected.iter_mut();
        let arriving = messages
            .find(|one| one.envelope.source as usize == source && one.content == Content::Arriving);
        if let Some(one) = arriving {
            one.content = Content::Copy(bytes);
        }
    }

    /// Returns the envelopes of the unexpected messages, the oldest first.
    pub(crate) fn unexpected(&self) -> impl Iterator<Item = &Envelope> {
        self.unexpected.iter().map(|one| &one.envelope)
    }

    /// Returns the numbers of posted receives and of unexpected messages.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        (self.posted.len(), self.unexpected.len())
    }
}
