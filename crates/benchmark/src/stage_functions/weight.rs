//! A window over each row.

use contract::{Work, WorkKind};
use kernels::{Complex32, Complex64};

use super::{About, Function, InPlace, Prepared, StageFunction};

pub(super) struct Weight;

impl StageFunction for Weight {
    fn about(&self) -> About {
        About { name: "weight", summary: "a raised-cosine window over each row", parameters: &[] }
    }

    fn work(&self, _: &Function, rows: usize, columns: usize) -> Work {
        // A real weight times a complex number.
        Work::new(WorkKind::FloatingPoint, 2 * (rows * columns) as u64)
    }

    fn prepare(&self, _: &Function, columns: usize) -> kernels::Result<Prepared> {
        let weights = (0..columns).map(|column| weight(column, columns)).collect();
        Ok(Prepared::InPlace(Box::new(Weights(weights))))
    }

    fn directly(&self, _: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        let weights = (0..columns).map(|column| f64::from(weight(column, columns))).cycle();
        input.iter().zip(weights).map(|(point, weight)| point * weight).collect()
    }
}

/// Returns the weight of column `column` of `columns`: a raised cosine, as usual for windows.
fn weight(column: usize, columns: usize) -> f32 {
    let angle = std::f64::consts::TAU * column as f64 / columns as f64;
    (0.54 - 0.46 * angle.cos()) as f32
}

struct Weights(Vec<f32>);

impl InPlace for Weights {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        rows.iter_mut().zip(self.0.iter().cycle()).for_each(|(point, weight)| *point *= weight);
        Ok(())
    }

    fn apply_into(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        let weighted = input.iter().zip(self.0.iter().cycle());
        output.iter_mut().zip(weighted).for_each(|(to, (x, w))| *to = x * w);
        Ok(())
    }
}
