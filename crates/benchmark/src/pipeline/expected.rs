//! The input of a chain, and its expected output. The output is computed directly, a whole matrix at a time in double
//! precision, without any code of the chain.

use contract::{Error, Result};
use kernels::{Complex, Complex32, Complex64};

use super::scene;
use crate::chain::Chain;
use random::mix;

/// Number of different matrices, which the source sends in rotation.
pub(super) const MATRICES: usize = 2;

/// Returns matrix `which` of the source, row by row.
pub(super) fn input(chain: &Chain, seed: u64, which: usize) -> Vec<Complex32> {
    if let Some(scene) = &chain.scene {
        return scene::matrix(chain, scene, seed, which);
    }
    let elements = chain.rows * chain.columns;
    let first = 2 * (which * elements) as u64;
    let part = |at: u64| (mix(seed ^ mix(first + at)) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    (0..elements as u64).map(|at| Complex::new(part(2 * at), part(2 * at + 1))).collect()
}

/// Returns the expected output for matrix `which`.
pub(super) fn output(chain: &Chain, seed: u64, which: usize) -> Vec<Complex32> {
    let widen = |point: &Complex32| Complex::new(point.re.into(), point.im.into());
    let mut matrix: Vec<Complex64> = input(chain, seed, which).iter().map(widen).collect();
    let mut columns = chain.columns;
    for function in chain.stages.iter().flat_map(|stage| &stage.functions) {
        let rows = matrix.len() / columns;
        matrix = function.kind().directly(function, &matrix, columns);
        columns = if function.turns() { rows } else { matrix.len() / rows };
    }
    matrix.iter().map(|point| Complex::new(point.re as f32, point.im as f32)).collect()
}

/// Checks results against the expected output.
pub(super) struct Expected {
    matrices: Vec<Vec<Complex32>>,
    /// Largest error of an element of value zero, and the share of an element's value that is added to it. Single
    /// precision causes an error of about 10^-7 of the root mean square at each transform.
    off_max: f32,
    off_max_of_size: f32,
    columns: usize,
}

/// Number of elements of a block that are checked while time is measured.
const SPOTS: usize = 4;
const OFF_MAX: f32 = 1e-5;

impl Expected {
    pub(super) fn new(chain: &Chain, seed: u64, columns: usize) -> Self {
        let matrices: Vec<_> = (0..MATRICES).map(|which| output(chain, seed, which)).collect();
        let squares: f32 = matrices[0].iter().map(|point| point.norm_sqr()).sum();
        let functions = chain.stages.iter().flat_map(|stage| &stage.functions);
        let off_max_of_size =
            OFF_MAX * functions.map(|one| one.kind().error_factor()).product::<f32>();
        let off_max = off_max_of_size * (squares / matrices[0].len() as f32).sqrt();
        Expected { matrices, off_max, off_max_of_size, columns }
    }

    /// Checks `block`, which begins with `row` of `matrix`: all of it, or a few elements that differ from block to
    /// block.
    pub(super) fn check(
        &self,
        block: &[Complex32],
        matrix: u64,
        row: usize,
        all: bool,
    ) -> Result<()> {
        let first = row * self.columns;
        let right = &self.matrices[matrix as usize % MATRICES][first..][..block.len()];
        // The comparison also detects NaN.
        let off_max = |at: usize| self.off_max + self.off_max_of_size * right[at].norm();
        let right_enough = |at: usize| (block[at] - right[at]).norm() <= off_max(at);
        let wrong = |&at: &usize| !right_enough(at);
        let spot = |spot: usize| (mix(matrix ^ mix((first + spot) as u64)) as usize) % block.len();
        let found = match all {
            true => (0..block.len()).find(wrong),
            false => (0..SPOTS).map(spot).find(wrong),
        };
        match found {
            None => Ok(()),
            Some(at) => Err(Error::Program(format!(
                "wrong data at the sink: matrix {matrix}, row {}, column {} is {} and should be {}",
                row + at / self.columns,
                at % self.columns,
                block[at],
                right[at]
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage_functions::Function;

    fn chain(functions: &[Function], rows: usize, columns: usize) -> Chain {
        Chain::of((rows, columns, 1), &[(functions, 1)])
    }

    #[test]
    fn a_corner_turn_makes_columns_rows() {
        let chain = chain(&[Function::CORNER_TURN], 2, 3);
        let (input, output) = (input(&chain, 7, 1), output(&chain, 7, 1));
        let at = [0, 3, 1, 4, 2, 5];
        assert_eq!(output, at.map(|at| input[at]));
    }

    #[test]
    fn matrices_differ_and_are_the_same_again() {
        let chain = chain(&[], 4, 4);
        assert_eq!(input(&chain, 7, 0), input(&chain, 7, 0));
        assert_ne!(input(&chain, 7, 0), input(&chain, 7, 1));
        assert_ne!(input(&chain, 7, 0), input(&chain, 8, 0));
    }

    #[test]
    fn a_wrong_element_is_named() {
        let chain = chain(&[], 2, 2);
        let expected = Expected::new(&chain, 7, 2);
        let mut block = output(&chain, 7, 1);
        expected.check(&block, 3, 0, true).unwrap();
        block[3].re = f32::NAN;
        let error = expected.check(&block, 3, 0, true).unwrap_err().to_string();
        assert!(error.contains("matrix 3, row 1, column 1 is NaN"), "{error}");
    }
}
