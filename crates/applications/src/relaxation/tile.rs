//! One partition: its points, with a rim of its neighbours' points or of the boundary.

use std::ops::Range;

use super::problem::Problem;
use super::tiling::Direction;

/// The colours of points: the sum of row and column is even or odd.
pub(super) const COLOURS: [usize; 2] = [0, 1];

/// A partition.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
    /// Rows and columns with the rim.
    values: Vec<f64>,
}

impl Tile {
    pub(super) fn new((rows, columns): (Range<usize>, Range<usize>), problem: &Problem) -> Self {
        let values = vec![0.0; (rows.len() + 2) * (columns.len() + 2)];
        let mut tile = Tile { rows, columns, values };
        tile.reset(problem);
        tile
    }

    /// Returns the number of its points.
    pub(super) fn points(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    fn pitch(&self) -> usize {
        self.columns.len() + 2
    }

    /// Sets all points to zero, and those of the boundary to their values.
    pub(super) fn reset(&mut self, problem: &Problem) {
        let (first_row, first_column, pitch) = (self.rows.start, self.columns.start, self.pitch());
        for (row, line) in self.values.chunks_exact_mut(pitch).enumerate() {
            for (column, value) in line.iter_mut().enumerate() {
                let place = (first_row + row, first_column + column);
                let is_boundary = problem.is_boundary(place.0, place.1);
                *value = if is_boundary { problem.solution(place.0, place.1) } else { 0.0 };
            }
        }
    }

    /// Relaxes the points of a colour. Returns the greatest change if it is measured, and 0 otherwise.
    pub(super) fn sweep(&mut self, colour: usize, problem: &Problem, measures: bool) -> f64 {
        match measures {
            true => self.relax::<true>(colour, problem),
            false => self.relax::<false>(colour, problem),
        }
    }

    fn relax<const MEASURES: bool>(&mut self, colour: usize, problem: &Problem) -> f64 {
        let (pitch, width, quarter) = (self.pitch(), self.columns.len(), problem.quarter);
        let mut greatest = 0.0f64;
        for row in 1..=self.rows.len() {
            let first = 1 + (self.rows.start + row + self.columns.start + 1 + colour) % 2;
            let (above, rest) = self.values[(row - 1) * pitch..].split_at_mut(pitch);
            let (line, below) = rest.split_at_mut(pitch);
            let (above, below) = (&above[..pitch], &below[..pitch]);
            let mut column = first;
            while column <= width {
                let old = line[column];
                let sum = (above[column] + below[column]) + (line[column - 1] + line[column + 1]);
                let change = quarter * (sum - 4.0 * old);
                line[column] = old + change;
                if MEASURES {
                    greatest = greatest.max(change.abs());
                }
                column += 2;
            }
        }
        greatest
    }

    /// Returns the length of the edge on a side.
    pub(super) fn edge_length(&self, direction: Direction) -> usize {
        match direction {
            Direction::Up | Direction::Down => self.columns.len(),
            Direction::Left | Direction::Right => self.rows.len(),
        }
    }

    /// Returns the places of a line of points along a side: of the outermost own ones, or of the rim beyond them.
    fn line(&self, direction: Direction, is_rim: bool) -> impl Iterator<Item = usize> + use<> {
        let (pitch, height, width) = (self.pitch(), self.rows.len(), self.columns.len());
        let beyond = usize::from(is_rim);
        let (first, step) = match direction {
            Direction::Up => ((1 - beyond) * pitch + 1, 1),
            Direction::Down => ((height + beyond) * pitch + 1, 1),
            Direction::Left => (pitch + 1 - beyond, pitch),
            Direction::Right => (pitch + width + beyond, pitch),
        };
        (0..self.edge_length(direction)).map(move |at| first + at * step)
    }

    /// Writes the outermost points on a side to `edge`.
    pub(super) fn read_edge(&self, direction: Direction, edge: &mut [f64]) {
        edge.iter_mut().zip(self.line(direction, false)).for_each(|(to, at)| *to = self.values[at]);
    }

    /// Copies `edge` to the rim on a side.
    pub(super) fn set_rim(&mut self, direction: Direction, edge: &[f64]) {
        let places = self.line(direction, true);
        edge.iter().zip(places).for_each(|(from, at)| self.values[at] = *from);
    }

    /// Returns the points with their rows and columns, which count from 1 within the boundary.
    pub(super) fn places(&self) -> impl Iterator<Item = ((usize, usize), f64)> {
        let (pitch, width) = (self.pitch(), self.columns.len());
        let rows = self.rows.clone().enumerate();
        rows.flat_map(move |(line, row)| {
            let values = &self.values[(line + 1) * pitch + 1..][..width];
            let columns = self.columns.clone().zip(values);
            columns.map(move |(column, &value)| ((row + 1, column + 1), value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes a sweep of a grid of 2 x 2 by hand: black points have an odd sum of row and column, and red ones are
    /// zero.
    #[test]
    fn points_of_a_colour_change_and_the_others_do_not() {
        let problem = Problem { order: 2, quarter: 0.25 };
        let mut tile = Tile::new((0..2, 0..2), &problem);
        let at = |row, column| problem.solution(row, column);
        let greatest = tile.sweep(1, &problem, true);
        let found: Vec<_> = tile.places().map(|(_, value)| value).collect();
        let expected = [0.0, (at(0, 2) + at(1, 3)) / 4.0, (at(2, 0) + at(3, 1)) / 4.0, 0.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        let largest = expected.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        assert!((greatest - largest).abs() < 1e-15);
    }

    #[test]
    fn the_edge_of_one_is_the_rim_of_the_other() {
        let problem = Problem::new(4);
        let mut tile = Tile::new((0..2, 1..4), &problem);
        for direction in Direction::ALL {
            let edge: Vec<f64> =
                (0..tile.edge_length(direction)).map(|at| at as f64 + 7.0).collect();
            tile.set_rim(direction, &edge);
            let rim: Vec<f64> = tile.line(direction, true).map(|at| tile.values[at]).collect();
            assert_eq!(rim, edge);
        }
        let mut edge = vec![9.0; 3];
        tile.read_edge(Direction::Down, &mut edge);
        assert_eq!(edge, [0.0; 3]);
    }
}
