//! Which message meets which receive.

use std::collections::VecDeque;

use contract::{Source, Tag, TagSelector};

/// A rank's messages that no receive has taken, and receives that no message has met, each in order.
#[derive(Default)]
pub(super) struct Mailbox {
    arrived: VecDeque<Envelope>,
    wanted: VecDeque<Wanted>,
}

/// What a message is matched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) message: u32,
    pub(super) from: u32,
    pub(super) tag: Tag,
}

/// What a receive is matched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) operation: u32,
    pub(super) from: Source,
    pub(super) tag: TagSelector,
}

impl Wanted {
    fn accepts(&self, envelope: &Envelope) -> bool {
        self.from.accepts(envelope.from as usize) && self.tag.accepts(envelope.tag)
    }
}

impl Mailbox {
    /// A message came: the receive that takes it. Without one it waits.
    pub(super) fn arrive(&mut self, envelope: Envelope) -> Option<u32> {
        match self.wanted.iter().position(|wanted| wanted.accepts(&envelope)) {
            Some(index) => self.wanted.remove(index).map(|wanted| wanted.operation),
            None => {
                self.arrived.push_back(envelope);
                None
            }
        }
    }

    /// A receive was posted: the message that it takes. Without one it waits.
    pub(super) fn want(&mut self, wanted: Wanted) -> Option<u32> {
        match self.arrived.iter().position(|envelope| wanted.accepts(envelope)) {
            Some(index) => self.arrived.remove(index).map(|envelope| envelope.message),
            None => {
                self.wanted.push_back(wanted);
                None
            }
        }
    }

    /// The first message that such a receive would take.
    pub(super) fn probe(&self, from: Source, tag: TagSelector) -> Option<Envelope> {
        let wanted = Wanted { operation: 0, from, tag };
        self.arrived.iter().find(|envelope| wanted.accepts(envelope)).copied()
    }

    /// The messages that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Envelope> {
        self.arrived.iter()
    }
}
