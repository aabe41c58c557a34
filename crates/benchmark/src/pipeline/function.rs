//! The functions of a stage, applied to the blocks of a rank.

use contract::{Buffer, Rank, Result, Work, WorkKind};
use kernels::{Complex32, corner_turn_pitched};

use super::remote_pieces::RemotePieces;
use crate::chain::Stage;
use crate::chain::{Level, Outlet};
use crate::error::failed;
use crate::stage_functions::{Function, Prepared};

/// The functions of a stage, for blocks of one rank.
pub(super) struct Functions {
    steps: Vec<FunctionStep>,
    /// The work of turning a block.
    turn: Work,
    rows: usize,
    /// Number of columns of the functions' result for a block.
    result_columns: usize,
    /// Number of columns of the level that receives the results.
    columns_after: usize,
}

/// One function, with its prepared data.
struct FunctionStep {
    prepared: Prepared,
    work: Work,
    /// Output for a block; empty if it works in place.
    output: Vec<Complex32>,
}

impl Functions {
    /// Prepares the functions of `stage`, which is `level` and sends to `to`.
    pub(super) fn new(stage: &Stage, level: &Level, to: &Level) -> Result<Self> {
        let rows = level.block_rows;
        let mut columns = level.columns;
        let step = |function: &Function| {
            let kind = function.kind();
            let prepared = kind.prepare(function, columns).map_err(failed)?;
            let work = at_speed(kind.work(function, rows, columns), stage.speed);
            columns = function.columns(columns).map_err(contract::Error::Program)?;
            let room = if matches!(prepared, Prepared::OutOfPlace(_)) { rows * columns } else { 0 };
            Ok(FunctionStep { prepared, work, output: vec![Complex32::default(); room] })
        };
        let turn = Function::CORNER_TURN;
        let turn = turn.kind().work(&turn, rows, level.result_columns);
        Ok(Functions {
            turn: at_speed(turn, stage.speed),
            steps: stage.row_functions().iter().map(step).collect::<Result<_>>()?,
            rows,
            result_columns: level.result_columns,
            columns_after: to.columns,
        })
    }

    /// Returns whether the functions' result for a block is outside of the block.
    pub(super) fn are_out_of_place(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.prepared, Prepared::OutOfPlace(_)))
    }

    /// Returns the output of the functions for the latest block, which is `block`.
    pub(super) fn result<'a>(&'a self, block: &'a Buffer) -> &'a [Complex32] {
        let makes_rows = |step: &&FunctionStep| matches!(step.prepared, Prepared::OutOfPlace(_));
        let last = self.steps.iter().rev().find(makes_rows);
        last.map_or_else(|| block.elements(), |step| &step.output)
    }

    /// Applies all functions except the corner turn to `block`.
    pub(super) fn rows(&mut self, rank: &mut dyn Rank, block: &mut Buffer) -> Result<()> {
        apply(&mut self.steps, rank, block.elements_mut())
    }

    /// As [`rows`](Self::rows), for a block with pieces in other ranks' memory. If the functions are not `wanted`, the
    /// pieces are only copied. A transform that comes first reads the pieces where they are, so nothing is copied.
    pub(super) fn rows_with_remote(
        &mut self,
        rank: &mut dyn Rank,
        block: &mut Buffer,
        remote: &RemotePieces<'_>,
        wanted: bool,
    ) -> Result<()> {
        let whole = block.elements_mut::<Complex32>();
        let joining = match self.steps.first_mut().filter(|_| wanted) {
            Some(FunctionStep { prepared: Prepared::InPlace(first), work, .. })
                if first.joins() =>
            {
                Some((first, *work))
            }
            _ => None,
        };
        let Some((first, work)) = joining else {
            remote.bring(rank, whole);
            return if wanted { self.rows(rank, block) } else { Ok(()) };
        };
        // The rank is borrowed while it computes, so the pieces cannot be read then. The work is counted first, and
        // the closure notes whether this machine really computes.
        let mut computes = false;
        rank.compute(work, &mut || computes = true);
        let strips = remote.strips(rank).filter(|_| computes);
        let joined = strips.and_then(|(strips, count)| first.apply_joined(whole, &strips[..count]));
        match joined {
            Some(done) => done,
            None => {
                remote.bring(rank, whole);
                if computes { first.apply(whole) } else { Ok(()) }
            }
        }
        .map_err(failed)?;
        apply(&mut self.steps[1..], rank, whole)
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
        let (input, block) = (input.elements::<Complex32>(), block.elements_mut::<Complex32>());
        let Some((first, after)) = self.steps.split_first_mut().filter(|_| wanted) else {
            let copy = Work::new(WorkKind::CopyBytes, size_of_val(input) as u64);
            rank.compute(copy, &mut || block.copy_from_slice(input));
            return Ok(());
        };
        let mut done = Ok(());
        let FunctionStep { prepared, work, output } = first;
        rank.compute(*work, &mut || {
            done = match prepared {
                Prepared::InPlace(function) => function.apply_into(input, block),
                Prepared::OutOfPlace(function) => function.apply(input, output),
            }
        });
        done.map_err(failed)?;
        let made = if output.is_empty() { block } else { &mut output[..] };
        apply(after, rank, made)
    }

    /// Turns block `number` of this rank's strip into its columns of the outgoing pieces.
    pub(super) fn turn(
        &self,
        rank: &mut dyn Rank,
        block: &Buffer,
        number: usize,
        turned: &mut TurnedPieces<'_>,
    ) -> Result<()> {
        let block = self.result(block);
        let TurnedPieces { me, outlet, pieces } = turned;
        let (piece_rows, piece_columns) = outlet.shape;
        let mut done = Ok(());
        rank.compute(self.turn, &mut || {
            for (piece, buffer) in outlet.pieces.iter().zip(pieces.iter_mut()) {
                // The buffer is a whole block for this rank itself, and only this rank's piece for another.
                let (first, pitch) = match piece.to == *me {
                    true => (outlet.first_column, self.columns_after),
                    false => (0, piece_columns),
                };
                let turned = corner_turn_pitched(
                    &block[piece.row..],
                    (self.rows, piece_rows),
                    self.result_columns,
                    &mut buffer.elements_mut::<Complex32>()[first + number * self.rows..],
                    pitch,
                );
                done = std::mem::replace(&mut done, Ok(())).and(turned);
            }
        });
        done.map_err(failed)
    }
}

/// Returns the work that takes a machine as long as processors of `speed` times its speed take for `work`.
fn at_speed(work: Work, speed: f64) -> Work {
    Work { amount: (work.amount as f64 / speed).round() as u64, ..work }
}

/// Applies functions to `block`, each to the result of the one before.
fn apply(steps: &mut [FunctionStep], rank: &mut dyn Rank, block: &mut [Complex32]) -> Result<()> {
    let mut current = block;
    for FunctionStep { prepared, work, output } in steps {
        let mut done = Ok(());
        rank.compute(*work, &mut || {
            done = match prepared {
                Prepared::InPlace(function) => function.apply(current),
                Prepared::OutOfPlace(function) => function.apply(current, output),
            }
        });
        done.map_err(failed)?;
        if !output.is_empty() {
            current = output;
        }
    }
    Ok(())
}

/// The destination of a turned block.
pub(super) struct TurnedPieces<'a> {
    pub(super) me: usize,
    pub(super) outlet: &'a Outlet,
    pub(super) pieces: &'a mut [Buffer],
}
