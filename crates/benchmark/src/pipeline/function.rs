//! What a rank of a stage does with its blocks.

use contract::{Buffer, Rank, Result};
use kernels::fft::BlockFft;
use kernels::{Complex32, corner_turn_pitched};

use super::chain::{Function, Stage};
use super::expected::weight;
use super::geometry::{Level, Outlet, first_row};
use crate::programs::failed;

/// A function with all that it needs made before.
enum Prepared {
    Fft(Box<BlockFft<f32>>),
    Weight(Vec<f32>),
}

/// The functions of a stage, for blocks of one rank.
pub(super) struct Functions {
    prepared: Vec<(Function, Prepared)>,
    rows: usize,
    columns: usize,
}

impl Functions {
    pub(super) fn new(stage: &Stage, level: &Level) -> Result<Self> {
        let columns = level.columns;
        let prepare = |&function: &Function| {
            let prepared = match function {
                Function::Fft => Prepared::Fft(Box::new(BlockFft::new(columns).map_err(failed)?)),
                _ => Prepared::Weight((0..columns).map(|column| weight(column, columns)).collect()),
            };
            Ok((function, prepared))
        };
        let prepared = stage.row_functions().iter().map(prepare).collect::<Result<_>>()?;
        Ok(Functions { prepared, rows: level.block_rows, columns })
    }

    /// Does to `block` all but the corner turn, in place.
    pub(super) fn rows(&mut self, rank: &mut dyn Rank, block: &mut Buffer) -> Result<()> {
        let block = block.elements_mut::<Complex32>();
        for (function, prepared) in &mut self.prepared {
            let mut done = Ok(());
            rank.compute(function.work(self.rows, self.columns), &mut || match prepared {
                Prepared::Fft(fft) => done = fft.transform(block),
                Prepared::Weight(weights) => {
                    let weights = weights.iter().cycle();
                    block.iter_mut().zip(weights).for_each(|(point, weight)| *point *= weight);
                }
            });
            done.map_err(failed)?;
        }
        Ok(())
    }

    /// Turns block `number` of this rank's strip into its columns of all the pieces that leave.
    pub(super) fn turn(
        &self,
        rank: &mut dyn Rank,
        block: &Buffer,
        number: usize,
        turned: &mut Turned<'_>,
    ) -> Result<()> {
        let block = block.elements::<Complex32>();
        let (piece_rows, piece_columns) = turned.outlet.shape;
        let mut done = Ok(());
        rank.compute(Function::CornerTurn.work(self.rows, self.columns), &mut || {
            for (at, piece) in turned.pieces.iter_mut().enumerate() {
                let first = first_row(turned.to, at);
                let piece = &mut piece.elements_mut::<Complex32>()[number * self.rows..];
                let turned = corner_turn_pitched(
                    &block[first..],
                    (self.rows, piece_rows),
                    self.columns,
                    piece,
                    piece_columns,
                );
                done = std::mem::replace(&mut done, Ok(())).and(turned);
            }
        });
        done.map_err(failed)
    }
}

/// Where a turned block goes.
pub(super) struct Turned<'a> {
    pub(super) to: &'a Level,
    pub(super) outlet: &'a Outlet,
    pub(super) pieces: &'a mut [Buffer],
}
