//! Neighbourhood collectives on slices. All members make the same calls.

use contract::Endpoint;

use crate::collective::{Collective, Neighbours};
use crate::communicator::Communicator;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::memory::{Incoming, Memory, Outgoing};
use crate::topology::Exchanges;

impl<E: Endpoint + 'static> Communicator<E> {
    /// Sends the same data to all neighbours, and receives those of source i into block i. Blocks from beyond the edge
    /// of a grid stay unchanged.
    ///
    /// # Errors
    /// [`ErrorClass::Topology`] without a topology, [`ErrorClass::Count`] if the room is not a whole number of elements
    /// for each source, and as for [`barrier`](Communicator::barrier).
    pub fn neighbour_allgather<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let exchanges = self.exchanges()?;
        let blocks = blocks(room.memory(), exchanges.sources.len())?;
        let neighbours = Neighbours::new(self.context().clone(), exchanges);
        neighbours.allgather(data.memory().clone(), blocks)?.run()
    }

    /// Sends block i to destination i, and receives the block of source i into block i.
    ///
    /// # Errors
    /// As for [`neighbour_allgather`](Communicator::neighbour_allgather).
    pub fn neighbour_all_to_all<'a, 'b>(
        &self,
        data: impl Into<Outgoing<'a>>,
        room: impl Into<Incoming<'b>>,
    ) -> Result {
        let (data, room) = (data.into(), room.into());
        let exchanges = self.exchanges()?;
        let from = blocks(data.memory(), exchanges.destinations.len())?;
        let to = blocks(room.memory(), exchanges.sources.len())?;
        Neighbours::new(self.context().clone(), exchanges).all_to_all(from, to)?.run()
    }

    fn exchanges(&self) -> Result<Exchanges> {
        let none = || Error::new(ErrorClass::Topology, "the communicator has no topology");
        Ok(self.topology().ok_or_else(none)?.exchanges(self.rank()))
    }
}

/// Divides memory into blocks of equal counts.
fn blocks(all: &Memory, number: usize) -> Result<Vec<Memory>> {
    let count = all.count();
    let each = count / number.max(1) as i64;
    let whole = each * number as i64 == count;
    ensure!(whole, ErrorClass::Count, "{count} elements for {number} neighbours");
    Ok((0..number as i64).map(|index| all.part(index * each, each)).collect())
}
