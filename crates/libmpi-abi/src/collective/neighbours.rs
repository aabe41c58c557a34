//! Neighbourhood collectives: allgather and all-to-all.

use mpi::Neighbours;

use super::blocks::{BlockOfEach, not_in_place, unless_in_place};
use super::carry_out;
use crate::abi::*;
use crate::arguments::Data;
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::{Result, error_of};
use crate::request::How;

/// The place of this process in a communicator's topology.
struct Place {
    neighbours: Neighbours<Chosen>,
    sources: usize,
    destinations: usize,
}

fn place(comm: Comm) -> Result<Place> {
    let communicator = communicator::get(comm)?;
    let none = || error_of(ERR_TOPOLOGY, "the communicator has no topology");
    let topology = communicator.topology().ok_or_else(none)?;
    let exchanges = topology.exchanges(communicator.rank());
    let (sources, destinations) = (exchanges.sources.len(), exchanges.destinations.len());
    let neighbours = Neighbours::new(communicator.context().clone(), exchanges);
    Ok(Place { neighbours, sources, destinations })
}

pub(crate) unsafe fn neighbour_allgather(
    mine: Data,
    all: impl BlockOfEach,
    comm: Comm,
    how: How,
) -> Result {
    let Place { neighbours, sources, .. } = place(comm)?;
    let mine = unless_in_place(mine)?.ok_or_else(not_in_place)?;
    carry_out(neighbours.allgather(mine, all.blocks(sources)?)?, how)
}

pub(crate) unsafe fn neighbour_all_to_all(
    from: impl BlockOfEach,
    to: impl BlockOfEach,
    comm: Comm,
    how: How,
) -> Result {
    let Place { neighbours, sources, destinations } = place(comm)?;
    let from = from.blocks(destinations)?;
    carry_out(neighbours.all_to_all(from, to.blocks(sources)?)?, how)
}
