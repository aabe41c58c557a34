//! What this rank waits for, and the proof that nothing for it is under way.
//!
//! Only the provider knows which messages it has. Each message and word that it accepts is counted, and each that it
//! delivers: those of unexpected messages too, because a long wait receives them. If the numbers of all ranks are
//! equal at one moment, no provider has any. What else a provider may still complete by itself is excluded: sends that
//! it has not completed, although their messages have arrived, and operations on memory of other ranks.
//!
//! An operation on memory can only end a wait of the rank that has started it, which has it as incomplete until then. No
//! wait of the rank with the memory depends on what others write there: they ask for locks and announce everything else
//! by messages, and a program that polls its memory does not wait.

use contract::{Awaited, Envelope, Request};
use launcher::PollState;

use super::Engine;
use crate::slots::Slot;

impl Engine {
    /// Returns the state after an idle poll.
    pub(crate) fn poll_state(&self) -> PollState {
        let [sent, received] = self.traffic;
        let may_end_otherwise =
            self.objects.is_none() || self.has_queued() || self.slots.has_incomplete();
        PollState { state: self.activity, sent, received, may_end_otherwise }
    }

    /// Returns what a message that has not ended waits for.
    pub(crate) fn awaited_by(&self, request: Request) -> Option<Awaited> {
        match self.slots.get(request.0) {
            Slot::Send(send) if !send.is_done() => {
                Some(Awaited::Receive { to: send.to, envelope: send.envelope })
            }
            Slot::Receive(_) if self.is_done(request) => None,
            Slot::Receive(one) => Some(match one.envelope {
                Some(envelope) => Awaited::Data(envelope),
                None => Awaited::Message(one.selector),
            }),
            _ => None,
        }
    }

    /// Returns the messages that no receive has matched, as far as they are here.
    pub(crate) fn unexpected(&self) -> Vec<Envelope> {
        self.unexpected.envelopes()
    }
}
