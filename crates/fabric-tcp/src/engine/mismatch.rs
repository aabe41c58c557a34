//! Mismatched collectives: the exchange of call ids between ranks.

use std::time::Instant;

use contract::{DescribeCall, Error, Result};

use super::Engine;
use super::agreement::CallReport;
use crate::frame::{Header, Kind};

impl Engine {
    /// Opens a context of these ranks of the run.
    pub(crate) fn open_context(&mut self, context: u32, members: &[usize]) {
        self.agreement.open(context, members.to_vec());
    }

    /// Closes a context.
    pub(crate) fn close_context(&mut self, context: u32) {
        self.agreement.close(context);
    }

    /// Records a collective by messages, and returns its number. A failed write ends the next call of this rank.
    pub(crate) fn announce_by_messages(&mut self, context: u32, call_id: u32) -> u32 {
        let Some((number, asking)) = self.agreement.announce(context, call_id) else { return 0 };
        for rank in asking {
            let _ = self.tell_call_id(rank, context, number, call_id);
        }
        number
    }

    /// Processes the call id of another rank's call.
    pub(super) fn take_call_id(&mut self, from: usize, header: Header) -> Result<()> {
        let Header { context, tag: number, request: call_id, .. } = header;
        match self.agreement.take(context, CallReport { from, number, call_id }) {
            Some(own) => self.tell_call_id(from, context, number, own),
            None => Ok(()),
        }
    }

    /// Returns why the call with this number can never complete, or `None` if it still can. Sends its call id to the
    /// other members once the wait is long.
    pub(crate) fn find_mismatch(
        &mut self,
        context: u32,
        number: u32,
        describe: DescribeCall<'_>,
    ) -> Option<Error> {
        if let Some((own, other)) = self.agreement.differing(context, number) {
            let (own, theirs) = (describe(own), describe(other.call_id));
            let other = (other.from, Some(theirs.as_str()));
            return Some(Error::mismatched_calls((self.rank(), &own), other));
        }
        let waited = |made: Instant| made.elapsed();
        let (call_id, members) = self.agreement.take_due((context, number), waited)?;
        let outcome = members
            .into_iter()
            .try_for_each(|rank| self.tell_call_id(rank, context, number, call_id));
        outcome.err()
    }

    fn tell_call_id(&mut self, to: usize, context: u32, number: u32, call_id: u32) -> Result<()> {
        match &mut self.peers[to] {
            Some(peer) if !peer.goodbye => {
                let header = Header::new(Kind::Collective);
                peer.queue(Header { context, tag: number, request: call_id, ..header }, None);
                self.write_to(to)
            }
            _ => Ok(()),
        }
    }
}
