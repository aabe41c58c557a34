//! The operations that a rank of a chain has posted and that have not ended.

use contract::{Buffer, Completed, Posted, Progress, Rank, Result};

/// The purpose of a posted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A receive of this piece of the block in this slot.
    Piece { slot: usize, piece: usize },
    /// A buffer that the source of this rank lends for the block in this slot.
    Lent { slot: usize },
    /// A receive of a data request from this rank.
    Request { from: usize },
    /// A send from this place.
    Sent(BufferPlace),
}

/// The home of a buffer that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferPlace {
    /// A slot of the inlet (the block was processed in place), or a message of the source.
    Slot(usize),
    /// A piece of a set of turned pieces.
    Turned { set: usize, piece: usize },
}

/// Data that have arrived for a part.
pub(super) enum Arrived {
    /// From an operation that has ended.
    Ended(Completed),
    /// From a part of the same rank.
    Swapped(Buffer),
}

impl Arrived {
    /// Returns the buffer that arrived. The message must not be in its sender's memory.
    pub(super) fn buffer(self) -> Buffer {
        match self {
            Arrived::Ended(completed) => completed.buffer,
            Arrived::Swapped(buffer) => buffer,
        }
    }
}

/// An arrival: its level, its purpose there, and the data.
pub(super) type Arrival = (usize, Purpose, Arrived);

/// Posted operations of all levels of a rank, each with its purpose.
pub(super) struct PendingOperations {
    posted: Vec<Posted>,
    purposes: Vec<(usize, Purpose)>,
}

impl PendingOperations {
    /// Allocates for this number of operations at once; none allocates later.
    pub(super) fn new(operations: usize) -> Self {
        let (posted, purposes) = (Vec::with_capacity(operations), Vec::with_capacity(operations));
        PendingOperations { posted, purposes }
    }

    pub(super) fn add(&mut self, level: usize, posted: Posted, purpose: Purpose) {
        self.posted.push(posted);
        self.purposes.push((level, purpose));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }

    /// Waits until an operation ends, and returns it.
    pub(super) fn next(&mut self, rank: &mut dyn Rank) -> Result<Arrival> {
        let (index, completed) = rank.wait_any(&mut self.posted)?;
        let (level, purpose) = self.purposes.remove(index);
        Ok((level, purpose, Arrived::Ended(completed)))
    }

    /// Returns an operation that has ended, if one has.
    pub(super) fn any_that_ended(&mut self, rank: &mut dyn Rank) -> Result<Option<Arrival>> {
        self.that_ended(rank, |_| true)
    }

    /// Returns a data request that has arrived, if one has.
    pub(super) fn request_that_came(&mut self, rank: &mut dyn Rank) -> Result<Option<Arrival>> {
        self.that_ended(rank, |purpose| matches!(purpose, Purpose::Request { .. }))
    }

    fn that_ended(
        &mut self,
        rank: &mut dyn Rank,
        wanted: impl Fn(Purpose) -> bool,
    ) -> Result<Option<Arrival>> {
        for index in 0..self.posted.len() {
            if !wanted(self.purposes[index].1) {
                continue;
            }
            // The order of the list does not matter, so an operation that is tested may become the last.
            let posted = self.posted.swap_remove(index);
            let (level, purpose) = self.purposes.swap_remove(index);
            match rank.test(posted)? {
                Progress::Done(completed) => {
                    return Ok(Some((level, purpose, Arrived::Ended(completed))));
                }
                Progress::Pending(posted) => self.add(level, posted, purpose),
            }
        }
        Ok(None)
    }
}
