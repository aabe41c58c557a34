//! Cartesian topologies: ranks on a grid, where the last dimension varies fastest.

use std::cmp::Ordering;

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
    /// Grid of the part.
    pub grid: Cartesian,
    /// Index of the part.
    pub colour: usize,
    /// Rank in the part.
    pub rank: usize,
}

impl Cartesian {
    /// Creates a grid of these lengths; each periodic dimension closes to a ring.
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

    /// Returns the length of each dimension.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Returns whether each dimension closes to a ring.
    pub fn periodic(&self) -> &[bool] {
        &self.periodic
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Returns the coordinates of a rank.
    pub fn coordinates(&self, rank: usize) -> Vec<usize> {
        let mut left = rank;
        let mut coordinates = vec![0; self.lengths.len()];
        for (place, &length) in coordinates.iter_mut().zip(&self.lengths).rev() {
            *place = left % length;
            left /= length;
        }
        coordinates
    }

    /// Returns the rank at some coordinates, or `None` beyond the edge of a dimension that is not periodic.
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

    /// Returns the ranks from which a shift along a dimension brings data to `rank`, and to which it takes them.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a dimension that does not exist.
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

    /// Returns the ranks before and after `rank` along each dimension, or `None` beyond an edge.
    pub(crate) fn neighbours(&self, rank: usize) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
        let along = |dimension| self.shift(rank, dimension as i64, 1);
        let both = (0..self.lengths.len()).map(|dimension| along(dimension).expect("it is one"));
        both.unzip()
    }

    /// Returns the part that contains `rank`, of those along the kept dimensions.
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

/// The most even sides of a grid, the largest first. The difference of the largest and the smallest is compared first,
/// then the smallest, then the others from the smaller ones on, which are better the larger they are.
struct Closest {
    divisors: Vec<i64>,
    best: Option<Vec<i64>>,
}

fn difference(sides: &[i64]) -> i64 {
    sides[0] - sides[sides.len() - 1]
}

impl Closest {
    /// Returns whether better sides are known than any with this difference.
    fn beats(&self, other: i64) -> bool {
        self.best.as_ref().is_some_and(|best| other > difference(best))
    }

    fn take(&mut self, sides: &[i64]) {
        let better = |best: &Vec<i64>| match difference(sides).cmp(&difference(best)) {
            Ordering::Equal => sides.iter().rev().gt(best.iter().rev()),
            order => order.is_lt(),
        };
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(sides.to_vec());
        }
    }

    /// Tries all continuations with `free` sides, none larger than the last, whose product is `nodes`.
    fn fill(&mut self, nodes: i64, free: usize, sides: &mut Vec<i64>) {
        if free == 0 {
            return self.take(sides);
        }
        let last = sides[sides.len() - 1].min(nodes);
        for index in (0..self.divisors.partition_point(|&side| side <= last)).rev() {
            let side = self.divisors[index];
            // The following sides are not larger, and together must reach the number of nodes.
            let reaches = (side as f64).powi(free as i32) >= nodes as f64 * (1.0 - 1e-9);
            if !reaches || self.beats(sides[0] - side) {
                return;
            }
            if nodes % side == 0 && (free > 1 || side == nodes) {
                sides.push(side);
                self.fill(nodes / side, free - 1, sides);
                sides.pop();
            }
        }
    }
}

/// Returns the divisors of a number, the smallest first.
fn divisors(number: i64) -> Vec<i64> {
    let small = (1..).take_while(|one| one * one <= number).filter(|one| number % one == 0);
    let small: Vec<i64> = small.collect();
    let large = small.iter().rev().map(|one| number / one).skip_while(|one| one * one == number);
    small.iter().copied().chain(large).collect()
}

/// Returns the divisors of `nodes` that fill `free` dimensions most evenly, the largest first.
fn even(nodes: i64, free: usize) -> Vec<i64> {
    if free < 2 {
        return vec![nodes; free];
    }
    let mut closest = Closest { divisors: divisors(nodes), best: None };
    for first in closest.divisors.clone() {
        if (first as f64).powi(free as i32) < nodes as f64 * (1.0 - 1e-9) {
            continue;
        }
        // The smallest of the others is at most as large as if they were equal.
        let smallest = ((nodes / first) as f64).powf(1.0 / (free - 1) as f64) + 1e-6;
        if closest.beats(first - smallest as i64) {
            break;
        }
        closest.fill(nodes / first, free - 1, &mut vec![first]);
    }
    closest.best.expect("the nodes in one dimension are a grid")
}

/// Returns the lengths of a grid of `nodes` nodes, as equal as possible where `given` has a zero; its other lengths
/// stay.
///
/// # Errors
/// [`ErrorClass::Dimensions`] if no grid has this number of nodes.
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
        // Of sides that differ by six, those with the larger smallest one, not 20, 18 and 14; and by ten, not eleven:
        // 24, 24 and 13.
        assert_eq!(even(5040, 3), [21, 16, 15]);
        assert_eq!(even(7488, 3), [26, 18, 16]);
        // 6 is the smallest of 12, 6 and 6 as well, but 8 is more than 6.
        assert_eq!(even(8208, 4), [19, 9, 8, 6]);
        assert_eq!((even(i64::from(i32::MAX), 3)[0], divisors(36).len()), (i64::from(i32::MAX), 9));
    }

    /// Returns all ways to write a number as a product of `free` factors, the largest first.
    fn products(nodes: i64, free: usize, most: i64) -> Vec<Vec<i64>> {
        if free == 0 {
            return if nodes == 1 { vec![vec![]] } else { vec![] };
        }
        let sides = (1..=most.min(nodes)).filter(|side| nodes % side == 0);
        let with = |side: i64| {
            let rest = products(nodes / side, free - 1, side).into_iter();
            rest.map(move |rest| [vec![side], rest].concat())
        };
        sides.flat_map(with).collect()
    }

    #[test]
    fn no_other_sides_are_more_even() {
        for nodes in 1..=400 {
            for free in 2..=4 {
                let key = |sides: &Vec<i64>| {
                    let small_first: Vec<i64> = sides.iter().rev().map(|side| -side).collect();
                    (difference(sides), small_first)
                };
                let wanted = products(nodes, free, nodes).into_iter().min_by_key(key);
                assert_eq!(Some(even(nodes, free)), wanted, "{nodes} in {free} dimensions");
            }
        }
    }

    #[test]
    fn given_dimensions_stay_and_impossible_ones_are_refused() {
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
