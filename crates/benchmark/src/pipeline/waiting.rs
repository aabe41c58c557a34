//! What a rank of a chain has posted and not yet seen end.

use contract::{Buffer, Posted, Progress, Rank, Result};

/// What a posted operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A receive of this piece of the block in this slot.
    Piece { slot: usize, piece: usize },
    /// A receive of a data request from this rank.
    Request { from: usize },
    /// A send out of this place.
    Sent(Place),
}

/// Where a buffer that is sent belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A slot of the inlet: the block was worked on in place.
    Slot(usize),
    /// A piece of a set of turned pieces.
    Turned { set: usize, piece: usize },
}

/// Posted operations, each with its purpose.
#[derive(Default)]
pub(super) struct Waiting {
    posted: Vec<Posted>,
    purposes: Vec<Purpose>,
}

impl Waiting {
    /// Room for so many, so that none is made later.
    pub(super) fn reserve(&mut self, count: usize) {
        self.posted.reserve(count);
        self.purposes.reserve(count);
    }

    pub(super) fn add(&mut self, posted: Posted, purpose: Purpose) {
        self.posted.push(posted);
        self.purposes.push(purpose);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }

    /// Waits for whichever ends first.
    pub(super) fn next(&mut self, rank: &mut dyn Rank) -> Result<(Purpose, Buffer)> {
        let (index, completed) = rank.wait_any(&mut self.posted)?;
        Ok((self.purposes.remove(index), completed.buffer))
    }

    /// A data request that has come, if one has.
    pub(super) fn request_that_came(
        &mut self,
        rank: &mut dyn Rank,
    ) -> Result<Option<(Purpose, Buffer)>> {
        for index in 0..self.posted.len() {
            if !matches!(self.purposes[index], Purpose::Request { .. }) {
                continue;
            }
            // Order does not matter in here, so the one that is looked at may come back as the last.
            let (posted, purpose) =
                (self.posted.swap_remove(index), self.purposes.swap_remove(index));
            match rank.test(posted)? {
                Progress::Done(completed) => return Ok(Some((purpose, completed.buffer))),
                Progress::Pending(posted) => self.add(posted, purpose),
            }
        }
        Ok(None)
    }
}
