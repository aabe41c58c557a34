//! The buffers of posted operations, kept until they end.

use contract::{Buffer, Completed, Error, Posted, Result};

use crate::engine::{Envelope, Request};

/// Buffers by the number of their request. Requests are small numbers that are used again, so a table serves.
#[derive(Default)]
pub(super) struct Held {
    places: Vec<Place>,
}

#[derive(Default)]
struct Place {
    /// Counts the uses of this place, so that a handle of an earlier use is known for what it is.
    generation: u32,
    held: Option<(Request, Buffer)>,
}

impl Held {
    pub(super) fn keep(&mut self, request: Request, buffer: Buffer) -> Posted {
        let index = request.index();
        if self.places.len() <= index {
            self.places.resize_with(index + 1, Place::default);
        }
        let place = &mut self.places[index];
        place.generation = place.generation.wrapping_add(1);
        place.held = Some((request, buffer));
        Posted::new(u64::from(place.generation) << 32 | index as u64)
    }

    fn place(&mut self, posted: &Posted) -> Option<&mut Place> {
        let place = self.places.get_mut(posted.number() as u32 as usize)?;
        let current = place.generation == (posted.number() >> 32) as u32 && place.held.is_some();
        current.then_some(place)
    }

    /// The request behind a handle, or [`Error::UnknownRequest`].
    pub(super) fn request(&mut self, posted: &Posted) -> Result<Request> {
        let place = self.place(posted).ok_or(Error::UnknownRequest)?;
        place.held.as_ref().map(|(request, _)| *request).ok_or(Error::UnknownRequest)
    }

    /// Gives back the buffer of an operation that has ended. If the engine itself failed the buffer stays here, since
    /// the request may still refer to it.
    pub(super) fn give_back(
        &mut self,
        posted: Posted,
        ended: Result<Envelope>,
    ) -> Result<Completed> {
        let envelope = ended?;
        let place = self.place(&posted).ok_or(Error::UnknownRequest)?;
        let (_, buffer) = place.held.take().ok_or(Error::UnknownRequest)?;
        Ok(Completed { buffer, status: envelope.into_status()?, in_place: None })
    }
}
