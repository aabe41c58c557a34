//! Cartesian topologies: ranks on a grid, the last dimension running fastest.

use std::ffi::c_int;

use crate::abi::*;
use crate::communicator::{self, Communicator};
use crate::failure::{Result, ensure, error_of};

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cartesian {
    lengths: Vec<c_int>,
    periodic: Vec<bool>,
}

impl Cartesian {
    unsafe fn read(
        dimensions: c_int,
        lengths: *const c_int,
        periods: *const c_int,
    ) -> Result<Self> {
        ensure!(dimensions >= 0, ERR_DIMS, "{dimensions} dimensions");
        let list = |from: *const c_int| (0..dimensions as usize).map(move |index| *from.add(index));
        let grid = Cartesian {
            lengths: list(lengths).collect(),
            periodic: list(periods).map(|period| period != 0).collect(),
        };
        for &length in &grid.lengths {
            ensure!(length > 0, ERR_DIMS, "a dimension of length {length}");
        }
        Ok(grid)
    }

    fn size(&self) -> usize {
        self.lengths.iter().map(|&length| length as usize).product()
    }

    fn coordinates(&self, rank: usize) -> Vec<c_int> {
        let mut left = rank;
        let mut coordinates = vec![0; self.lengths.len()];
        for (place, &length) in coordinates.iter_mut().zip(&self.lengths).rev() {
            *place = (left % length as usize) as c_int;
            left /= length as usize;
        }
        coordinates
    }

    /// The rank at some coordinates; none off the edge of a dimension that is not periodic.
    fn rank(&self, coordinates: &[c_int]) -> Option<usize> {
        let mut rank = 0;
        for (index, &coordinate) in coordinates.iter().enumerate() {
            let length = self.lengths[index];
            let inside = (0..length).contains(&coordinate);
            if !inside && !self.periodic[index] {
                return None;
            }
            rank = rank * length as usize + coordinate.rem_euclid(length) as usize;
        }
        Some(rank)
    }
}

fn grid(communicator: &Communicator) -> Result<&Cartesian> {
    let found = communicator.topology.as_ref();
    found.ok_or_else(|| error_of(ERR_TOPOLOGY, "the communicator has no Cartesian topology"))
}

pub(crate) unsafe fn create(
    comm: Comm,
    dimensions: c_int,
    lengths: *const c_int,
    periods: *const c_int,
    _reorder: c_int,
    new: *mut Comm,
) -> Result {
    let old = communicator::get(comm)?;
    let grid = Cartesian::read(dimensions, lengths, periods)?;
    let (needed, size) = (grid.size(), old.size());
    ensure!(needed <= size, ERR_DIMS, "a grid of {needed} in a communicator of {size}");
    let colour = if old.rank < needed { 0 } else { UNDEFINED };
    *new = communicator::split_with(&old, colour, old.rank as c_int, Some(grid))?;
    Ok(())
}

/// The parts of the grid along the dimensions that remain.
pub(crate) unsafe fn sub(comm: Comm, remain: *const c_int, new: *mut Comm) -> Result {
    let old = communicator::get(comm)?;
    let grid = grid(&old)?;
    let kept: Vec<bool> = (0..grid.lengths.len()).map(|index| *remain.add(index) != 0).collect();
    let place = grid.coordinates(old.rank);
    let (mut colour, mut key) = (0, 0);
    let mut part = Cartesian { lengths: vec![], periodic: vec![] };
    for (index, &length) in grid.lengths.iter().enumerate() {
        if kept[index] {
            key = key * length + place[index];
            part.lengths.push(length);
            part.periodic.push(grid.periodic[index]);
        } else {
            colour = colour * length + place[index];
        }
    }
    *new = communicator::split_with(&old, colour, key, Some(part))?;
    Ok(())
}

pub(crate) unsafe fn dimensions(comm: Comm, count: *mut c_int) -> Result {
    *count = grid(&*communicator::get(comm)?)?.lengths.len() as c_int;
    Ok(())
}

