//! The two queues of matching: posted receives and unexpected messages.
//!
//! Both keep the order of arrival, and both are searched from the oldest entry. The rules of matching require no more.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use contract::{Envelope, Request, Selector};

use super::message::Rts;

/// The posted receives that have matched no message.
#[derive(Default)]
pub(super) struct PostedQueue {
    queue: VecDeque<(Selector, Request)>,
}

impl PostedQueue {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    #[inline(always)]
    pub(super) fn add(&mut self, selector: Selector, request: Request) {
        self.queue.push_back((selector, request));
    }

    /// Removes `request`. Returns false if it has matched a message.
    pub(super) fn remove(&mut self, request: Request) -> bool {
        let index = self.queue.iter().position(|&(_, posted)| posted == request);
        index.is_some_and(|index| self.queue.remove(index).is_some())
    }

    /// Returns whether `request` has matched no message.
    pub(super) fn holds(&self, request: Request) -> bool {
        self.queue.iter().any(|&(_, posted)| posted == request)
    }

    /// Adds the requests in the queue to a hash.
    pub(super) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.queue.iter().for_each(|(_, request)| request.0.hash(hasher));
    }

    /// Returns whether a receive accepts `envelope`.
    #[inline]
    pub(super) fn accepts(&self, envelope: &Envelope) -> bool {
        self.queue.iter().any(|(selector, _)| selector.accepts(envelope))
    }

    /// Removes and returns the oldest receive that accepts `envelope`.
    #[inline(always)]
    pub(super) fn take(&mut self, envelope: &Envelope) -> Option<Request> {
        // It is mostly the oldest one, and then nothing is moved.
        if self.queue.front().is_some_and(|(selector, _)| selector.accepts(envelope)) {
            return self.queue.pop_front().map(|(_, request)| request);
        }
        self.take_behind(envelope)
    }

    #[cold]
    fn take_behind(&mut self, envelope: &Envelope) -> Option<Request> {
        let index = self.queue.iter().position(|(selector, _)| selector.accepts(envelope))?;
        self.queue.remove(index).map(|(_, request)| request)
    }
}

/// An unexpected message.
pub(super) struct Unexpected {
    pub(super) envelope: Envelope,
    pub(super) contents: Contents,
}

/// The contents of an unexpected message.
pub(super) enum Contents {
    /// A copy of the bytes that have arrived so far.
    Copy(Vec<u8>),
    /// The RTS of another rank.
    Rts(Rts),
    /// A long message from this rank to itself.
    Own(Request),
}

/// The unexpected messages.
pub(super) struct UnexpectedQueue {
    queue: VecDeque<Unexpected>,
}

impl UnexpectedQueue {
    /// Creates a queue with room for some messages, so that the first early one needs no allocation.
    pub(super) fn with_room() -> Self {
        UnexpectedQueue { queue: VecDeque::with_capacity(16) }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn add(&mut self, message: Unexpected) {
        self.queue.push_back(message);
    }

    /// Returns the envelopes of all messages, the oldest first.
    pub(super) fn envelopes(&self) -> impl Iterator<Item = &Envelope> {
        self.queue.iter().map(|message| &message.envelope)
    }

    pub(super) fn find(&self, selector: &Selector) -> Option<&Envelope> {
        self.envelopes().find(|one| selector.accepts(one))
    }

    /// Moves the oldest message that `selector` accepts to another context and tag, and returns the envelope that it
    /// had. It keeps its position, because the rest of it may still be in flight.
    pub(super) fn claim(
        &mut self,
        selector: &Selector,
        context: u32,
        tag: u32,
    ) -> Option<Envelope> {
        let message = self.queue.iter_mut().find(|one| selector.accepts(&one.envelope))?;
        let before = message.envelope;
        (message.envelope.context, message.envelope.tag) = (context, tag);
        Some(before)
    }

    /// Removes and returns the oldest message that `selector` accepts.
    #[inline(always)]
    pub(super) fn take(&mut self, selector: &Selector) -> Option<Unexpected> {
        if self.queue.is_empty() { None } else { self.take_any(selector) }
    }

    #[cold]
    fn take_any(&mut self, selector: &Selector) -> Option<Unexpected> {
        let index = self.queue.iter().position(|one| selector.accepts(&one.envelope))?;
        self.queue.remove(index)
    }

    /// Returns the copy of the message that `source` began last, for appending.
    pub(super) fn last_from(&mut self, source: u32) -> Option<&mut Vec<u8>> {
        let newest = self.queue.iter_mut().rev().find(|one| one.envelope.source == source)?;
        match &mut newest.contents {
            Contents::Copy(copy) => Some(copy),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::message::Location;

    /// The rules of matching in their simplest form: of all pairs that match, the one with the oldest of each.
    #[derive(Default)]
    struct Model {
        receives: Vec<(Selector, u32)>,
        messages: Vec<(Envelope, u32)>,
    }

    impl Model {
        fn arrive(&mut self, envelope: Envelope, name: u32) -> Option<u32> {
            let found = self.receives.iter().position(|(selector, _)| {
                selector.context == envelope.context
                    && [None, Some(envelope.source)].contains(&selector.source)
                    && [None, Some(envelope.tag)].contains(&selector.tag)
            });
            if found.is_none() {
                self.messages.push((envelope, name));
            }
            found.map(|index| self.receives.remove(index).1)
        }

        fn receive(&mut self, selector: Selector, name: u32) -> Option<u32> {
            let found = self.messages.iter().position(|(envelope, _)| {
                selector.context == envelope.context
                    && [None, Some(envelope.source)].contains(&selector.source)
                    && [None, Some(envelope.tag)].contains(&selector.tag)
            });
            if found.is_none() {
                self.receives.push((selector, name));
            }
            found.map(|index| self.messages.remove(index).1)
        }
    }

    #[test]
    fn random_sends_and_receives_match_as_in_the_model() {
        for seed in 1..200u64 {
            let mut state = seed;
            let mut below = |limit: u32| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u32 % limit
            };
            let mut model = Model::default();
            let (mut posted, mut unexpected) =
                (PostedQueue::default(), UnexpectedQueue::with_room());
            for name in 0..400 {
                let (context, source, tag) = (below(2), below(3), below(3));
                if below(2) == 0 {
                    let envelope = Envelope { context, source, tag, ..Envelope::default() };
                    let found = posted.take(&envelope).map(|request| request.0);
                    if found.is_none() {
                        // The name takes the place of the request of an RTS.
                        let rts = Rts { request: name, location: Location::Address(0) };
                        unexpected.add(Unexpected { envelope, contents: Contents::Rts(rts) });
                    }
                    assert_eq!(found, model.arrive(envelope, name), "seed {seed}, step {name}");
                } else {
                    let source = (below(3) > 0).then_some(source);
                    let tag = (below(3) > 0).then_some(tag);
                    let selector = Selector { context, source, tag };
                    let found = unexpected.take(&selector).map(|message| match message.contents {
                        Contents::Rts(rts) => rts.request,
                        _ => unreachable!("only offers were added"),
                    });
                    if found.is_none() {
                        posted.add(selector, Request(name));
                    }
                    assert_eq!(found, model.receive(selector, name), "seed {seed}, step {name}");
                }
            }
        }
    }
}
