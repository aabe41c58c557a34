//! Requests of plain messages, which need no object.

use contract::{Endpoint, LongWaits, Request as Started};

use crate::datatype::Signature;
use crate::engine::{Engine, too_long};
use crate::error::Result;
use crate::status::Status;

/// The data of a plain message in progress that are needed until it has ended.
///
/// It is a value, and a copy stands for the same message: when one copy has ended, all must be dropped. The memory of a
/// message was promised when it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightRequest {
    /// A send whose data were sent when it began.
    Sent,
    /// A send in progress.
    Send(Started),
    /// A receive into memory in one piece, in a context whose ranks are those of the run, and the class of its elements.
    Receive(Started, u8),
    /// A receive that was cancelled before a message arrived.
    Cancelled,
}

impl LightRequest {
    /// Returns the fabric's request.
    #[inline(always)]
    pub fn started(self) -> Option<Started> {
        match self {
            LightRequest::Send(started) | LightRequest::Receive(started, _) => Some(started),
            LightRequest::Sent | LightRequest::Cancelled => None,
        }
    }

    /// Returns whether it is known to have ended.
    #[inline(always)]
    pub fn has_ended<E: Endpoint>(self, endpoint: &E) -> bool {
        self.started().is_none_or(|started| endpoint.is_done(started))
    }

    /// Returns this message if the rank that it needs has left.
    pub fn unsatisfiable(self, waits: &mut dyn LongWaits) -> Option<Started> {
        self.started().filter(|&started| waits.cannot_complete(started))
    }

    /// Ends a receive whose message has arrived and fits, and returns sender, tag and length. Otherwise returns `None`
    /// and has no effect.
    #[inline(always)]
    pub fn end_plainly<E: Endpoint>(
        self,
        engine: &Engine<E>,
        endpoint: &mut E,
    ) -> Option<(u32, u32, usize)> {
        let LightRequest::Receive(started, class) = self else { return None };
        if endpoint.envelope(started).is_cut() {
            return None;
        }
        let message = endpoint.end(started);
        engine.note_received(&message, Signature::of_received(class, message.bytes));
        Some((message.source, message.tag, message.bytes))
    }

    /// Returns its status and outcome, after its end.
    #[inline]
    pub fn status<E: Endpoint>(self, endpoint: &E) -> (Status, Result) {
        let started = match self {
            LightRequest::Sent | LightRequest::Send(_) => return (Status::empty(), Ok(())),
            LightRequest::Cancelled => return (Status::empty().cancelled(), Ok(())),
            LightRequest::Receive(started, _) => started,
        };
        let envelope = endpoint.envelope(started);
        let kept = envelope.bytes.min(envelope.room);
        let status = Status::new(envelope.source, envelope.tag, kept as u64);
        let outcome = match envelope.is_cut() {
            true => {
                Err(too_long(&envelope, envelope.source as usize).in_context(envelope.context / 2))
            }
            false => Ok(()),
        };
        (status, outcome)
    }

    /// Frees it after its end.
    #[inline]
    pub fn end<E: Endpoint>(self, engine: &Engine<E>, endpoint: &mut E) {
        let Some(started) = self.started() else { return };
        let message = endpoint.end(started);
        if let LightRequest::Receive(_, class) = self {
            engine.note_received(&message, Signature::of_received(class, message.bytes));
        }
    }

    /// Cancels a receive that has no message yet.
    pub fn cancel<E: Endpoint>(self, endpoint: &mut E) -> Option<LightRequest> {
        let LightRequest::Receive(started, _) = self else { return None };
        endpoint.cancel_receive(started).then_some(LightRequest::Cancelled)
    }
}
