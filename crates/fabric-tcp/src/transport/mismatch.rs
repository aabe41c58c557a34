//! Mismatched collectives: the exchange of calls between ranks.

use std::time::Instant;

use contract::{AgreedCall, CallId, Error, Result};
use engine::Messages;

use super::Connections;
use super::agreement::CallReport;
use crate::frame::{Header, Kind};

impl Connections {
    /// Opens a context of these ranks of the run.
    pub fn open_context(&mut self, context: u32, members: &[usize]) {
        self.agreement.open(context, members.to_vec());
    }

    /// Closes a context.
    pub fn close_context(&mut self, context: u32) {
        self.agreement.close(context);
    }

    /// Records a collective by messages, and returns its number. A failed write ends the next call of this rank.
    pub fn announce_by_messages(
        &mut self,
        messages: &mut Messages,
        context: u32,
        call: AgreedCall,
    ) -> u32 {
        let Some((number, asking)) = self.agreement.announce(context, call) else { return 0 };
        for rank in asking {
            let own = report_of(context, number, Some(call));
            let _ = self.tell_call_id(messages, rank, Kind::Collective, own);
        }
        number
    }

    /// Processes the call id of another rank's call.
    pub(super) fn take_call_id(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: Header,
    ) -> Result<()> {
        let (context, report) = report_in(from, header);
        match self.agreement.take(context, report) {
            Some(own) => {
                let own = report_of(context, report.number, Some(own));
                self.tell_call_id(messages, from, Kind::Collective, own)
            }
            None => Ok(()),
        }
    }

    /// Answers the question of a rank that waits for this one, which has left.
    pub(super) fn answer_call_id(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: Header,
    ) -> Result<()> {
        let (context, report) = report_in(from, header);
        let own = self.agreement.answer(context, report);
        let own = report_of(context, report.number, own);
        self.tell_call_id(messages, from, Kind::CollectiveAnswer, own)
    }

    /// Processes such an answer.
    pub(super) fn take_answered_call_id(&mut self, from: usize, header: Header) {
        let (context, report) = report_in(from, header);
        self.activity += 1;
        self.agreement.take_answer(context, report);
    }

    /// Asks the members that have left for their calls with this number. Returns whether all have answered. They do
    /// while they wait for this rank to leave, too.
    pub fn have_left_compared(
        &mut self,
        messages: &mut Messages,
        context: u32,
        number: u32,
    ) -> bool {
        let peers = &self.peers;
        let answers = |rank: &usize| {
            let peer = peers[*rank].as_ref();
            peer.is_some_and(|peer| peer.has_left && !peer.goodbye && !peer.is_lost())
        };
        let questions = self.agreement.take_questions((context, number), answers);
        let Some((call, asked)) = questions else { return true };
        for rank in asked {
            let own = report_of(context, number, Some(call));
            // A failed write ends the next call of this rank.
            let _ = self.tell_call_id(messages, rank, Kind::CollectiveQuestion, own);
        }
        self.agreement.are_answered((context, number))
    }

    /// Returns why the call with this number can never complete, or `None` if it still can. Sends its call id to the
    /// other members once the wait is long.
    pub fn find_mismatch(
        &mut self,
        messages: &mut Messages,
        context: u32,
        number: u32,
    ) -> Option<Error> {
        if let Some((own, from, theirs)) = self.agreement.differing(context, number) {
            return Error::of_calls((self.rank, own), (from, theirs));
        }
        let waited = |made: Instant| made.elapsed();
        let (call, members) = self.agreement.take_due((context, number), waited)?;
        let outcome = members.into_iter().try_for_each(|rank| {
            let own = report_of(context, number, Some(call));
            self.tell_call_id(messages, rank, Kind::Collective, own)
        });
        outcome.err()
    }

    fn tell_call_id(
        &mut self,
        messages: &mut Messages,
        to: usize,
        kind: Kind,
        own: Header,
    ) -> Result<()> {
        match &mut self.peers[to] {
            Some(peer) if !peer.goodbye => {
                peer.queue(Header { kind, ..own }, None);
                self.write_to(messages, to)
            }
            _ => Ok(()),
        }
    }
}

/// Returns a header with a call, or with none.
fn report_of(context: u32, number: u32, call: Option<AgreedCall>) -> Header {
    let AgreedCall { id, bytes } = call.unwrap_or(AgreedCall { id: CallId::NONE, bytes: 0 });
    let (request, bytes) = (id.bits(), bytes as u64);
    Header { context, tag: number, request, bytes, ..Header::new(Kind::Collective) }
}

/// Returns the context and the call in a header.
fn report_in(from: usize, header: Header) -> (u32, CallReport) {
    let Header { context, tag: number, request, bytes, .. } = header;
    let call = AgreedCall { id: CallId::from_bits(request), bytes: bytes as usize };
    (context, CallReport { from, number, call: Some(call).filter(|call| call.id != CallId::NONE) })
}
