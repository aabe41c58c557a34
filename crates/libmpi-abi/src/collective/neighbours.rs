//! Neighbourhood collectives: allgather and all-to-all, in all their variants.

use mpi::Neighbours;

use super::blocks::{of_types, pieces, unequal, unless_in_place};
use super::go_on;
use crate::abi::*;
use crate::arguments::{Blocks, Data};
use crate::chosen::Chosen;
use crate::communicator;
use crate::failure::{Error, Result, error_of};
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

pub(super) fn not_in_place() -> Error {
    error_of(ERR_BUFFER, "MPI_IN_PLACE has no meaning for this buffer")
}

pub(crate) unsafe fn neighbour_allgather(mine: Data, each: Data, comm: Comm, how: How) -> Result {
    let Place { neighbours, sources, .. } = place(comm)?;
    let mine = unless_in_place(mine)?.ok_or_else(not_in_place)?;
    go_on(neighbours.allgather(mine, pieces(each, sources)?)?, how)
}

pub(crate) unsafe fn neighbour_allgather_unequal(
    mine: Data,
    all: Blocks<Datatype>,
    comm: Comm,
    how: How,
) -> Result {
    let Place { neighbours, sources, .. } = place(comm)?;
    let mine = unless_in_place(mine)?.ok_or_else(not_in_place)?;
    go_on(neighbours.allgather(mine, unequal(all, sources)?)?, how)
}

pub(crate) unsafe fn neighbour_all_to_all(from: Data, to: Data, comm: Comm, how: How) -> Result {
    let Place { neighbours, sources, destinations } = place(comm)?;
    let from = pieces(from, destinations)?;
    go_on(neighbours.all_to_all(from, pieces(to, sources)?)?, how)
}

pub(crate) unsafe fn neighbour_all_to_all_unequal(
    from: Blocks<Datatype>,
    to: Blocks<Datatype>,
    comm: Comm,
    how: How,
) -> Result {
    let Place { neighbours, sources, destinations } = place(comm)?;
    let from = unequal(from, destinations)?;
    go_on(neighbours.all_to_all(from, unequal(to, sources)?)?, how)
}

pub(crate) unsafe fn neighbour_all_to_all_types(
    from: Blocks<*const Datatype>,
    to: Blocks<*const Datatype>,
    comm: Comm,
    how: How,
) -> Result {
    let Place { neighbours, sources, destinations } = place(comm)?;
    let from = of_types(from, destinations)?;
    go_on(neighbours.all_to_all(from, of_types(to, sources)?)?, how)
}
