//! The functions of a stage, applied to the blocks of a rank.

use contract::{Buffer, Rank, Result, Work, WorkKind};
use kernels::fft::BlockFft;
use kernels::{Complex32, corner_turn_pitched};

use super::apart::Apart;
use super::expected::weight;
use crate::chain::{Function, Stage};
use crate::chain::{Level, Outlet};
use crate::error::failed;

/// A function with its tables, which are made in advance.
enum Prepared {
    Fft(Box<BlockFft<f32>>),
    Weight(Vec<f32>),
}

/// The functions of a stage, for blocks of one rank.
pub(super) struct Functions {
    prepared: Vec<(Function, Prepared)>,
    rows: usize,
    columns: usize,
    /// Columns of the level that gets the results.
    columns_after: usize,
}

impl Functions {
    /// The functions of `stage`, which is `level` and sends to `to`.
    pub(super) fn new(stage: &Stage, level: &Level, to: &Level) -> Result<Self> {
        let columns = level.columns;
        let prepare = |&function: &Function| {
            let prepared = match function {
                Function::Fft => Prepared::Fft(Box::new(BlockFft::new(columns).map_err(failed)?)),
                _ => Prepared::Weight((0..columns).map(|column| weight(column, columns)).collect()),
            };
            Ok((function, prepared))
        };
        let prepared = stage.row_functions().iter().map(prepare).collect::<Result<_>>()?;
        let (rows, columns_after) = (level.block_rows, to.columns);
        Ok(Functions { prepared, rows, columns, columns_after })
    }

    /// Applies all functions but the corner turn to `block`, in place.
    pub(super) fn rows(&mut self, rank: &mut dyn Rank, block: &mut Buffer) -> Result<()> {
        self.rows_after(rank, 0, block)
    }

    /// As [`rows`](Self::rows), for a block with pieces in other ranks' memory. If the functions are not `wanted`, the
    /// pieces are only copied. A transform that comes first reads the pieces where they are, so nothing is copied.
    pub(super) fn rows_apart(
        &mut self,
        rank: &mut dyn Rank,
        block: &mut Buffer,
        apart: &Apart<'_>,
        wanted: bool,
    ) -> Result<()> {
        let work = Function::Fft.work(self.rows, self.columns);
        let whole = block.elements_mut::<Complex32>();
        let first = self.prepared.first_mut().filter(|_| wanted);
        let Some((Function::Fft, Prepared::Fft(fft))) = first else {
            apart.bring(rank, whole);
            return if wanted { self.rows(rank, block) } else { Ok(()) };
        };
        // The rank is borrowed while it computes, so the pieces cannot be read then. The work is counted first, and
        // the closure notes whether this machine really computes.
        let mut computes = false;
        rank.compute(work, &mut || computes = true);
        match apart.strips(rank).as_ref().filter(|_| computes) {
            Some((strips, count)) => fft.transform_joined(whole, &strips[..*count]),
            None => {
                apart.bring(rank, whole);
                if computes { fft.transform(whole) } else { Ok(()) }
            }
        }
        .map_err(failed)?;
        self.rows_after(rank, 1, block)
    }

    /// As [`rows`](Self::rows), from `input`, which does not change, to `block`. If the functions are not `wanted`,
    /// the rows are only copied. The first function reads the rows of `input`, so nothing is copied.
    pub(super) fn rows_from(
        &mut self,
        rank: &mut dyn Rank,
        input: &Buffer,
        block: &mut Buffer,
        wanted: bool,
    ) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        let (input, output) = (input.elements::<Complex32>(), block.elements_mut::<Complex32>());
        let mut done = Ok(());
        match self.prepared.first_mut().filter(|_| wanted) {
            Some((function, prepared)) => {
                rank.compute(function.work(rows, columns), &mut || match prepared {
                    Prepared::Fft(fft) => done = fft.transform_into(input, output),
                    Prepared::Weight(weights) => {
                        let weighted = input.iter().zip(weights.iter().cycle());
                        output.iter_mut().zip(weighted).for_each(|(to, (x, w))| *to = x * w);
                    }
                });
            }
            None => {
                let copy = Work::new(WorkKind::CopyBytes, size_of_val(input) as u64);
                rank.compute(copy, &mut || output.copy_from_slice(input));
            }
        }
        done.map_err(failed)?;
        if wanted { self.rows_after(rank, 1, block) } else { Ok(()) }
    }

    /// Applies the functions from index `first` on, in place.
    fn rows_after(&mut self, rank: &mut dyn Rank, first: usize, block: &mut Buffer) -> Result<()> {
        let block = block.elements_mut::<Complex32>();
        for (function, prepared) in self.prepared.iter_mut().skip(first) {
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

    /// Turns block `number` of this rank's strip into its columns of the outgoing pieces.
    pub(super) fn turn(
        &self,
        rank: &mut dyn Rank,
        block: &Buffer,
        number: usize,
        turned: &mut TurnedPieces<'_>,
    ) -> Result<()> {
        let block = block.elements::<Complex32>();
        let TurnedPieces { me, outlet, pieces } = turned;
        let (piece_rows, piece_columns) = outlet.shape;
        let mut done = Ok(());
        rank.compute(Function::CornerTurn.work(self.rows, self.columns), &mut || {
            for (piece, buffer) in outlet.pieces.iter().zip(pieces.iter_mut()) {
                // The buffer is a whole block for this rank itself, and only this rank's piece for another.
                let (first, pitch) = match piece.to == *me {
                    true => (outlet.first_column, self.columns_after),
                    false => (0, piece_columns),
                };
                let turned = corner_turn_pitched(
                    &block[piece.row..],
                    (self.rows, piece_rows),
                    self.columns,
                    &mut buffer.elements_mut::<Complex32>()[first + number * self.rows..],
                    pitch,
                );
                done = std::mem::replace(&mut done, Ok(())).and(turned);
            }
        });
        done.map_err(failed)
    }
}

/// Where a turned block goes.
pub(super) struct TurnedPieces<'a> {
    pub(super) me: usize,
    pub(super) outlet: &'a Outlet,
    pub(super) pieces: &'a mut [Buffer],
}
