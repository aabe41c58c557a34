//! A transform of each row.

use contract::{Work, WorkKind};
use kernels::fft::{BlockFft, nominal_operations};
use kernels::{Complex32, Complex64};

use super::{About, Function, InPlace, Prepared, StageFunction};

pub(super) struct Fft;

impl StageFunction for Fft {
    fn about(&self) -> About {
        About { name: "fft", summary: "a forward transform of each row", parameters: &[] }
    }

    fn work(&self, _: &Function, rows: usize, columns: usize) -> Work {
        Work::new(WorkKind::Fft, (rows as f64 * nominal_operations(columns)) as u64)
    }

    fn prepare(&self, _: &Function, columns: usize) -> kernels::Result<Prepared> {
        Ok(Prepared::InPlace(Box::new(BlockFft::new(columns)?)))
    }

    fn directly(&self, _: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        input.chunks(columns).flat_map(transform).collect()
    }
}

impl InPlace for BlockFft {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        self.transform(rows)
    }

    fn apply_into(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        self.transform_into(input, output)
    }

    fn apply_joined(
        &mut self,
        whole: &mut [Complex32],
        strips: &[Option<&[Complex32]>],
    ) -> Option<kernels::Result<()>> {
        Some(self.transform_joined(whole, strips))
    }

    fn joins(&self) -> bool {
        true
    }
}

/// Computes the transform by its definition; an even length is split into two halves.
pub(super) fn transform(points: &[Complex64]) -> Vec<Complex64> {
    let n = points.len();
    let turn = |k: usize| Complex64::cis(-std::f64::consts::TAU * (k % n) as f64 / n as f64);
    if !n.is_multiple_of(2) {
        let sum = |k: usize| points.iter().enumerate().map(|(at, x)| x * turn(at * k)).sum();
        return (0..n).map(sum).collect();
    }
    let every_second =
        |first: usize| -> Vec<_> { points[first..].iter().step_by(2).copied().collect() };
    let (even, odd) = (transform(&every_second(0)), transform(&every_second(1)));
    (0..n).map(|k| even[k % (n / 2)] + turn(k) * odd[k % (n / 2)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_ones_transforms_to_its_length_and_zeros() {
        let ones = [Complex64::new(1.0, 0.0); 12];
        let transformed = transform(&ones);
        assert!((transformed[0] - 12.0).norm() < 1e-12);
        assert!(transformed[1..].iter().all(|point| point.norm() < 1e-12), "{transformed:?}");
        // One point late: point k turns by k/12 of a circle.
        let mut late = [Complex64::new(0.0, 0.0); 12];
        late[1] = Complex64::new(1.0, 0.0);
        assert!((transform(&late)[3] - Complex64::new(0.0, -1.0)).norm() < 1e-12);
    }
}
