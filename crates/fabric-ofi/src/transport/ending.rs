//! Ranks that leave, and the end of this rank's own part.

use contract::Result;
use engine::{Messages, PeerState, Transport};

use super::{End, Libfabric};
use crate::tags::ImmediateData;

/// The number of polls after the word that a rank has left, until its messages count as complete. The completions of
/// one poll need not be in the order of their messages.
const POLLS_AFTER: u64 = 3;

impl Libfabric {
    /// Informs all others that this rank starts no more messages of its own and receives none.
    pub(super) fn announce_leaving(&mut self, messages: &mut Messages) -> Result<()> {
        self.end = End::Left;
        self.notify_all(messages, ImmediateData::Left(self.rank as u32))?;
        self.connections.leave(messages)
    }

    /// Says goodbye to all others, over the connections only when the provider has completed that.
    pub(super) fn advance_end_of_messages(&mut self, messages: &mut Messages) -> Result<bool> {
        if matches!(self.end, End::No | End::Left) {
            self.end = End::SaysGoodbye;
            self.notify_all(messages, ImmediateData::Goodbye(self.rank as u32))?;
        }
        if self.end == End::SaysGoodbye && !self.slots.has_words() {
            self.end = End::Closes;
        }
        if self.end == End::Closes { self.connections.advance_end(messages) } else { Ok(false) }
    }

    fn notify_all(&mut self, messages: &Messages, word: ImmediateData) -> Result<()> {
        let (me, ranks) = (self.rank, self.peers.len());
        (0..ranks).filter(|&rank| rank != me).try_for_each(|rank| self.notify(messages, rank, word))
    }

    pub(super) fn state_of(&self, rank: usize) -> PeerState {
        let long_ago = |at: Option<u64>| at.is_some_and(|at| self.polls > at + POLLS_AFTER);
        match &self.peers[rank] {
            peer if long_ago(peer.goodbye_at) => PeerState::Ended,
            peer if long_ago(peer.left_at) => PeerState::Left,
            _ => PeerState::Running,
        }
    }

    pub(super) fn has_any_left(&self) -> bool {
        self.peers.iter().any(|peer| peer.left_at.is_some())
    }
}
