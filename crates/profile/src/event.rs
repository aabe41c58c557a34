//! The record of one call of a rank.

use crate::layout::event::WORDS;

/// Number that means no rank.
pub const NOBODY: u32 = u32::MAX;

/// Maximum time in ticks, some microseconds, between two idle polls of one loop, and between them and the call that ends
/// the loop. A rank that does more between them is not idle.
pub const IDLE_TICKS: u64 = 8192;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A call without further details.
    Call = 1,
    /// A blocking send.
    Sent = 2,
    /// The start of a send.
    SendStarted = 3,
    /// The end of a send that was started before.
    SendEnded = 4,
    /// The end of a receive that was posted in this call or before.
    Received = 5,
    /// A collective that began and ended in this call.
    Collective = 6,
    /// The start of a collective.
    CollectiveStarted = 7,
    /// The end of a collective that was started before.
    CollectiveEnded = 8,
    /// Successive idle polls.
    Polls = 9,
    /// An access to one piece of the memory of a window ([`WindowAccess`](crate::WindowAccess)).
    Accessed = 10,
    /// A call that synchronises accesses to a window ([`Synchronisation`](crate::Synchronisation)).
    Synchronised = 11,
}

impl Kind {
    fn of(number: u8) -> Option<Self> {
        const ALL: [Kind; 11] = [
            Kind::Call,
            Kind::Sent,
            Kind::SendStarted,
            Kind::SendEnded,
            Kind::Received,
            Kind::Collective,
            Kind::CollectiveStarted,
            Kind::CollectiveEnded,
            Kind::Polls,
            Kind::Accessed,
            Kind::Synchronised,
        ];
        ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// An event of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind.
    pub kind: Kind,
    /// True if it stands for the whole call. Exactly one of the events of a call does.
    pub is_span: bool,
    /// Start of the call, in ticks.
    pub begin: u64,
    /// End of the call, in ticks.
    pub end: u64,
    /// Time at which the operation was posted; for a collective, its number in its communicator.
    pub posted: u64,
    /// Bytes that were sent or received, or contributed to a collective.
    pub bytes: u64,
    /// The other rank, in MPI_COMM_WORLD; for a collective, its root.
    pub peer: u32,
    /// Its tag.
    pub tag: i32,
    /// Index of the place of the call.
    pub site: u16,
    /// Index of the communicator.
    pub communicator: u16,
}

impl Event {
    /// Returns its representation in memory.
    #[inline]
    pub fn to_words(&self) -> [u64; WORDS] {
        let peer_and_tag = u64::from(self.peer) | u64::from(self.tag as u32) << 32;
        let numbers = u64::from(self.site) | u64::from(self.communicator) << 16;
        let kind = (self.kind as u64) << 32 | u64::from(self.is_span) << 40;
        [self.begin, self.end, self.posted, self.bytes, peer_and_tag, numbers | kind]
    }

    /// Reads an event from memory. Returns `None` if the words are not an event.
    pub fn from_words(words: &[u64; WORDS]) -> Option<Self> {
        let [begin, end, posted, bytes, peer_and_tag, numbers] = *words;
        Some(Event {
            kind: Kind::of((numbers >> 32) as u8)?,
            is_span: numbers >> 40 & 1 == 1,
            begin,
            end,
            posted,
            bytes,
            peer: peer_and_tag as u32,
            tag: (peer_and_tag >> 32) as i32,
            site: numbers as u16,
            communicator: (numbers >> 16) as u16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_written() {
        for number in 1..=11 {
            let event = Event {
                kind: Kind::of(number).unwrap(),
                is_span: number % 2 == 0,
                begin: 1 << 60,
                end: (1 << 60) + 5,
                posted: 77,
                bytes: 1 << 40,
                peer: NOBODY,
                tag: -2,
                site: 4095,
                communicator: u16::MAX,
            };
            assert_eq!(Event::from_words(&event.to_words()), Some(event));
        }
        assert_eq!(Event::from_words(&[0; 6]), None);
        assert_eq!(Event::from_words(&[12 << 32; 6]), None);
    }
}
