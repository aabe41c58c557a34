//! The requests of a process that its rank's endpoint has under way, with their memory. The process has numbers of its
//! own for them, so that it can go on before the endpoint has begun them.

use contract::{Envelope, Error, Request, Result};

/// Requests by number.
#[derive(Default)]
pub(super) struct Requests {
    places: Vec<Option<Place>>,
    /// Those that the process does not know to be done.
    under_way: Vec<Request>,
}

/// A request.
struct Place {
    /// What the endpoint calls it.
    request: Request,
    memory: Memory,
}

/// The memory of a request.
pub(super) enum Memory {
    /// The data to send.
    Sent { _data: Vec<u8> },
    /// Room for what is received.
    Room(Vec<u8>),
}

impl Requests {
    /// Keeps the memory of a request of the endpoint until it has ended; the process calls it `own`.
    pub(super) fn add(&mut self, own: Request, request: Request, memory: Memory) {
        if self.places.len() <= own.index() {
            self.places.resize_with(own.index() + 1, || None);
        }
        self.places[own.index()] = Some(Place { request, memory });
        self.under_way.push(own);
    }

    /// What the endpoint calls a request of the process.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`] where there is none, because it could not be begun.
    pub(super) fn of_endpoint(&self, own: Request) -> Result<Request> {
        let place = self.places.get(own.index()).and_then(Option::as_ref);
        place.map(|place| place.request).ok_or(Error::UnknownRequest)
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
        if let Some(place) = self.places.get_mut(request.index()) {
            *place = None;
        }
    }

    /// The data that a completed request has received; none for a send.
    pub(super) fn received(&self, request: Request, envelope: &Envelope) -> &[u8] {
        match self.places.get(request.index()) {
            Some(Some(Place { memory: Memory::Room(room), .. })) => {
                &room[..envelope.bytes.min(room.len())]
            }
            _ => &[],
        }
    }
}
