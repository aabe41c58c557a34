//! Collectives by messages that do not match: the ranks of a context tell each other their calls.

use std::time::Instant;

use contract::{AgreedCall, ContextCollectives, ContextPlace, Error, Result};

use crate::agreement::{CallNote, CallNoteKind, CallReport};
use crate::{MessageEngine, Messages, PeerState, Transport};

impl CallNote {
    fn new(kind: CallNoteKind, context: u32, number: u32, call: Option<AgreedCall>) -> Self {
        CallNote { kind, context, number, call }
    }
}

impl Messages {
    /// Takes in what another rank tells about its calls. Returns what to tell that rank in return.
    pub fn take_call_note(&mut self, from: usize, note: CallNote) -> Option<CallNote> {
        let CallNote { kind, context, number, call } = note;
        let report = CallReport { from, number, call };
        let (kind, call) = match kind {
            CallNoteKind::Report => {
                (CallNoteKind::Report, Some(self.agreement.take(context, report)?))
            }
            CallNoteKind::Question => {
                (CallNoteKind::Answer, self.agreement.answer(context, report))
            }
            CallNoteKind::Answer => {
                self.agreement.take_answer(context, report);
                return None;
            }
        };
        Some(CallNote::new(kind, context, number, call))
    }
}

/// The place of a context is its number.
impl<T: Transport> ContextCollectives for MessageEngine<T> {
    /// Records a collective by messages, and returns its number. A failure to tell another rank ends the next call of this
    /// rank.
    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        let context = place.0;
        let announced = self.messages.agreement.announce(context, call);
        let Some((number, asking)) = announced else { return 0 };
        for rank in asking {
            let own = CallNote::new(CallNoteKind::Report, context, number, Some(call));
            let _ = self.send_call_note(rank, own);
        }
        number
    }

    /// Returns why the call with this number can never complete, or `None` if it still can. Tells the other members about
    /// it once the wait is long.
    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        let context = place.0;
        let me = self.rank();
        if let Some((own, from, theirs)) = self.messages.agreement.differing(context, number) {
            return Error::of_calls((me, own), (from, theirs));
        }
        let waited = |made: Instant| made.elapsed();
        let (call, members) = self.messages.agreement.take_due((context, number), waited)?;
        let own = CallNote::new(CallNoteKind::Report, context, number, Some(call));
        let others = members.into_iter().filter(|&rank| rank != me);
        others.into_iter().try_for_each(|rank| self.send_call_note(rank, own)).err()
    }

    /// Asks the members that have left for their calls with this number. Returns whether all have answered. They do
    /// while they wait for this rank to leave, too.
    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        let context = place.0;
        let (me, transport) = (self.rank(), &self.transport);
        let answers = |rank: &usize| *rank != me && transport.state(*rank) == PeerState::Left;
        let questions = self.messages.agreement.take_questions((context, number), answers);
        let Some((call, requested)) = questions else { return true };
        for rank in requested {
            let own = CallNote::new(CallNoteKind::Question, context, number, Some(call));
            // A failure ends the next call of this rank.
            let _ = self.send_call_note(rank, own);
        }
        self.messages.agreement.are_answered((context, number))
    }
}

impl<T: Transport> MessageEngine<T> {
    /// Opens a context of these ranks.
    pub fn open_context(&mut self, context: u32, members: &[usize]) {
        self.messages.agreement.open(context, members.to_vec());
    }

    /// Closes a context.
    pub fn close_context(&mut self, context: u32) {
        self.messages.agreement.close(context);
    }

    fn send_call_note(&mut self, to: usize, note: CallNote) -> Result<()> {
        self.transport.send_call_note(&mut self.messages, to, note)
    }
}
