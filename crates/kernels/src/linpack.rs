//! The Linpack benchmark: a dense system of linear equations in double precision, by Gaussian elimination.
//!
//! Written anew from the description in Dongarra, Bunch, Moler and Stewart, "LINPACK users' guide" (1979): columns,
//! partial pivoting, and operations of one column on another. This is the classic benchmark of plain code, not the
//! blocked one of today's rankings.

use crate::error::{Error, Result};

/// A system of equations: a matrix in columns and a right-hand side, such that the solution is all ones.
#[derive(Clone, Debug)]
pub struct System {
    size: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
    factors: Vec<f64>,
    pivots: Vec<usize>,
    solution: Vec<f64>,
}

/// Returns the nominal operations of solving a system of this size: 2/3 n^3 + 2 n^2.
pub fn nominal_operations(size: usize) -> f64 {
    let n = size as f64;
    2.0 / 3.0 * n * n * n + 2.0 * n * n
}

/// Largest residual of a correct solution, in units of the rounding error.
const LARGEST_RESIDUAL: f64 = 16.0;

impl System {
    /// Creates the benchmark's system of `size` equations, with elements from a multiplicative generator, between -2
    /// and 2.
    ///
    /// # Errors
    /// [`Error::WrongLength`] for no equations.
    pub fn new(size: usize) -> Result<Self> {
        if size == 0 {
            let what = "a system of equations";
            return Err(Error::WrongLength { what, expected: 1, found: 0 });
        }
        let mut state = 1325u32;
        let mut next = || {
            state = 3125 * state % 65_536;
            (f64::from(state) - 32_768.0) / 16_384.0
        };
        let matrix: Vec<f64> = (0..size * size).map(|_| next()).collect();
        let mut right = vec![0.0; size];
        for column in matrix.chunks(size) {
            right.iter_mut().zip(column).for_each(|(sum, element)| *sum += element);
        }
        let (factors, pivots) = (matrix.clone(), vec![0; size]);
        Ok(System { size, matrix, solution: right.clone(), right, factors, pivots })
    }

    /// Returns the number of equations.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Solves the system again, from its original elements. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::WrongResult`] if a pivot is zero.
    pub fn solve(&mut self) -> Result<()> {
        self.factors.copy_from_slice(&self.matrix);
        self.solution.copy_from_slice(&self.right);
        self.factorise()?;
        self.substitute();
        Ok(())
    }

    /// Returns the largest element of A x - b, divided by n, by the largest elements of A and x, and by the rounding
    /// error.
    ///
    /// # Errors
    /// [`Error::WrongResult`] if it is larger than for a correct solution.
    pub fn residual(&self) -> Result<f64> {
        let mut difference: Vec<f64> = self.right.iter().map(|b| -b).collect();
        for (column, x) in self.matrix.chunks(self.size).zip(&self.solution) {
            add_multiple(&mut difference, column, *x);
        }
        let scale = self.size as f64 * largest(&self.matrix) * largest(&self.solution);
        let residual = largest(&difference) / (scale * f64::EPSILON);
        if residual <= LARGEST_RESIDUAL {
            return Ok(residual);
        }
        let explanation =
            format!("the residual is {residual:.3e} rounding errors, more than {LARGEST_RESIDUAL}");
        Err(Error::WrongResult { benchmark: "linpack", explanation })
    }

    /// Returns the solution, which should be all ones.
    pub fn solution(&self) -> &[f64] {
        &self.solution
    }

    fn factorise(&mut self) -> Result<()> {
        let n = self.size;
        for step in 0..n {
            let (before, after) = self.factors.split_at_mut((step + 1) * n);
            let column = &mut before[step * n..];
            let pivot = (step..n).fold(step, |best, row| {
                if column[row].abs() > column[best].abs() { row } else { best }
            });
            self.pivots[step] = pivot;
            if column[pivot] == 0.0 {
                let explanation = format!("the matrix is singular: pivot {step} is zero");
                return Err(Error::WrongResult { benchmark: "linpack", explanation });
            }
            column.swap(step, pivot);
            let factor = -1.0 / column[step];
            column[step + 1..].iter_mut().for_each(|element| *element *= factor);
            for other in after.chunks_mut(n) {
                other.swap(step, pivot);
                let multiple = other[step];
                add_multiple(&mut other[step + 1..], &column[step + 1..], multiple);
            }
        }
        Ok(())
    }

    fn substitute(&mut self) {
        let n = self.size;
        let x = &mut self.solution;
        for step in 0..n {
            x.swap(step, self.pivots[step]);
            let multiple = x[step];
            add_multiple(
                &mut x[step + 1..],
                &self.factors[step * n + step + 1..][..n - step - 1],
                multiple,
            );
        }
        for step in (0..n).rev() {
            x[step] /= self.factors[step * n + step];
            let multiple = -x[step];
            add_multiple(&mut x[..step], &self.factors[step * n..][..step], multiple);
        }
    }
}

/// Computes y += a x.
#[inline(never)]
fn add_multiple(y: &mut [f64], x: &[f64], a: f64) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, element| element.abs().max(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_is_all_ones_with_a_small_residual() {
        for size in [1, 2, 3, 10, 100, 257] {
            let mut system = System::new(size).unwrap();
            for _ in 0..2 {
                system.solve().unwrap();
                assert!(system.residual().unwrap() < LARGEST_RESIDUAL);
                assert!(system.solution().iter().all(|x| (x - 1.0).abs() < 1e-9), "{size}");
            }
        }
    }

    #[test]
    fn a_wrong_solution_and_a_singular_matrix_are_noticed() {
        let mut system = System::new(20).unwrap();
        system.solve().unwrap();
        system.solution[7] += 1e-9;
        assert!(system.residual().is_err());
        system.matrix[..20].fill(0.0);
        let refused = system.solve().unwrap_err().to_string();
        assert_eq!(refused, "linpack: the matrix is singular: pivot 0 is zero");
        assert!(System::new(0).is_err());
    }

    #[test]
    fn operations_are_those_of_the_guide() {
        // 2/3 x 1e6 + 2 x 1e4.
        assert!((nominal_operations(100) - 686_666.666_7).abs() < 1e-3);
    }
}
