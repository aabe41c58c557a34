//! Ranks that leave: requests that can never complete without them, and the end of this rank's own part.

use contract::{Error, Request, Result, Selector};

use super::operation::Operation;
use super::{Connection, Engine};
use crate::frame::{Header, Kind};

impl Engine {
    /// Announces to all others that this rank sends and receives no messages of its own any more. The announcement
    /// follows everything that it has sent in the streams.
    pub(crate) fn leave(&mut self) -> Result<()> {
        self.check()?;
        if !self.has_left {
            self.has_left = true;
            self.tell_all(Kind::Leaving)?;
        }
        Ok(())
    }

    pub(crate) fn any_has_left(&self) -> bool {
        self.is_noting_waits() || self.has_left || self.others_left > 0
    }

    /// Records that a process is gone without a goodbye. Ranks that need it detect that.
    pub(super) fn lose(&mut self, rank: usize) {
        self.activity += 1;
        if let Some(peer) = &mut self.peers[rank] {
            peer.close();
            self.others_left += usize::from(!peer.has_left);
            peer.has_left = true;
        }
    }

    /// Returns whether another process has ended its part, successfully or not.
    pub(crate) fn has_ended(&self, rank: usize) -> bool {
        self.peers[rank].as_ref().is_none_or(|peer| peer.goodbye || peer.is_lost())
    }

    fn tell_all(&mut self, kind: Kind) -> Result<()> {
        for rank in 0..self.size() {
            if let Some(peer) = &mut self.peers[rank] {
                peer.queue(Header::new(kind), None);
                self.write_to(rank)?;
            }
        }
        Ok(())
    }

    /// Returns whether a rank can no longer be waited for. A rank that has only left still takes part in joint work,
    /// and a rank that has left itself waits for nothing else.
    fn is_gone(&self, rank: usize) -> bool {
        let gone =
            |peer: &Connection| peer.goodbye || peer.is_lost() || peer.has_left && !self.has_left;
        self.peers[rank].as_ref().is_some_and(gone)
    }

    /// Returns whether all ranks that could send what `selector` accepts have left.
    pub(crate) fn none_will_send(&self, selector: &Selector) -> bool {
        match selector.source {
            Some(source) => self.is_gone(source as usize),
            None => {
                self.size() > 1
                    && (0..self.size()).all(|rank| rank == self.rank || self.is_gone(rank))
            }
        }
    }

    /// Returns whether a request can never complete because the ranks that it needs have left.
    pub(crate) fn is_hopeless(&self, request: Request) -> bool {
        match self.operations.get(request) {
            Operation::Send(send) => {
                let writes = self.peers[send.to].as_ref().is_some_and(Connection::has_outgoing);
                !send.done && self.is_gone(send.to) && !writes
            }
            Operation::Receive(receive) => match receive.envelope {
                None => self.none_will_send(&receive.selector),
                // Its data had not arrived yet.
                Some(envelope) => {
                    let sender = self.peers[envelope.source as usize].as_ref();
                    !receive.done && sender.is_some_and(Connection::is_lost)
                }
            },
        }
    }

    /// Returns whether a request waits for a call of this very rank, which cannot come while it waits.
    fn waits_for_itself(&self, request: Request) -> bool {
        match self.operations.get(request) {
            Operation::Send(send) => !send.done && send.to == self.rank,
            Operation::Receive(receive) => {
                let from_itself = match receive.selector.source {
                    Some(source) => source as usize == self.rank,
                    None => self.size() == 1,
                };
                receive.envelope.is_none() && from_itself
            }
        }
    }

    /// Returns the error of a wait for requests of which none can complete, or `None` while one can.
    pub(super) fn why_none_can_end(&self, requests: &[Request]) -> Option<Error> {
        let cannot_end = |&one: &Request| self.is_hopeless(one) || self.waits_for_itself(one);
        let first = *requests.first()?;
        requests.iter().all(cannot_end).then(|| self.describe_hopeless(first))
    }

    /// Returns the error of a hopeless request. Every later call returns this error too.
    pub(crate) fn give_up_on(&mut self, request: Request) -> Error {
        let error = self.describe_hopeless(request);
        if self.supervision.is_nobody() { error } else { self.fail(error) }
    }

    fn describe_hopeless(&self, request: Request) -> Error {
        let error = match self.operations.get(request) {
            Operation::Send(send) => Error::never_received(self.rank, send.to, &send.envelope),
            Operation::Receive(receive) => {
                let unexpected = self.matching.unexpected().copied();
                Error::never_sent(self.rank, self.size(), &receive.selector, unexpected)
            }
        };
        // It has not said goodbye: only a process of another run, whose death does not end this one.
        let is_lost = |rank: usize| self.peers[rank].as_ref().is_some_and(Connection::is_lost);
        match error {
            Error::RankEnded { rank, before } if is_lost(rank) => {
                Error::RankDied { rank, how: format!("its program ended before {before}") }
            }
            error => error,
        }
    }

    /// Completes what is in progress, says goodbye, and waits for the goodbyes of all others. No rank closes a
    /// connection earlier, because data in transit would be lost with it.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.leave()?;
        self.wait_while_possible(&[], |engine| !engine.is_sending())?;
        self.say_goodbye()?;
        self.wait_while_possible(&[], Engine::is_through)
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub(crate) fn is_sending(&self) -> bool {
        let takes_none = |send: Request| match self.operations.get(send) {
            Operation::Send(send) => self.peers[send.to]
                .as_ref()
                .is_none_or(|peer| (peer.goodbye || peer.has_left) && !peer.has_outgoing()),
            Operation::Receive(_) => true,
        };
        !self.operations.pending_sends().all(takes_none)
    }

    /// Announces to all others that nothing follows.
    pub(crate) fn say_goodbye(&mut self) -> Result<()> {
        self.tell_all(Kind::Goodbye)
    }

    /// Returns whether all ranks have said goodbye.
    pub(crate) fn is_through(&self) -> bool {
        let is_through = |peer: &Connection| {
            peer.goodbye && !peer.has_outgoing() && (peer.is_closed() || peer.is_delivered())
        };
        self.peers.iter().flatten().all(is_through)
    }
}
