//! Constant false-alarm rate detection along each row.

use contract::{Work, WorkKind};
use kernels::cfar::{Cfar, OPERATIONS_PER_CELL};
use kernels::{Complex32, Complex64};

use super::{About, Function, InPlace, Parameter, Prepared, StageFunction};

pub(super) struct Detect;

const GUARD: &str = "guard";
const CELLS: &str = "cells";

impl StageFunction for Detect {
    fn about(&self) -> About {
        const GUARD_PARAMETER: Parameter = Parameter {
            name: GUARD,
            default: Some(8),
            least: 0,
            meaning: "neighbours on each side that are left out",
        };
        const CELLS_PARAMETER: Parameter = Parameter {
            name: CELLS,
            default: Some(10),
            least: 1,
            meaning: "neighbours on each side, beyond those, that the mean is over",
        };
        About {
            name: "cfar",
            summary: "each element's power over the mean power of its neighbours in the row",
            parameters: &[GUARD_PARAMETER, CELLS_PARAMETER],
        }
    }

    fn makes_power_ratios(&self) -> bool {
        true
    }

    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        let guard = function.number(GUARD);
        match columns > 2 * guard + 1 {
            true => Ok(columns),
            false => Err(format!(
                "leaves out {guard} neighbours on each side, and rows of {columns} elements have no others"
            )),
        }
    }

    fn work(&self, _: &Function, rows: usize, columns: usize) -> Work {
        let operations = OPERATIONS_PER_CELL * (rows * columns) as f64;
        Work::new(WorkKind::FloatingPoint, operations as u64)
    }

    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared> {
        let cfar = Cfar::new(function.number(GUARD), function.number(CELLS));
        Ok(Prepared::InPlace(Box::new(Detector { cfar, ratios: vec![0.0; columns] })))
    }

    fn directly(&self, function: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        let (guard, cells) = (function.number(GUARD), function.number(CELLS));
        let ratio = |row: &[Complex64], i: usize| {
            let is_neighbour = |j: &usize| (guard + 1..=guard + cells).contains(&j.abs_diff(i));
            let powers = (0..columns).filter(is_neighbour).map(|j| row[j].norm_sqr());
            let powers: Vec<f64> = powers.collect();
            row[i].norm_sqr() * powers.len() as f64 / powers.iter().sum::<f64>()
        };
        let cells = input.chunks(columns).flat_map(|row| (0..columns).map(move |i| (row, i)));
        cells.map(|(row, i)| Complex64::from(ratio(row, i))).collect()
    }
}

struct Detector {
    cfar: Cfar,
    ratios: Vec<f32>,
}

impl InPlace for Detector {
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()> {
        for row in rows.chunks_exact_mut(self.ratios.len()) {
            self.cfar.ratios(row, &mut self.ratios)?;
            row.iter_mut().zip(&self.ratios).for_each(|(x, ratio)| *x = Complex32::from(ratio));
        }
        Ok(())
    }
}
