//! Topologies of communicators: grids here, graphs in `graph`.

mod graph;

pub(crate) use graph::*;

use std::ffi::c_int;

use mpi::{Cartesian, RankTopology, balanced_dimensions};

use crate::abi::*;
use crate::communicator::{self, Communicator};
use crate::failure::{Result, ensure, error_of};

/// Returns the numbers of a C array, one for each dimension.
unsafe fn list(from: *const c_int, dimensions: usize) -> Vec<i64> {
    (0..dimensions).map(|index| i64::from(*from.add(index))).collect()
}

unsafe fn read(
    dimensions: c_int,
    lengths: *const c_int,
    periods: *const c_int,
) -> Result<Cartesian> {
    ensure!(dimensions >= 0, ERR_DIMS, "{dimensions} dimensions");
    let periods = list(periods, dimensions as usize);
    let lengths = list(lengths, dimensions as usize);
    Cartesian::new(&lengths, periods.into_iter().map(|period| period != 0).collect())
}

fn grid(communicator: &Communicator) -> Result<&Cartesian> {
    match communicator.topology() {
        Some(RankTopology::Cartesian(grid)) => Ok(grid),
        _ => Err(error_of(ERR_TOPOLOGY, "the communicator has no Cartesian topology")),
    }
}

pub(crate) unsafe fn create(
    comm: Comm,
    dimensions: c_int,
    lengths: *const c_int,
    periods: *const c_int,
    _reorder: c_int,
    new: *mut Comm,
) -> Result {
    *new = COMM_NULL;
    communicator::get(comm)?;
    let grid = read(dimensions, lengths, periods)?;
    *new = communicator::made_of(comm, |old| old.with_cartesian(grid))?;
    Ok(())
}

/// Creates the parts of the grid along the remaining dimensions.
pub(crate) unsafe fn sub(comm: Comm, remain: *const c_int, new: *mut Comm) -> Result {
    let old = communicator::get(comm)?;
    let grid = grid(&old)?;
    let kept = list(remain, grid.lengths().len());
    let kept: Vec<bool> = kept.into_iter().map(|one| one != 0).collect();
    let part = grid.part(old.rank(), &kept);
    *new = communicator::split_with(comm, Some(part.colour), part.rank, part.grid)?;
    Ok(())
}

pub(crate) unsafe fn dimensions(comm: Comm, count: *mut c_int) -> Result {
    *count = grid(&*communicator::get(comm)?)?.lengths().len() as c_int;
    Ok(())
}

unsafe fn write(from: impl IntoIterator<Item = usize>, room: c_int, to: *mut c_int) -> Result {
    for (index, number) in from.into_iter().enumerate() {
        ensure!(index < room.max(0) as usize, ERR_ARG, "room for {room} dimensions is too little");
        *to.add(index) = number as c_int;
    }
    Ok(())
}

pub(crate) unsafe fn get(
    comm: Comm,
    room: c_int,
    lengths: *mut c_int,
    periods: *mut c_int,
    place: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let grid = grid(&communicator)?;
    write(grid.lengths().iter().copied(), room, lengths)?;
    write(grid.periodic().iter().map(|&period| usize::from(period)), room, periods)?;
    write(grid.coordinates(communicator.rank()), room, place)
}

pub(crate) unsafe fn rank(comm: Comm, place: *const c_int, rank: *mut c_int) -> Result {
    let communicator = communicator::get(comm)?;
    let grid = grid(&communicator)?;
    let place = list(place, grid.lengths().len());
    let found = grid.rank(&place);
    let found = found.ok_or_else(|| error_of(ERR_ARG, format!("{place:?} is off the grid")))?;
    *rank = found as c_int;
    Ok(())
}

pub(crate) unsafe fn coordinates(
    comm: Comm,
    rank: c_int,
    room: c_int,
    place: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    communicator.group().member(i64::from(rank))?;
    write(grid(&communicator)?.coordinates(rank as usize), room, place)
}

pub(crate) unsafe fn shift(
    comm: Comm,
    direction: c_int,
    distance: c_int,
    source: *mut c_int,
    to: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let shift =
        grid(&communicator)?.shift(communicator.rank(), direction.into(), distance.into())?;
    let found = |rank: Option<usize>| rank.map_or(PROC_NULL, |rank| rank as c_int);
    (*source, *to) = (found(shift.0), found(shift.1));
    Ok(())
}

/// Implements MPI_Cart_map: returns the rank that this process would have.
pub(crate) unsafe fn map(
    comm: Comm,
    dimensions: c_int,
    lengths: *const c_int,
    periods: *const c_int,
    rank: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let grid = read(dimensions, lengths, periods)?;
    let inside = communicator.rank() < grid.size();
    *rank = if inside { communicator.rank() as c_int } else { UNDEFINED };
    Ok(())
}

pub(crate) unsafe fn test(comm: Comm, kind: *mut c_int) -> Result {
    let communicator = communicator::get(comm)?;
    *kind = match communicator.topology() {
        Some(RankTopology::Cartesian(_)) => CART,
        Some(RankTopology::Graph(_)) => GRAPH,
        Some(RankTopology::Distributed(_)) => DIST_GRAPH,
        None => UNDEFINED,
    };
    Ok(())
}

pub(crate) unsafe fn dims_create(nodes: c_int, dimensions: c_int, lengths: *mut c_int) -> Result {
    ensure!(dimensions >= 0, ERR_DIMS, "{nodes} nodes in {dimensions} dimensions");
    let given = list(lengths, dimensions as usize);
    let filled = balanced_dimensions(nodes.into(), &given)?;
    for (index, length) in filled.into_iter().enumerate() {
        *lengths.add(index) = length as c_int;
    }
    Ok(())
}
