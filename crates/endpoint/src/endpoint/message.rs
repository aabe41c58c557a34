//! Envelopes of messages, and the selectors of receives.

use serde::{Deserialize, Serialize};

use super::Endpoint;
use crate::{Result, Writable};

/// An operation that was posted to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The receiver.
    pub rank: usize,
    /// Context; only receives in it match.
    pub context: u32,
    /// Tag of the message.
    pub tag: u32,
}

/// The messages that a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector {
    /// Context; messages of another context never match.
    pub context: u32,
    /// The sender, or any.
    pub source: Option<u32>,
    /// The tag, or any.
    pub tag: Option<u32>,
}

/// The envelope of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Context in which it was sent.
    pub context: u32,
    /// The sender.
    pub source: u32,
    /// Tag of the message.
    pub tag: u32,
    /// Length of the message in bytes.
    pub bytes: usize,
    /// Room of the receive, or the message's length if there is no receive.
    pub room: usize,
}

/// A new place of a message, where only a receive for it matches the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The context.
    pub context: u32,
    /// The tag.
    pub tag: u32,
}

/// Messages of one kind that a rank sends or receives one after the other.
#[derive(Debug)]
pub enum Series<'a> {
    /// Each has these data.
    Send(Destination, &'a [u8]),
    /// All are received into the same memory.
    Receive(Selector, &'a mut [u8]),
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
    /// Returns whether the message was truncated: it is consumed, and the receive has its beginning.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.bytes > self.room
    }
}

/// Waits for a request and ends it.
#[inline]
pub(super) fn finish<E: Endpoint>(endpoint: &mut E, request: Request) -> Result<Envelope> {
    endpoint.wait_any(&[request])?;
    Ok(endpoint.end(request))
}

/// Implements [`Endpoint::repeat`] by receives in sequence.
pub fn receive_in_turn<E: Endpoint>(
    endpoint: &mut E,
    selector: Selector,
    buffer: &mut [u8],
    count: usize,
) -> Result<Option<Envelope>> {
    for _ in 0..count {
        let envelope = endpoint.receive(selector, buffer)?;
        if envelope.is_cut() {
            return Ok(Some(envelope));
        }
    }
    Ok(None)
}

/// Implements [`Endpoint::repeat`] by receives that are all posted before the first is waited for. `requests`
/// is empty memory for them.
pub fn receive_together<E: Endpoint>(
    endpoint: &mut E,
    requests: &mut Vec<Request>,
    (selector, buffer): (Selector, &mut [u8]),
    count: usize,
) -> Result<Option<Envelope>> {
    for _ in 0..count {
        // SAFETY: `buffer` is borrowed until all requests are done or a call has failed permanently. It may finally
        // contain any of the messages.
        #[allow(unsafe_code)]
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        requests.push(endpoint.post_receive(selector, room)?);
    }
    end_together(endpoint, requests)
}

/// Waits for all requests and ends them. Returns the envelope of the first message that did not fit.
pub fn end_together<E: Endpoint>(
    endpoint: &mut E,
    requests: &mut Vec<Request>,
) -> Result<Option<Envelope>> {
    let mut cut = None;
    for request in requests.drain(..) {
        endpoint.wait_any(&[request])?;
        let envelope = endpoint.end(request);
        cut = cut.or(envelope.is_cut().then_some(envelope));
    }
    Ok(cut)
}
