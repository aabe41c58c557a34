//! Ranks that leave, and the end of this rank's own part.

use contract::Result;
use engine::{Messages, PeerState};

use super::{Connection, Connections};
use crate::frame::{Header, Kind};

impl Connections {
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
        matches!(self.state_of(rank), PeerState::Ended | PeerState::Lost)
    }

    pub(super) fn state_of(&self, rank: usize) -> PeerState {
        match &self.peers[rank] {
            None => PeerState::Ended,
            Some(peer) if peer.goodbye => PeerState::Ended,
            Some(peer) if peer.is_lost() => PeerState::Lost,
            Some(peer) if peer.has_left => PeerState::Left,
            Some(_) => PeerState::Running,
        }
    }

    pub(super) fn send_to_all(&mut self, messages: &mut Messages, kind: Kind) -> Result<()> {
        for rank in 0..self.ranks() {
            if let Some(peer) = &mut self.peers[rank] {
                peer.queue(Header::new(kind), None);
                self.write_to(messages, rank)?;
            }
        }
        Ok(())
    }

    /// Announces to all others that nothing follows.
    ///
    /// # Errors
    /// Errors of messages.
    pub(crate) fn say_goodbye(&mut self, messages: &mut Messages) -> Result<()> {
        self.send_to_all(messages, Kind::Goodbye)
    }

    /// Returns whether all ranks have said goodbye. No rank closes a connection earlier, because data in transit would
    /// be lost with it.
    pub(super) fn is_through(&self) -> bool {
        let is_through = |peer: &Connection| {
            peer.goodbye && !peer.has_outgoing() && (peer.is_closed() || peer.is_delivered())
        };
        self.peers.iter().flatten().all(is_through)
    }
}
