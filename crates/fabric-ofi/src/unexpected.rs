//! Unexpected messages that probes have received from the provider.
//!
//! They are older than all messages that the provider still has. A receive therefore searches them first, from the
//! oldest.

use std::collections::VecDeque;

use contract::{Envelope, Selector};

/// The received part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// The RTS of a long one: the word beside its tag.
    Rts(u64),
}

/// The messages, in the order of their arrival.
#[derive(Default)]
pub(crate) struct Unexpected(VecDeque<(Envelope, Body)>);

impl Unexpected {
    pub(crate) fn keep(&mut self, envelope: Envelope, body: Body) {
        self.0.push_back((envelope, body));
    }

    /// Removes and returns the oldest message that `selector` accepts.
    pub(crate) fn take(&mut self, selector: &Selector) -> Option<(Envelope, Body)> {
        let place = self.0.iter().position(|(envelope, _)| selector.accepts(envelope))?;
        self.0.remove(place)
    }

    /// Returns the oldest message that `selector` accepts.
    pub(crate) fn find(&self, selector: &Selector) -> Option<Envelope> {
        self.0.iter().map(|(envelope, _)| *envelope).find(|one| selector.accepts(one))
    }

    /// Returns all messages.
    pub(crate) fn envelopes(&self) -> Vec<Envelope> {
        self.0.iter().map(|(envelope, _)| *envelope).collect()
    }

    /// Moves that message to another context and tag, and returns its previous envelope.
    pub(crate) fn claim(
        &mut self,
        selector: &Selector,
        context: u32,
        tag: u32,
    ) -> Option<Envelope> {
        let found = self.0.iter_mut().find(|(envelope, _)| selector.accepts(envelope))?;
        let before = found.0;
        (found.0.context, found.0.tag) = (context, tag);
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: u32, tag: u32) -> Envelope {
        Envelope { context: 2, source, tag, bytes: 1, room: 1 }
    }

    #[test]
    fn the_oldest_accepted_message_is_taken_and_a_claimed_one_is_out_of_sight() {
        let mut waiting = Unexpected::default();
        for (number, (source, tag)) in [(0, 5), (1, 5), (0, 6), (0, 5)].into_iter().enumerate() {
            waiting.keep(message(source, tag), Body::Rts(number as u64));
        }
        let from = |source, tag| Selector { context: 2, source, tag };
        assert_eq!(waiting.find(&from(None, Some(6))), Some(message(0, 6)));
        assert_eq!(waiting.claim(&from(Some(0), None), 3, 99), Some(message(0, 5)));
        let taken = |waiting: &mut Unexpected, selector| waiting.take(&selector).map(|one| one.1);
        assert_eq!(taken(&mut waiting, from(None, Some(5))), Some(Body::Rts(1)));
        assert_eq!(taken(&mut waiting, from(Some(0), Some(5))), Some(Body::Rts(3)));
        assert_eq!(taken(&mut waiting, from(None, Some(5))), None);
        let claimed = Selector { context: 3, source: None, tag: Some(99) };
        assert_eq!(taken(&mut waiting, claimed), Some(Body::Rts(0)));
    }
}
