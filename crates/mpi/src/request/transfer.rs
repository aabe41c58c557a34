//! Messages in progress.

use std::rc::Rc;

use contract::{Endpoint, Envelope, LongWaits, Readable, Request as Started};

use crate::engine::Context;
use crate::error::Result;
use crate::memory::{Piece, Storage};
use crate::status::Status;

/// A message in progress, and its memory.
pub(crate) struct Transfer<E: Endpoint> {
    pub(crate) started: Started,
    pub(crate) context: Rc<Context<E>>,
    pub(crate) role: Role,
}

/// The role of its memory.
pub(crate) enum Role {
    /// The data, kept for the fabric.
    Send(#[expect(dead_code)] SentData),
    /// The destination of the data, and the envelope of a matched message before it was claimed.
    Receive(Piece, Option<Envelope>),
}

/// Data in progress.
pub(crate) enum SentData {
    /// The program's data.
    Own(Piece),
    /// A copy, because the received message replaces the data.
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

    /// Returns this message if the rank that it needs has left.
    pub(super) fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        waits.cannot_complete(self.started).then_some(self.started)
    }

    /// Records the end.
    pub(super) fn finish(self, endpoint: &mut E) -> (Status, Result) {
        let envelope = endpoint.end(self.started);
        let Role::Receive(piece, claimed) = self.role else {
            return (Status::empty(), Ok(()));
        };
        piece.deliver(envelope.bytes.min(envelope.room));
        let received = Envelope { room: envelope.room, ..claimed.unwrap_or(envelope) };
        let signature = piece.memory().of().signature_of_bytes(envelope.bytes);
        self.context.engine().note_received(&received, signature);
        self.context.status_of(&received)
    }

    /// Cancels a receive that has no message yet.
    pub(super) fn cancel(&self, endpoint: &mut E) -> bool {
        matches!(self.role, Role::Receive(..)) && endpoint.cancel_receive(self.started)
    }
}