unsafe fn write(from: impl IntoIterator<Item = c_int>, room: c_int, to: *mut c_int) -> Result {
    for (index, number) in from.into_iter().enumerate() {
        ensure!(index < room.max(0) as usize, ERR_ARG, "room for {room} dimensions is too little");
        *to.add(index) = number;
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
    write(grid.lengths.iter().copied(), room, lengths)?;
    write(grid.periodic.iter().map(|&period| c_int::from(period)), room, periods)?;
    write(grid.coordinates(communicator.rank), room, place)
}

pub(crate) unsafe fn rank(comm: Comm, place: *const c_int, rank: *mut c_int) -> Result {
    let communicator = communicator::get(comm)?;
    let grid = grid(&communicator)?;
    let place: Vec<c_int> = (0..grid.lengths.len()).map(|index| *place.add(index)).collect();
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
    communicator.member(rank)?;
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
    let grid = grid(&communicator)?;
    let along = usize::try_from(direction).ok().filter(|&one| one < grid.lengths.len());
    let along = along.ok_or_else(|| error_of(ERR_ARG, format!("direction {direction}")))?;
    let neighbour = |distance: c_int| {
        let mut place = grid.coordinates(communicator.rank);
        place[along] += distance;
        grid.rank(&place).map_or(PROC_NULL, |rank| rank as c_int)
    };
    (*source, *to) = (neighbour(-distance), neighbour(distance));
    Ok(())
}

/// MPI_Cart_map: the rank that this process would have.
pub(crate) unsafe fn map(
    comm: Comm,
    dimensions: c_int,
    lengths: *const c_int,
    periods: *const c_int,
    rank: *mut c_int,
) -> Result {
    let communicator = communicator::get(comm)?;
    let grid = Cartesian::read(dimensions, lengths, periods)?;
    let inside = communicator.rank < grid.size();
    *rank = if inside { communicator.rank as c_int } else { UNDEFINED };
    Ok(())
}

pub(crate) unsafe fn test(comm: Comm, kind: *mut c_int) -> Result {
    let communicator = communicator::get(comm)?;
    *kind = if communicator.topology.is_some() { CART } else { UNDEFINED };
    Ok(())
}

/// The divisors of `nodes` that fill `free` dimensions most evenly, the largest first.
fn even(nodes: c_int, free: usize) -> Vec<c_int> {
    if free == 0 {
        return vec![];
    }
    if free == 1 {
        return vec![nodes];
    }
    // The smallest largest side wins; sides that are left over are evened out in the same way.
    let mut best: Option<Vec<c_int>> = None;
    for side in (1..=nodes).filter(|side| nodes % side == 0) {
        if (f64::from(side)).powi(free as i32) < f64::from(nodes) * (1.0 - 1e-9) {
            continue;
        }
        let rest = even(nodes / side, free - 1);
        if rest[0] <= side {
            let mut sides = vec![side];
            sides.extend(rest);
            best = Some(sides);
            break;
        }
    }
    best.unwrap_or_else(|| {
        let mut sides = vec![1; free];
        sides[0] = nodes;
        sides
    })
}

pub(crate) unsafe fn dims_create(nodes: c_int, dimensions: c_int, lengths: *mut c_int) -> Result {
    ensure!(nodes > 0 && dimensions >= 0, ERR_DIMS, "{nodes} nodes in {dimensions} dimensions");
    let given: Vec<c_int> = (0..dimensions as usize).map(|index| *lengths.add(index)).collect();
    let mut fixed = 1;
    for &length in &given {
        ensure!(length >= 0, ERR_DIMS, "a dimension of length {length}");
        fixed *= length.max(1);
    }
    let free = given.iter().filter(|&&length| length == 0).count();
    let fits = nodes % fixed == 0 && (free > 0 || nodes == fixed || given.is_empty());
    ensure!(fits, ERR_DIMS, "{nodes} nodes do not fill the dimensions {given:?}");
    let mut sides = even(nodes / fixed, free).into_iter();
    for (index, _) in given.iter().enumerate().filter(|(_, length)| **length == 0) {
        *lengths.add(index) = sides.next().unwrap_or(1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_as_even_as_they_can_be() {
        assert_eq!(even(6, 2), [3, 2]);
        assert_eq!(even(8, 3), [2, 2, 2]);
        assert_eq!(even(12, 3), [3, 2, 2]);
        assert_eq!(even(7, 2), [7, 1]);
        assert_eq!(even(16, 2), [4, 4]);
        assert_eq!(even(1, 2), [1, 1]);
    }

    #[test]
    fn ranks_and_coordinates_are_inverse_and_edges_are_known() {
        let grid = Cartesian { lengths: vec![2, 3], periodic: vec![false, true] };
        for rank in 0..6 {
            assert_eq!(grid.rank(&grid.coordinates(rank)), Some(rank));
        }
        // Row-major: rank 4 of a grid of 2 by 3 is in row 1, column 1.
        assert_eq!(grid.coordinates(4), [1, 1]);
        assert_eq!(grid.rank(&[0, -1]), Some(2));
        assert_eq!(grid.rank(&[2, 0]), None);
    }
}
