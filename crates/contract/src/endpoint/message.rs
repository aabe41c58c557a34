//! Envelopes of messages, and the selectors of receives.

use super::Endpoint;
use crate::Result;

/// An operation that was posted to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request(pub u32);

impl Request {
    /// Returns a small number, unique among the operations in progress.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The condition under which a send is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The memory of the message may be changed.
    Local,
    /// In addition, a receive has matched the message.
    Synchronous,
}

/// The messages that a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Context; messages of another context never match.
    pub context: u32,
    /// The sender, or any.
    pub source: Option<u32>,
    /// The tag, or any.
    pub tag: Option<u32>,
}

/// The envelope of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// Context in which it was sent.
    pub context: u32,
    /// The sender.
    pub source: u32,
    /// Tag of the message.
    pub tag: u32,
    /// The length of the message.
    pub bytes: usize,
    /// Room of the receive, or the message's length if there is no receive.
    pub room: usize,
}

impl Selector {
    /// Returns whether a message with this envelope is accepted.
    #[inline]
    pub fn accepts(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }
}

impl Envelope {
    /// Returns whether the message was truncated: it is consumed, and the receive holds its beginning.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.bytes > self.room
    }
}

/// Waits for a request and ends it.
#[inline]
pub(super) fn finish<E: Endpoint>(endpoint: &mut E, request: Request) -> Result<Envelope> {
    endpoint.wait_any(&[request])?;
    let outcome = endpoint.outcome(request);
    let envelope = endpoint.end(request);
    outcome.map(|()| envelope)
}
