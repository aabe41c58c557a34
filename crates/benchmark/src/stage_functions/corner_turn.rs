//! The corner turn: columns become rows.

use contract::{Work, WorkKind};
use kernels::{Complex32, Complex64};

use super::{About, Function, Prepared, StageFunction};

pub(super) struct Turn;

impl StageFunction for Turn {
    fn about(&self) -> About {
        About {
            name: "corner-turn",
            summary: "hands on columns as rows; only as a stage's last function",
            parameters: &[],
        }
    }

    fn turns(&self) -> bool {
        true
    }

    fn work(&self, _: &Function, rows: usize, columns: usize) -> Work {
        let bytes = rows * columns * size_of::<Complex32>();
        Work::new(WorkKind::CornerTurnBytes, bytes as u64)
    }

    fn prepare(&self, _: &Function, _: usize) -> kernels::Result<Prepared> {
        unreachable!("a stage turns its own blocks, into the pieces that it sends")
    }

    fn directly(&self, _: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64> {
        let rows = input.len() / columns;
        (0..input.len()).map(|at| input[at % rows * columns + at / rows]).collect()
    }
}
