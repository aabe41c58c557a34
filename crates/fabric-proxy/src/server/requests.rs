//! The requests of a process that its rank's endpoint has under way, with their memory.

use contract::{Envelope, Request};

/// Requests by number.
#[derive(Default)]
pub(super) struct Requests {
    memory: Vec<Option<Memory>>,
    /// Those that the process does not know to be done.
    under_way: Vec<Request>,
}

/// The memory of a request.
pub(super) enum Memory {
    /// The data to send.
    Sent { _data: Vec<u8> },
    /// Room for what is received.
    Room(Vec<u8>),
}

impl Requests {
    /// Keeps the memory of a request until it has ended.
    pub(super) fn add(&mut self, request: Request, memory: Memory) {
        if self.memory.len() <= request.index() {
            self.memory.resize_with(request.index() + 1, || None);
        }
        self.memory[request.index()] = Some(memory);
        self.under_way.push(request);
    }

    /// Those that the process does not know to be done, in the order of their posts.
    pub(super) fn under_way(&self) -> Vec<Request> {
        self.under_way.clone()
    }

    /// The process knows that a request is done.
    pub(super) fn note_told(&mut self, request: Request) {
        self.under_way.retain(|&one| one != request);
    }

    /// A request has ended.
    pub(super) fn forget(&mut self, request: Request) {
        self.note_told(request);
        if let Some(place) = self.memory.get_mut(request.index()) {
            *place = None;
        }
    }

    /// The data that a completed request has received; none for a send.
    pub(super) fn received(&self, request: Request, envelope: &Envelope) -> &[u8] {
        match self.memory.get(request.index()) {
            Some(Some(Memory::Room(room))) => &room[..envelope.bytes.min(room.len())],
            _ => &[],
        }
    }
}
