//! Started operations: what the engine knows of each until it is asked for its end.

use std::hash::{Hash, Hasher};

use contract::{Envelope, Request, Selector};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Send { to: u32 },
    Receive(Selector),
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) direction: Direction,
    /// The user's memory; never written for a send.
    pub(super) memory: *mut u8,
    /// The length of that memory.
    pub(super) room: usize,
    /// Bytes that have arrived or left.
    pub(super) moved: usize,
    /// The message, once it is known.
    pub(super) envelope: Envelope,
    pub(super) done: bool,
    /// Whether a message goes by rendezvous at any length, so that its end says that a receive has taken it.
    pub(super) rendezvous: bool,
    /// Whether a message may stay where its sender has it.
    pub(super) in_place: bool,
}

/// The operations under way. Their places are used again, so that a program in its steady state allocates
/// nothing.
#[derive(Default)]
pub(super) struct Operations {
    places: Vec<Operation>,
    free: Vec<u32>,
}

impl Operations {
    #[inline(always)]
    pub(super) fn start(&mut self, operation: Operation) -> Request {
        if let Some(index) = self.free.pop() {
            self.places[index as usize] = operation;
            return Request(index);
        }
        self.places.push(operation);
        Request((self.places.len() - 1) as u32)
    }

    /// Forgets an operation that has ended, and returns its message.
    #[inline(always)]
    pub(super) fn end(&mut self, request: Request) -> Envelope {
        self.free.push(request.0);
        self[request].envelope
    }

    /// Adds how far each has come to a hash.
    pub(super) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.places.iter().for_each(|one| (one.moved, one.done).hash(hasher));
        self.free.len().hash(hasher);
    }

    /// The sends that are under way.
    pub(super) fn iter_sends(&self) -> impl Iterator<Item = (Request, &Operation)> {
        let sends = self.places.iter().enumerate();
        sends
            .filter(|(_, one)| matches!(one.direction, Direction::Send { .. }) && !one.done)
            .map(|(index, one)| (Request(index as u32), one))
    }
}

impl std::ops::Index<Request> for Operations {
    type Output = Operation;

    #[inline]
    fn index(&self, request: Request) -> &Operation {
        &self.places[request.index()]
    }
}

impl std::ops::IndexMut<Request> for Operations {
    #[inline]
    fn index_mut(&mut self, request: Request) -> &mut Operation {
        &mut self.places[request.index()]
    }
}
