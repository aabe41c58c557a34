//! The equation: Laplace's on the unit square, with a boundary whose solution is known.

use contract::{Work, WorkKind};

/// A problem of `order` by `order` inner points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) order: usize,
    /// A quarter of the factor of over-relaxation.
    pub(super) quarter: f64,
}

/// Maximum change of any point in an iteration that has converged.
pub(super) const TOLERANCE: f64 = 1e-9;

/// Number of floating-point operations for each point: four additions, one multiplication and subtraction for the
/// residual, one of each for the step.
const OPERATIONS: u64 = 8;

impl Problem {
    /// Creates a problem with the factor that is best for a square (Young, 1954).
    pub(super) fn new(order: usize) -> Self {
        let angle = std::f64::consts::PI / (order as f64 + 1.0);
        Problem { order, quarter: 0.5 / (1.0 + angle.sin()) }
    }

    /// Returns the solution: x^2 - y^2, of which the difference of five points is exact. Row and column count from 0,
    /// on the boundary.
    pub(super) fn solution(&self, row: usize, column: usize) -> f64 {
        let step = 1.0 / (self.order as f64 + 1.0);
        let (x, y) = (column as f64 * step, row as f64 * step);
        x * x - y * y
    }

    /// Returns whether a point of the grid with its boundary is on the boundary.
    pub(super) fn is_boundary(&self, row: usize, column: usize) -> bool {
        let last = self.order + 1;
        row == 0 || column == 0 || row == last || column == last
    }

    /// Returns the maximum error of a point when no point changes by more than the tolerance. The remaining changes
    /// shrink by a share of 2 pi / order at each iteration, or a little less.
    pub(super) fn error_max(&self) -> f64 {
        10.0 * TOLERANCE * (self.order as f64 + 1.0)
    }

    /// Returns a number of iterations that no iteration which converges at all reaches.
    pub(super) fn iterations_max(&self) -> u64 {
        1000 + 100 * self.order as u64
    }

    /// Returns the work of a sweep over a number of points.
    pub(super) fn sweeping(points: usize) -> Work {
        Work::new(WorkKind::FloatingPoint, OPERATIONS * points as u64)
    }
}
