//! Which message belongs to which receive.

use std::collections::VecDeque;

use contract::{Held, Source, Status, TagSelector};

use super::operation::{Operation, Receiving};

/// A message that came, or was announced, before anybody asked for it.
pub(crate) struct Unexpected {
    pub(crate) message: Status,
    pub(crate) content: Content,
}

/// What is there of an unexpected message.
pub(crate) enum Content {
    /// It is coming in just now: the body that its connection reads.
    Coming,
    /// All of it.
    Here(Vec<u8>),
    /// Its sender keeps it, under this number.
    Announced(u32),
}

/// Receives that wait for a message, and messages that wait for a receive, each in their order.
#[derive(Default)]
pub(crate) struct Matching {
    posted: VecDeque<usize>,
    unexpected: VecDeque<Unexpected>,
}

impl Matching {
    /// A receive waits from now on.
    pub(crate) fn post(&mut self, index: usize) {
        self.posted.push_back(index);
    }

    /// A message waits from now on.
    pub(crate) fn keep(&mut self, message: Status, content: Content) {
        self.unexpected.push_back(Unexpected { message, content });
    }

    /// The receive that has waited longest for such a message; it is matched with it, and waits no more.
    pub(crate) fn receive_for(
        &mut self,
        message: Status,
        held: &mut Held<Operation>,
    ) -> Option<usize> {
        let accepts = |index: &usize| {
            let receive = held.at(*index);
            matches!(receive, Some(Operation::Receive(receive)) if receive.accepts(message.source, message.tag))
        };
        let place = self.posted.iter().position(accepts)?;
        let index = self.posted.remove(place)?;
        if let Some(Operation::Receive(receive)) = held.at_mut(index) {
            receive.message = Some(message);
        }
        Some(index)
    }

    /// The message that has waited longest and that `receive` accepts; it waits no more.
    pub(crate) fn message_for(&mut self, receive: &Receiving) -> Option<Unexpected> {
        let accepted =
            |other: &Unexpected| receive.accepts(other.message.source, other.message.tag);
        let place = self.unexpected.iter().position(accepted)?;
        self.unexpected.remove(place)
    }

    /// The message that a receive would get.
    pub(crate) fn probe(&self, from: Source, tag: TagSelector) -> Option<Status> {
        let messages = self.unexpected.iter().map(|one| one.message);
        messages.into_iter().find(|one| from.accepts(one.source) && tag.accepts(one.tag))
    }

    /// The message of `from` that was coming in is whole.
    pub(crate) fn arrived(&mut self, from: usize, bytes: Vec<u8>) {
        let coming = |one: &&mut Unexpected| {
            one.message.source == from && matches!(one.content, Content::Coming)
        };
        if let Some(one) = self.unexpected.iter_mut().find(coming) {
            one.content = Content::Here(bytes);
        }
    }
}
