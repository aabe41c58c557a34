//! The longest messages of a rank, for which a replay needs memory.

use crate::event::{RankEvent, RecordedCollective};

/// The longest messages of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    pub(crate) sent_bytes: usize,
    pub(crate) received_bytes: usize,
    /// Length of a block of a collective.
    pub(crate) block_bytes: usize,
}

impl Longest {
    /// Returns the length of the longest, in a run of `ranks` ranks.
    pub(crate) fn of_all(self, ranks: usize) -> usize {
        let all = self.block_bytes.saturating_mul(ranks);
        self.sent_bytes.max(self.received_bytes).max(all)
    }

    /// Updates the lengths for an event.
    pub(crate) fn note(&mut self, event: &RankEvent) {
        match event {
            RankEvent::Send(message) | RankEvent::PostSend { message, .. } => {
                self.sent_bytes = self.sent_bytes.max(message.bytes);
            }
            RankEvent::Exchange(message, room) => {
                self.sent_bytes = self.sent_bytes.max(message.bytes);
                self.received_bytes = self.received_bytes.max(room.bytes);
            }
            RankEvent::Receive(room) | RankEvent::PostReceive(room) => {
                self.received_bytes = self.received_bytes.max(room.bytes);
            }
            RankEvent::Collective(RecordedCollective { bytes, .. }) => {
                self.block_bytes = self.block_bytes.max(*bytes);
            }
            RankEvent::Compute(_)
            | RankEvent::Sleep(_)
            | RankEvent::End(_)
            | RankEvent::Cancel(_)
            | RankEvent::Meanwhile
            | RankEvent::Aside => {}
        }
    }
}
