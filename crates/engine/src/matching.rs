//! The two queues of matching: posted receives and unexpected messages.
//!
//! Both keep the order of arrival, and both are searched from the oldest entry. The rules of matching require no more.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use contract::{Envelope, Request, Selector, Untrusted};

/// The posted receives that have matched no message.
#[derive(Default)]
pub struct PostedQueue {
    queue: VecDeque<(Selector, Request)>,
}

impl PostedQueue {
    /// Returns whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds a receive.
    #[inline(always)]
    pub fn add(&mut self, selector: Selector, request: Request) {
        self.queue.push_back((selector, request));
    }

    /// Removes `request`. Returns false if it has matched a message.
    pub fn remove(&mut self, request: Request) -> bool {
        let index = self.queue.iter().position(|&(_, posted)| posted == request);
        index.is_some_and(|index| self.queue.remove(index).is_some())
    }

    /// Returns the number of receives.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether `request` has matched no message.
    pub fn holds(&self, request: Request) -> bool {
        self.queue.iter().any(|&(_, posted)| posted == request)
    }

    /// Adds the requests in the queue to a hash.
    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.queue.iter().for_each(|(_, request)| request.0.hash(hasher));
    }

    /// Returns whether a receive accepts `envelope`.
    #[inline]
    pub fn accepts(&self, envelope: &Envelope) -> bool {
        self.queue.iter().any(|(selector, _)| selector.accepts(envelope))
    }

    /// Removes and returns the oldest receive that accepts `envelope`.
    #[inline(always)]
    pub fn take(&mut self, envelope: &Envelope) -> Option<Request> {
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
#[derive(Debug)]
pub struct Unexpected {
    /// Its envelope.
    pub envelope: Envelope,
    /// What there is of it.
    pub contents: Contents,
}

/// The contents of an unexpected message.
#[derive(Debug)]
pub enum Contents {
    /// A copy of the bytes that have arrived so far.
    Copy(Vec<u8>),
    /// Nothing usable yet: its transport is receiving it.
    Arriving,
    /// The message is still at its sender.
    Rts(Rts),
    /// A message of this rank to itself, which stays in the memory of its send.
    Own(Request),
}

/// A message that its sender keeps until it is asked for (RTS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rts {
    /// The sender's request.
    pub request: u32,
    /// Where the message lies.
    pub location: Location,
}

/// The location of a message in its sender's memory, as other ranks see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At this offset in the arenas, which every rank of the host maps.
    Arena(Untrusted<usize>),
    /// At this address in the sender's process.
    Address(Untrusted<usize>),
    /// Out of reach: its sender must send it.
    Remote,
}

/// The unexpected messages.
pub struct UnexpectedQueue {
    queue: VecDeque<Unexpected>,
}

impl Default for UnexpectedQueue {
    /// Creates a queue with room for some messages, so that the first early one needs no allocation.
    fn default() -> Self {
        UnexpectedQueue { queue: VecDeque::with_capacity(16) }
    }
}

impl UnexpectedQueue {
    /// Returns whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds a message.
    pub fn add(&mut self, message: Unexpected) {
        self.queue.push_back(message);
    }

    /// Returns the envelopes of all messages, the oldest first.
    pub fn envelopes(&self) -> impl Iterator<Item = &Envelope> {
        self.queue.iter().map(|message| &message.envelope)
    }

    /// Returns the envelope of the oldest message that `selector` accepts.
    pub fn find(&self, selector: &Selector) -> Option<&Envelope> {
        self.envelopes().find(|one| selector.accepts(one))
    }

    /// Moves the oldest message that `selector` accepts to another context and tag, and returns the envelope that it
    /// had. It keeps its position, because the rest of it may still be in flight.
    pub fn claim(&mut self, selector: &Selector, context: u32, tag: u32) -> Option<Envelope> {
        let message = self.queue.iter_mut().find(|one| selector.accepts(&one.envelope))?;
        let before = message.envelope;
        (message.envelope.context, message.envelope.tag) = (context, tag);
        Some(before)
    }

    /// Removes and returns the oldest message that `selector` accepts.
    #[inline(always)]
    pub fn take(&mut self, selector: &Selector) -> Option<Unexpected> {
        if self.queue.is_empty() { None } else { self.take_any(selector) }
    }

    #[cold]
    fn take_any(&mut self, selector: &Selector) -> Option<Unexpected> {
        let index = self.queue.iter().position(|one| selector.accepts(&one.envelope))?;
        self.queue.remove(index)
    }

    /// Records that the arriving message of `source` is complete.
    pub fn arrived(&mut self, source: usize, bytes: Vec<u8>) {
        let mut messages = self.queue.iter_mut();
        let arriving = messages.find(|one| {
            one.envelope.source as usize == source && matches!(one.contents, Contents::Arriving)
        });
        if let Some(one) = arriving {
            one.contents = Contents::Copy(bytes);
        }
    }

    /// Returns the copy of the message that `source` began last, for appending.
    pub fn last_from(&mut self, source: u32) -> Option<&mut Vec<u8>> {
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
            let (mut posted, mut unexpected) = (PostedQueue::default(), UnexpectedQueue::default());
            for name in 0..400 {
                let (context, source, tag) = (below(2), below(3), below(3));
                if below(2) == 0 {
                    let envelope = Envelope { context, source, tag, ..Envelope::default() };
                    let found = posted.take(&envelope).map(|request| request.0);
                    if found.is_none() {
                        let contents = Contents::Own(Request(name));
                        unexpected.add(Unexpected { envelope, contents });
                    }
                    assert_eq!(found, model.arrive(envelope, name), "seed {seed}, step {name}");
                } else {
                    let source = (below(3) > 0).then_some(source);
                    let tag = (below(3) > 0).then_some(tag);
                    let selector = Selector { context, source, tag };
                    let found = unexpected.take(&selector).map(|message| match message.contents {
                        Contents::Own(request) => request.0,
                        _ => unreachable!("only these were added"),
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
