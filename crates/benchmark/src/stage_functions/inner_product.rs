//! The inner product of each snapshot with the weights at the head of its row.

use contract::{Work, WorkKind};
use kernels::{Complex32, Complex64};

use super::snapshots::{ANTENNAS, ANTENNAS_PARAMETER, snapshots};
use super::{About, Function, OutOfPlace, Prepared, StageFunction};

pub(super) struct InnerProduct;

impl StageFunction for InnerProduct {
    fn about(&self) -> About {
        About {
            name: "inner-product",
            summary: "an element of each snapshot: its inner product with the weights that its row begins with",
            parameters: &[ANTENNAS_PARAMETER],
        }
    }

    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        match snapshots(function, columns)? {
            0 | 1 => Err(format!(
                "needs weights and a snapshot after them; a row of {columns} elements is no more than the weights of {} \
                 antennas",
                function.number(ANTENNAS)
            )),
            blocks => Ok(blocks - 1),
        }
    }

    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work {
        let elements = rows * (columns - function.number(ANTENNAS));
        Work::new(WorkKind::FloatingPoint, 8 * elements as u64)
    }

    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared> {
        let antennas = function.number(ANTENNAS);
        Ok(Prepared::OutOfPlace(Box::new(Products { antennas, columns })))
    }

    fn directly(&self, function: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        let antennas = function.number(ANTENNAS);
        let product = |row: usize, snapshot: usize| -> Complex64 {
            let at = |index: usize| input[row * columns + index];
            (0..antennas).map(|a| at(a).conj() * at((1 + snapshot) * antennas + a)).sum()
        };
        let snapshots = columns / antennas - 1;
        let rows = 0..input.len() / columns;
        rows.flat_map(|row| (0..snapshots).map(move |snapshot| (row, snapshot)))
            .map(|(row, snapshot)| product(row, snapshot))
            .collect()
    }
}

struct Products {
    antennas: usize,
    columns: usize,
}

impl OutOfPlace for Products {
    fn apply(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        let products = self.columns / self.antennas - 1;
        for (row, output) in input.chunks_exact(self.columns).zip(output.chunks_exact_mut(products))
        {
            let (weights, snapshots) = row.split_at(self.antennas);
            for (product, snapshot) in output.iter_mut().zip(snapshots.chunks_exact(self.antennas))
            {
                *product = dot(weights, snapshot);
            }
        }
        Ok(())
    }
}

/// Returns the inner product of conjugated weights and a snapshot.
pub(super) fn dot(weights: &[Complex32], snapshot: &[Complex32]) -> Complex32 {
    weights.iter().zip(snapshot).map(|(weight, x)| weight.conj() * x).sum()
}
