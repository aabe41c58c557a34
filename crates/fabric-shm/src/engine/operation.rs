//! Operations: the engine's record of each until the program has completed it.

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
    /// Length of that memory.
    pub(super) room: usize,
    /// Number of bytes that have arrived or left.
    pub(super) moved: usize,
    /// Envelope of the message, once it is known.
    pub(super) envelope: Envelope,
    pub(super) done: bool,
    /// True if a message goes by rendezvous at any length, so that its end implies that a receive has matched it.
    pub(super) rendezvous: bool,
    /// True if a message may stay in its sender's memory.
    pub(super) in_place: bool,
}

/// The operations in progress. Their places are reused, so that a program in its steady state allocates nothing.
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

    /// Frees an operation that has ended, and returns its envelope.
    #[inline(always)]
    pub(super) fn end(&mut self, request: Request) -> Envelope {
        self.free.push(request.0);
        self[request].envelope
    }

    /// Adds the progress of each operation to a hash.
    pub(super) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.places.iter().for_each(|one| (one.moved, one.done).hash(hasher));
        self.free.len().hash(hasher);
    }

    /// Returns the sends in progress.
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
