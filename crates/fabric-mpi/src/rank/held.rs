//! The requests of posted operations with their buffers, kept until they end.

use contract::{Buffer, Error, Posted, Result, Status, Tag};

use crate::library::Handle;

/// Requests by their place. Places are used again, and count their uses, so that a handle of an earlier use is known.
#[derive(Default)]
pub(super) struct Held {
    places: Vec<Place>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Place {
    generation: u32,
    held: Option<Operation>,
}

/// What was posted.
pub(super) struct Operation {
    pub(super) request: Handle,
    /// Where MPI reads or writes until the request has ended. Its pages do not move with it.
    pub(super) buffer: Buffer,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A send, with what its status will say.
    Send(Status),
    /// A receive of a user's message, or of a collective's.
    Receive { reserved: bool },
}

impl Held {
    pub(super) fn keep(&mut self, operation: Operation) -> Posted {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() - 1
        });
        let place = &mut self.places[index];
        place.generation = place.generation.wrapping_add(1);
        place.held = Some(operation);
        Posted::new(u64::from(place.generation) << 32 | index as u64)
    }

    /// What is behind a handle, or [`Error::UnknownRequest`].
    pub(super) fn get(&mut self, posted: &Posted) -> Result<&mut Operation> {
        let (generation, index) = split(posted);
        let place = self.places.get_mut(index).filter(|place| place.generation == generation);
        place.and_then(|place| place.held.as_mut()).ok_or(Error::UnknownRequest)
    }

    /// Takes out an operation that has ended.
    pub(super) fn take(&mut self, posted: &Posted) -> Result<Operation> {
        self.get(posted)?;
        let (_, index) = split(posted);
        self.free.push(index);
        self.places[index].held.take().ok_or(Error::UnknownRequest)
    }

    /// All that are still under way.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = &mut Operation> {
        self.places.iter_mut().filter_map(|place| place.held.as_mut())
    }
}

fn split(posted: &Posted) -> (u32, usize) {
    ((posted.number() >> 32) as u32, posted.number() as u32 as usize)
}

impl Operation {
    pub(super) fn send(request: Handle, buffer: Buffer, from: usize, tag: Tag) -> Self {
        let status = Status { source: from, tag, bytes: buffer.len() };
        Operation { request, buffer, kind: Kind::Send(status) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation() -> Operation {
        Operation::send(std::ptr::null_mut(), Buffer::zeroed(1), 0, Tag::new(1))
    }

    #[test]
    fn a_handle_of_an_earlier_use_of_its_place_is_unknown() {
        let mut held = Held::default();
        let first = held.keep(operation());
        let number = first.number();
        held.take(&first).unwrap();
        let second = held.keep(operation());
        assert_ne!(second.number(), number);
        assert_eq!(held.take(&Posted::new(number)).err(), Some(Error::UnknownRequest));
        assert_eq!(held.rest().count(), 1);
        assert!(held.take(&second).is_ok());
        assert!(held.take(&second).is_err());
    }
}
