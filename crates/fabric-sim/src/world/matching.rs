//! Matching of messages and receives.

use std::collections::VecDeque;

use contract::{Envelope, Request, Selector};

/// A rank's messages that no receive has taken, and its receives that no message has matched, each in order.
#[derive(Default)]
pub(super) struct Mailbox {
    arrived: VecDeque<Arrived>,
    receives: VecDeque<PostedReceive>,
}

/// A message that no receive has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) message: u32,
    pub(super) envelope: Envelope,
}

/// A receive that no message has matched.
#[derive(Clone, Copy, Debug)]
struct PostedReceive {
    request: Request,
    selector: Selector,
}

impl Mailbox {
    /// Adds a message that has arrived. Returns the receive that takes it; without one, the message is kept.
    pub(super) fn arrive(&mut self, arrived: Arrived) -> Option<Request> {
        let accepts = |receive: &PostedReceive| receive.selector.accepts(&arrived.envelope);
        match self.receives.iter().position(accepts) {
            Some(index) => self.receives.remove(index).map(|receive| receive.request),
            None => {
                self.arrived.push_back(arrived);
                None
            }
        }
    }

    /// Adds a receive. Returns the message that it takes; without one, the receive is kept.
    pub(super) fn post(&mut self, request: Request, selector: Selector) -> Option<u32> {
        match self.take(&selector) {
            Some(arrived) => Some(arrived.message),
            None => {
                self.receives.push_back(PostedReceive { request, selector });
                None
            }
        }
    }

    /// Removes and returns the oldest message that `selector` accepts.
    pub(super) fn take(&mut self, selector: &Selector) -> Option<Arrived> {
        let index = self.arrived.iter().position(|one| selector.accepts(&one.envelope))?;
        self.arrived.remove(index)
    }

    /// Returns the oldest message that `selector` accepts.
    pub(super) fn find(&self, selector: &Selector) -> Option<Envelope> {
        let found = self.arrived.iter().find(|one| selector.accepts(&one.envelope));
        found.map(|arrived| arrived.envelope)
    }

    /// Removes a receive that no message has matched. Returns false if there is no such receive.
    pub(super) fn withdraw(&mut self, request: Request) -> bool {
        let found = self.receives.iter().position(|receive| receive.request == request);
        found.and_then(|index| self.receives.remove(index)).is_some()
    }

    /// Returns whether this is a receive that no message has matched.
    pub(super) fn is_unmatched(&self, request: Request) -> bool {
        self.receives.iter().any(|receive| receive.request == request)
    }

    /// Returns the messages that no receive has taken.
    pub(super) fn arrived(&self) -> impl Iterator<Item = &Arrived> {
        self.arrived.iter()
    }
}
