//! Cartesian topologies: ranks on a grid, the last dimension running fastest.

use crate::error::{Error, ErrorClass, Result, ensure};

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartesian {
    lengths: Vec<usize>,
    periodic: Vec<bool>,
}

/// A rank's part of a grid along some of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CartesianPart {
    /// The part.
    pub grid: Cartesian,
    /// Which of the parts it is.
    pub colour: usize,
    /// The rank's place in it.
    pub rank: usize,
}

impl Cartesian {
    /// A grid of these lengths, and whether each dimension closes to a ring.
    ///
    /// # Errors
    /// [`ErrorClass::Dimensions`] for a length that is not positive, or lists of different lengths.
    pub fn new(lengths: &[i64], periodic: Vec<bool>) -> Result<Self> {
        let same = lengths.len() == periodic.len();
        ensure!(same, ErrorClass::Dimensions, "lists of different lengths");
        for &length in lengths {
            ensure!(length > 0, ErrorClass::Dimensions, "a dimension of length {length}");
        }
        Ok(Cartesian { lengths: lengths.iter().map(|&length| length as usize).collect(), periodic })
    }

    /// How long each dimension is.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Whether each dimension closes to a ring.
    pub fn periodic(&self) -> &[bool] {
        &self.periodic
    }

    /// How many ranks it has.
    pub fn size(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Where a rank is.
    pub fn coordinates(&self, rank: usize) -> Vec<usize> {
        let mut left = rank;
        let mut coordinates = vec![0; self.lengths.len()];
        for (place, &length) in coordinates.iter_mut().zip(&self.lengths).rev() {
            *place = left % length;
            left /= length;
        }
        coordinates
    }

    /// The rank at some coordinates; none off the edge of a dimension that is not periodic.
    pub fn rank(&self, coordinates: &[i64]) -> Option<usize> {
        let mut rank = 0;
        for (index, &coordinate) in coordinates.iter().enumerate() {
            let length = self.lengths[index];
            let inside = (0..length as i64).contains(&coordinate);
            if !inside && !self.periodic[index] {
                return None;
            }
            rank = rank * length + coordinate.rem_euclid(length as i64) as usize;
        }
        Some(rank)
    }

    /// The ranks from which a shift along a dimension brings data to `rank`, and to which it takes them.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a dimension that is not there.
    pub fn shift(
        &self,
        rank: usize,
        dimension: i64,
        distance: i64,
    ) -> Result<(Option<usize>, Option<usize>)> {
        let along = usize::try_from(dimension).ok().filter(|&one| one < self.lengths.len());
        let wrong = || Error::new(ErrorClass::Argument, format!("direction {dimension}"));
        let along = along.ok_or_else(wrong)?;
        let place: Vec<i64> = self.coordinates(rank).iter().map(|&one| one as i64).collect();
        let neighbour = |distance: i64| {
            let mut place = place.clone();
            place[along] += distance;
            self.rank(&place)
        };
        Ok((neighbour(-distance), neighbour(distance)))
    }

    /// The part that `rank` is in, of those along the dimensions that are kept.
    pub fn part(&self, rank: usize, kept: &[bool]) -> CartesianPart {
        let mut part = CartesianPart {
            grid: Cartesian { lengths: vec![], periodic: vec![] },
            colour: 0,
            rank: 0,
        };
        for (index, &place) in self.coordinates(rank).iter().enumerate() {
            let length = self.lengths[index];
            if kept[index] {
                part.rank = part.rank * length + place;
                part.grid.lengths.push(length);
                part.grid.periodic.push(self.periodic[index]);
            } else {
                part.colour = part.colour * length + place;
            }
        }
        part
    }
}

/// The divisors of `nodes` that fill `free` dimensions most evenly, the largest first.
fn even(nodes: i64, free: usize) -> Vec<i64> {
    if free == 0 {
        return vec![];
    }
    if free == 1 {
        return vec![nodes];
    }
    // The smallest largest side wins; sides that are left over are evened out in the same way.
    for side in (1..=nodes).filter(|side| nodes % side == 0) {
        if (side as f64).powi(free as i32) < nodes as f64 * (1.0 - 1e-9) {
            continue;
        }
        let rest = even(nodes / side, free - 1);
        if rest[0] <= side {
            return [vec![side], rest].concat();
        }
    }
    let mut sides = vec![1; free];
    sides[0] = nodes;
    sides
}

/// Lengths of a grid of `nodes`, as equal as can be where `given` has a zero; its other lengths stay.
///
/// # Errors
/// [`ErrorClass::Dimensions`] if no grid has as many nodes.
pub fn balanced_dimensions(nodes: i64, given: &[i64]) -> Result<Vec<i64>> {
    let dimensions = given.len();
    ensure!(nodes > 0, ErrorClass::Dimensions, "{nodes} nodes in {dimensions} dimensions");
    let mut fixed = 1;
    for &length in given {
        ensure!(length >= 0, ErrorClass::Dimensions, "a dimension of length {length}");
        fixed *= length.max(1);
    }
    let free = given.iter().filter(|&&length| length == 0).count();
    let fits = nodes % fixed == 0 && (free > 0 || nodes == fixed || given.is_empty());
    ensure!(fits, ErrorClass::Dimensions, "{nodes} nodes do not fill the dimensions {given:?}");
    let mut sides = even(nodes / fixed, free).into_iter();
    let filled =
        given.iter().map(|&length| if length == 0 { sides.next().unwrap_or(1) } else { length });
    Ok(filled.collect())
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
    fn given_dimensions_stay_and_those_that_do_not_fit_are_refused() {
        assert_eq!(balanced_dimensions(12, &[0, 2, 0]), Ok(vec![3, 2, 2]));
        assert_eq!(balanced_dimensions(6, &[2, 3]), Ok(vec![2, 3]));
        assert_eq!(balanced_dimensions(5, &[]), Ok(vec![]));
        for (nodes, given) in [(7, &[2, 0][..]), (6, &[2, 2]), (0, &[0]), (6, &[-1, 0])] {
            assert_eq!(
                balanced_dimensions(nodes, given).unwrap_err().class,
                ErrorClass::Dimensions
            );
        }
    }

    #[test]
    fn ranks_and_coordinates_are_inverse_and_edges_are_known() {
        let grid = Cartesian::new(&[2, 3], vec![false, true]).unwrap();
        for rank in 0..grid.size() {
            let place: Vec<i64> = grid.coordinates(rank).iter().map(|&one| one as i64).collect();
            assert_eq!(grid.rank(&place), Some(rank));
        }
        // Row-major: rank 4 of a grid of 2 by 3 is in row 1, column 1.
        assert_eq!(grid.coordinates(4), [1, 1]);
        assert_eq!(grid.rank(&[0, -1]), Some(2));
        assert_eq!(grid.rank(&[2, 0]), None);
        // One down the column: nobody is above, rank 4 is below rank 1. Two along the ring of three.
        assert_eq!(grid.shift(1, 0, 1), Ok((None, Some(4))));
        assert_eq!(grid.shift(1, 1, 2), Ok((Some(2), Some(0))));
        assert_eq!(grid.shift(1, 2, 1).unwrap_err().class, ErrorClass::Argument);
    }

    #[test]
    fn a_grid_falls_into_parts() {
        let grid = Cartesian::new(&[2, 3], vec![false, true]).unwrap();
        // The row of rank 4: the ring of three in row 1, where it is in the middle.
        let row = grid.part(4, &[false, true]);
        assert_eq!((row.colour, row.rank), (1, 1));
        assert_eq!(row.grid, Cartesian::new(&[3], vec![true]).unwrap());
        assert_eq!(grid.part(4, &[true, false]).rank, 1);
        assert_eq!(grid.part(4, &[false, false]).colour, 4);
    }
}
