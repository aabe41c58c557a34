//! Ranks that leave: requests that can never end without them, and the end of this rank's own part.

use contract::{Error, Request, Result, Selector};

use super::Engine;
use crate::slots::{SendStage, Slot};
use crate::tags::Beside;

/// The number of polls after the word that a rank has left, until its messages count as complete. The completions of
/// one poll need not be in the order of their messages.
const POLLS_AFTER: u64 = 3;

impl Engine {
    /// Informs all others that this rank starts no more messages of its own and receives none.
    pub(crate) fn leave(&mut self) -> Result<()> {
        self.check()?;
        if !self.has_left {
            self.has_left = true;
            self.tell_all(Beside::Left(self.rank as u32))?;
        }
        Ok(())
    }

    /// Informs all others that this is the last word of this rank.
    pub(crate) fn say_goodbye(&mut self) -> Result<()> {
        self.tell_all(Beside::Goodbye(self.rank as u32))
    }

    fn tell_all(&mut self, word: Beside) -> Result<()> {
        let me = self.rank;
        (0..self.size()).filter(|&rank| rank != me).try_for_each(|rank| self.tell(rank, word))
    }

    pub(crate) fn any_has_left(&self) -> bool {
        self.has_left || self.peers.iter().any(|peer| peer.left_at.is_some())
    }

    /// Returns whether a wait for a rank can never end. A rank that has left still takes part in the common end of the
    /// run, and after this rank has left it waits for nothing else.
    fn is_gone(&self, rank: usize) -> bool {
        let long_ago = |at: Option<u64>| at.is_some_and(|at| self.polls > at + POLLS_AFTER);
        let peer = &self.peers[rank];
        long_ago(peer.goodbye_at) || !self.has_left && long_ago(peer.left_at)
    }

    /// Returns whether all ranks that could send what `selector` accepts have left.
    pub(crate) fn none_will_send(&self, selector: &Selector) -> bool {
        match selector.source {
            Some(source) => self.is_gone(source as usize),
            None => {
                let others = || (0..self.size()).filter(|&rank| rank != self.rank);
                self.size() > 1 && others().all(|rank| self.is_gone(rank))
            }
        }
    }

    /// Returns whether a request can never end, because the ranks that it needs have left.
    pub(crate) fn is_hopeless(&self, request: Request) -> bool {
        match self.slots.get(request.0) {
            // A message that the provider has as a whole is delivered without a receive.
            Slot::Send(send) => {
                let waits = matches!(send.stage, SendStage::Waits(_));
                !send.is_done() && waits && self.is_gone(send.to)
            }
            Slot::Receive(one) => one.envelope.is_none() && self.none_will_send(&one.selector),
            Slot::Access(access) => !access.is_done && self.is_gone(access.to),
            _ => false,
        }
    }

    /// Returns whether a request waits for a call of this same rank, which cannot happen during the wait.
    fn waits_for_itself(&self, request: Request) -> bool {
        match self.slots.get(request.0) {
            Slot::Send(send) => matches!(send.stage, SendStage::Waits(_)) && send.to == self.rank,
            Slot::Receive(receive) => {
                let from_itself = match receive.selector.source {
                    Some(source) => source as usize == self.rank,
                    None => self.size() == 1,
                };
                receive.envelope.is_none() && from_itself && self.own_under_way == 0
            }
            _ => false,
        }
    }

    /// Returns the error of a wait for requests of which none can end, or `None` while one can.
    pub(crate) fn why_none_can_end(&mut self, requests: &[Request]) -> Result<Option<Error>> {
        let Some(&first) = requests.first() else { return Ok(None) };
        if self.own_under_way > 0 {
            // Unexpected messages that the provider still has count as arrived only when they are here.
            self.drain()?;
        }
        let cannot_end = |&one: &Request| {
            !self.is_done(one) && (self.is_hopeless(one) || self.waits_for_itself(one))
        };
        if !requests.iter().all(cannot_end) {
            return Ok(None);
        }
        // The error names the unexpected messages.
        self.drain()?;
        Ok(Some(self.describe_hopeless(first)))
    }

    /// Returns the error of a request that can never end. Every call returns it from now on.
    pub(crate) fn give_up_on(&mut self, request: Request) -> Error {
        // The error names the unexpected messages. An error of the provider is no reason to give up the words.
        let _ = self.drain();
        let error = self.describe_hopeless(request);
        self.fail(error)
    }

    fn describe_hopeless(&self, request: Request) -> Error {
        match self.slots.get(request.0) {
            Slot::Send(send) => Error::never_received(self.rank, send.to, &send.envelope),
            Slot::Receive(receive) => {
                let unexpected = self.unexpected().into_iter();
                Error::never_sent(self.rank, self.size(), &receive.selector, unexpected)
            }
            Slot::Access(access) => {
                let before = "an access to its memory was complete".into();
                Error::RankEnded { rank: access.to, before }
            }
            _ => Error::UnknownRequest,
        }
    }

    /// Returns whether a message of this rank may still be received, or waits for the provider.
    pub(crate) fn is_sending(&self) -> bool {
        let ends = |rank: usize| {
            rank == self.rank
                || self.peers[rank].left_at.is_some()
                || self.peers[rank].goodbye_at.is_some()
        };
        self.slots.pending_sends().any(|send| send.stage == SendStage::Posted || !ends(send.to))
            || self.slots.pending_accesses().any(|access| !ends(access.to))
    }

    /// Returns whether words of this rank wait for the provider.
    pub(crate) fn is_telling(&self) -> bool {
        self.slots.has_words()
    }

    /// Closes the endpoint. Nothing is sent or received any more.
    pub(crate) fn close(&mut self) {
        self.fail(Error::Program("the endpoint is closed".into()));
    }
}
