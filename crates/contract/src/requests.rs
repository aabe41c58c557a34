//! The buffers of posted operations.

use crate::{Buffer, Error, Posted, Request, Result};

// Bits of a handle from the top: 20 of rank, 24 of generation, 20 of request.
const REQUEST_BITS: u32 = 20;
const GENERATION_BITS: u32 = 24;
const RANK_MASK: u64 = (1 << 20) - 1;

/// Buffers by the number of their request. Requests are small numbers that are reused, so a table suffices.
#[derive(Debug)]
pub(crate) struct RequestTable {
    rank: u64,
    places: Vec<Place>,
}

#[derive(Debug, Default)]
struct Place {
    /// Counts the uses of this place, so that a handle of an earlier use is recognised.
    generation: u32,
    buffer: Option<Buffer>,
}

impl RequestTable {
    pub(crate) fn new(rank: usize) -> Self {
        RequestTable { rank: rank as u64 & RANK_MASK, places: Vec::new() }
    }

    /// Returns whether it contains no buffer.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.iter().all(|place| place.buffer.is_none())
    }

    /// Keeps the buffer of a request, and returns a handle.
    pub(crate) fn keep(&mut self, request: Request, buffer: Buffer) -> Posted {
        let index = request.index();
        if self.places.len() <= index {
            self.places.resize_with(index + 1, Place::default);
        }
        let place = &mut self.places[index];
        place.generation = place.generation.wrapping_add(1);
        place.buffer = Some(buffer);
        self.handle(index)
    }

    fn handle(&self, index: usize) -> Posted {
        let generation = self.places[index].generation & ((1 << GENERATION_BITS) - 1);
        let high = self.rank << GENERATION_BITS | u64::from(generation);
        Posted::new(high << REQUEST_BITS | index as u64)
    }

    /// Returns the request of a handle.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`].
    pub(crate) fn request(&self, posted: &Posted) -> Result<Request> {
        let index = (posted.number() & ((1 << REQUEST_BITS) - 1)) as usize;
        let used = self.places.get(index).is_some_and(|place| place.buffer.is_some());
        if used && self.handle(index) == *posted {
            Ok(Request(index as u32))
        } else {
            Err(Error::UnknownRequest)
        }
    }

    /// Removes and returns the buffer of an operation that has ended.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`].
    pub(crate) fn take(&mut self, posted: &Posted) -> Result<Buffer> {
        let index = self.request(posted)?.index();
        self.places[index].buffer.take().ok_or(Error::UnknownRequest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_once_and_for_its_rank() {
        let mut mine = RequestTable::new(1);
        let first = mine.keep(Request(3), Buffer::zeroed(1));
        let number = first.number();
        assert_eq!(mine.request(&first), Ok(Request(3)));
        assert_eq!(mine.take(&first).unwrap().len(), 1);
        let second = mine.keep(Request(3), Buffer::zeroed(2));
        assert_eq!(mine.request(&Posted::new(number)), Err(Error::UnknownRequest));
        assert!(!mine.is_empty());
        assert_eq!(mine.take(&second).unwrap().len(), 2);
        assert!(mine.take(&second).is_err() && mine.is_empty());

        let mut other = RequestTable::new(2);
        let foreign = other.keep(Request(3), Buffer::zeroed(1));
        let _held = mine.keep(Request(3), Buffer::zeroed(1));
        assert_eq!(mine.request(&foreign), Err(Error::UnknownRequest));
        assert_eq!(mine.request(&Posted::new(u64::MAX)), Err(Error::UnknownRequest));
    }
}
