//! The magnitude of each element.

use contract::{Work, WorkKind};
use kernels::{Complex32, Complex64};

use super::{About, Function, InPlace, Prepared, StageFunction};

pub(super) struct Magnitude;

impl StageFunction for Magnitude {
    fn about(&self) -> About {
        About {
            name: "magnitude",
            summary: "the magnitude of each element, as its real part",
            parameters: &[],
        }
    }

    fn work(&self, _: &Function, rows: usize, columns: usize) -> Work {
        // Two squares, their sum and its root.
        Work::new(WorkKind::FloatingPoint, 4 * (rows * columns) as u64)
    }

    fn prepare(&self, _: &Function, _: usize) -> kernels::Result<Prepared> {
        Ok(Prepared::InPlace(Box::new(Magnitudes)))
    }

    fn directly(&self, _: &Function, input: &[Complex64], _: usize) -> Vec<Complex64> {
        input.iter().map(|x| Complex64::from(x.norm())).collect()
    }
}

struct Magnitudes;

impl InPlace for Magnitudes {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        rows.iter_mut().for_each(|x| *x = Complex32::from(x.norm_sqr().sqrt()));
        Ok(())
    }
}
