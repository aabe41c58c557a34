//! The operations of a process that its rank's endpoint has under way, with their memory. The process has numbers of
//! its own for them, so that it can continue before the endpoint has begun them.

use contract::{Envelope, Error, Request, Result};

/// Operations by number.
#[derive(Default)]
pub(super) struct Operations {
    places: Vec<Option<Place>>,
    /// Operations that were not yet reported to the process as done.
    under_way: Vec<Request>,
}

/// An operation.
struct Place {
    /// Its request of the endpoint.
    request: Request,
    memory: Memory,
}

/// The memory of an operation.
pub(super) enum Memory {
    /// The data to send.
    Sent { _data: Vec<u8> },
    /// The buffer of a receive.
    Room(Vec<u8>),
}

impl Operations {
    /// Keeps the memory of a request of the endpoint until it has ended; `own` is its number in the process.
    pub(super) fn add(&mut self, own: Request, request: Request, memory: Memory) {
        if self.places.len() <= own.index() {
            self.places.resize_with(own.index() + 1, || None);
        }
        self.places[own.index()] = Some(Place { request, memory });
        self.under_way.push(own);
    }

    /// Returns the endpoint's request of an operation of the process.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`] if there is none, because it could not be begun.
    pub(super) fn of_endpoint(&self, own: Request) -> Result<Request> {
        let place = self.places.get(own.index()).and_then(Option::as_ref);
        place.map(|place| place.request).ok_or(Error::UnknownRequest)
    }

    /// Returns the operations that were not yet reported to the process as done, in the order of their posts.
    pub(super) fn under_way(&self) -> Vec<Request> {
        self.under_way.clone()
    }

    /// Records that an operation was reported to the process as done.
    pub(super) fn note_reported(&mut self, request: Request) {
        self.under_way.retain(|&one| one != request);
    }

    /// Removes an operation that has ended.
    pub(super) fn forget(&mut self, request: Request) {
        self.note_reported(request);
        if let Some(place) = self.places.get_mut(request.index()) {
            *place = None;
        }
    }

    /// Returns the data that a completed operation has received; nothing for a send.
    pub(super) fn received(&self, request: Request, envelope: &Envelope) -> &[u8] {
        match self.places.get(request.index()) {
            Some(Some(Place { memory: Memory::Room(room), .. })) => {
                &room[..envelope.bytes.min(room.len())]
            }
            _ => &[],
        }
    }
}
