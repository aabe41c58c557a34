//! A message under way.

use std::rc::Rc;

use contract::{Endpoint, Envelope, Readable, Request as Started};

use crate::engine::Context;
use crate::error::Result;
use crate::memory::{Piece, Storage};
use crate::status::Status;

/// A message under way, and the memory that it needs.
pub(crate) struct Transfer<E: Endpoint> {
    pub(crate) started: Started,
    pub(crate) context: Rc<Context<E>>,
    pub(crate) role: Role,
}

/// What its memory is for.
pub(crate) enum Role {
    /// The data, kept for the fabric.
    Send(#[expect(dead_code)] SentData),
    /// Where the data go, and what a matched message was before it was claimed.
    Receive(Piece, Option<Envelope>),
}

/// Data under way.
pub(crate) enum SentData {
    /// Those of the program.
    Own(Piece),
    /// A copy, since what is received takes their place.
    Copy(Storage),
}

impl SentData {
    pub(crate) fn readable(&self) -> Readable {
        match self {
            SentData::Own(piece) => piece.readable(),
            SentData::Copy(storage) => storage.readable(0..storage.bytes()),
        }
    }
}

impl<E: Endpoint> Transfer<E> {
    pub(super) fn has_ended(&self, endpoint: &E) -> bool {
        endpoint.is_done(self.started)
    }

    /// This message, if the rank that it needs has left.
    pub(super) fn hopeless(&self, endpoint: &E) -> Option<Started> {
        endpoint.is_hopeless(self.started).then_some(self.started)
    }

    /// Takes note of the end.
    pub(super) fn finish(self, endpoint: &mut E) -> (Status, Result) {
        let outcome = endpoint.outcome(self.started);
        let envelope = endpoint.end(self.started);
        let Role::Receive(piece, claimed) = self.role else {
            return (Status::empty(), outcome.map_err(Into::into));
        };
        piece.deliver(envelope.bytes.min(envelope.room));
        let told = Envelope { room: envelope.room, ..claimed.unwrap_or(envelope) };
        let (status, fits) = self.context.status_of(&told);
        (status, fits.and(outcome.map_err(Into::into)))
    }

    /// Ends a receive that has no message yet.
    pub(super) fn cancel(&self, endpoint: &mut E) -> bool {
        matches!(self.role, Role::Receive(..)) && endpoint.cancel_receive(self.started)
    }
}
