//! Collectives among the neighbours in a communicator's topology. All members call alike.

use contract::Endpoint;

use crate::collective::{Collective, Neighbours};
use crate::communicator::Communicator;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::memory::{Incoming, Memory, Outgoing};
use crate::topology::Exchanges;

impl<E: Endpoint + 'static> Communicator<E> {
    /// Gives the same data to all neighbours, and puts those of source i into block i. Blocks from nobody, over the edge of a
    /// grid, stay as they are.
    ///
    /// # Errors
    /// [`ErrorClass::Topology`] without a topology, [`ErrorClass::Count`] for room of no whole number of elements for each
    /// source, and those of [`barrier`](Communicator::barrier).
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

    /// Gives block i to destination i, and puts the block of source i into block i.
    ///
    /// # Errors
    /// As of [`neighbour_allgather`](Communicator::neighbour_allgather).
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

/// Memory as blocks of equal counts.
fn blocks(all: &Memory, number: usize) -> Result<Vec<Memory>> {
    let count = all.count();
    let each = count / number.max(1) as i64;
    let whole = each * number as i64 == count;
    ensure!(whole, ErrorClass::Count, "{count} elements for {number} neighbours");
    Ok((0..number as i64).map(|index| all.part(index * each, each)).collect())
}
