//! Receives that are matched here instead of by the provider.
//!
//! A provider matches by itself: a receive may have a message before its completion is read, and may no longer be
//! cancelled. A fabric that posts one receive to two fabrics must know which of them has matched it, and cancel the other
//! before that one finds a message. It retains the receive: the provider does not get it, and gives its messages to a
//! receive that accepts every message, as for a probe. Matching and cancelling are then changes of this engine's lists.
//!
//! The order of matching stays that of the receives. Receives that the provider or the queue before it already has are
//! older, and get their messages first. While a receive is retained, later receives of its context are retained as well.
//! Otherwise the provider would give such a receive a message that the older one accepts.

use contract::{Envelope, Request, Result, Selector, Writable};

use super::Engine;
use crate::slots::{ReceiveStage, Slot};

impl Engine {
    /// Starts to receive a message into `room`, and matches it here. Nothing is received from the provider in this
    /// call, so no other receive can find its message.
    pub(crate) fn post_retained(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let (slot, is_delivered) = self.add_receive(selector, room)?;
        if !is_delivered {
            self.slots.set_stage(slot, ReceiveStage::Retained);
            self.retained.push(slot);
        }
        Ok(Request(slot))
    }

    /// Returns whether a receive of this context is retained, so that later ones must be.
    pub(super) fn retains(&self, context: u32) -> bool {
        let is_of_context = |&slot: &u32| match self.slots.get(slot) {
            Slot::Receive(receive) => receive.selector.context == context,
            _ => false,
        };
        self.retained.iter().any(is_of_context)
    }

    /// Removes and returns the oldest retained receive that accepts this message.
    pub(super) fn take_retained(&mut self, envelope: &Envelope) -> Option<u32> {
        let place = self.retained.iter().position(|&slot| self.accepts(slot, envelope))?;
        Some(self.retained.remove(place))
    }

    /// Returns whether the message of a receive is known. Its data need not have arrived completely.
    pub(crate) fn is_matched(&self, receive: Request) -> bool {
        match self.slots.get(receive.0) {
            Slot::Receive(receive) => receive.envelope.is_some(),
            _ => false,
        }
    }
}
