//! The division of the square into partitions, and their assignment to ranks.

use std::ops::Range;

use contract::{Error, Result};

use crate::split::part;

/// The shape of the partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Whole rows.
    Strips,
    /// Rectangles, as near to squares as their number allows.
    Blocks,
}

impl Cut {
    /// All shapes.
    pub const ALL: [Cut; 2] = [Cut::Strips, Cut::Blocks];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Cut::Strips => "strips",
            Cut::Blocks => "blocks",
        }
    }
}

/// The partitions of a square of `order` by `order` points: `rows` by `columns` of them, row by row.
#[derive(Clone, Debug)]
pub(super) struct Tiling {
    order: usize,
    rows: usize,
    columns: usize,
    ranks: usize,
}

/// The side of a partition on which a neighbour lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    pub(super) const ALL: [Direction; 4] =
        [Direction::Up, Direction::Down, Direction::Left, Direction::Right];

    /// Returns the side on which the neighbour has this partition.
    pub(super) const fn opposite(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
            Direction::Left => Direction::Right,
            Direction::Right => Direction::Left,
        }
    }
}

impl Tiling {
    /// Divides the square into `count` partitions.
    ///
    /// # Errors
    /// [`Error::Program`] if some would have no points.
    pub(super) fn new(order: usize, cut: Cut, count: usize, ranks: usize) -> Result<Self> {
        let rows = match cut {
            Cut::Strips => count,
            Cut::Blocks => {
                let divides = |columns: &usize| count.is_multiple_of(*columns);
                count / (1..=count.isqrt()).rev().find(divides).unwrap_or(1)
            }
        };
        let columns = count / rows.max(1);
        if rows == 0 || rows > order || columns > order {
            return Err(Error::Program(format!(
                "a grid of {order} x {order} points cannot be cut into {count} {}; take a larger grid or fewer partitions",
                cut.name()
            )));
        }
        Ok(Tiling { order, rows, columns, ranks })
    }

    /// Returns the number of partitions.
    pub(super) fn count(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns the partitions of a rank.
    pub(super) fn tiles_of(&self, rank: usize) -> Range<usize> {
        part(self.count(), self.ranks, rank)
    }

    /// Returns the rank that has a partition.
    pub(super) fn owner(&self, tile: usize) -> usize {
        ((tile + 1) * self.ranks - 1) / self.count()
    }

    /// Returns the inner points of a partition, rows and columns, counted from 0.
    pub(super) fn place(&self, tile: usize) -> (Range<usize>, Range<usize>) {
        let (row, column) = (tile / self.columns, tile % self.columns);
        (part(self.order, self.rows, row), part(self.order, self.columns, column))
    }

    /// Returns the partition on a side, unless the boundary is there.
    pub(super) fn neighbour(&self, tile: usize, direction: Direction) -> Option<usize> {
        let (row, column) = (tile / self.columns, tile % self.columns);
        match direction {
            Direction::Up => (row > 0).then(|| tile - self.columns),
            Direction::Down => (row + 1 < self.rows).then(|| tile + self.columns),
            Direction::Left => (column > 0).then(|| tile - 1),
            Direction::Right => (column + 1 < self.columns).then(|| tile + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_has_one_owner_and_neighbours_that_know_it() {
        for (cut, count, ranks) in
            [(Cut::Strips, 7, 3), (Cut::Blocks, 12, 5), (Cut::Blocks, 16, 4), (Cut::Strips, 2, 3)]
        {
            let tiling = Tiling::new(30, cut, count, ranks).unwrap();
            assert_eq!(tiling.count(), count);
            for tile in 0..count {
                assert!(tiling.tiles_of(tiling.owner(tile)).contains(&tile));
                for direction in Direction::ALL {
                    if let Some(other) = tiling.neighbour(tile, direction) {
                        assert_eq!(tiling.neighbour(other, direction.opposite()), Some(tile));
                    }
                }
            }
            let points = |tile| {
                let (rows, columns) = tiling.place(tile);
                rows.len() * columns.len()
            };
            assert_eq!((0..count).map(points).sum::<usize>(), 900);
        }
    }

    #[test]
    fn a_grid_with_fewer_rows_than_strips_is_refused() {
        let error = Tiling::new(4, Cut::Strips, 16, 2).unwrap_err().to_string();
        assert!(error.contains("4 x 4") && error.contains("16 strips"), "{error}");
        assert!(Tiling::new(4, Cut::Blocks, 16, 2).is_ok());
    }
}
