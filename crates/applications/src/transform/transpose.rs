//! The current form: columns and rows in turn, with a corner turn between them.

use contract::{Buffer, Error, Rank, Result, Work, WorkKind};
use kernels::Complex64;

use super::points::{POINT, check, check_count, points, room};
use super::turned::{Side, Transformer, gather, turn_all};
use crate::application::{Application, Timed};
use crate::exchange::Exchange;

/// A transform whose points are distributed over the ranks in their order, before and after.
pub struct TransposeTransform {
    count: usize,
    seed: u64,
    parallel: Transposed,
    output: Buffer,
    /// The same program for one rank.
    serial: Option<Transposed>,
}

impl TransposeTransform {
    /// Prepares a transform of `count` points. All ranks must call it. The number of ranks need not divide the matrix,
    /// and some may have no points.
    ///
    /// # Errors
    /// [`Error::Program`] if `count` is no power of two.
    pub fn new(rank: &mut dyn Rank, count: usize, seed: u64) -> Result<Self> {
        let (me, ranks) = (rank.rank(), rank.size());
        let parallel = Transposed::new((me, ranks), count, seed)?;
        let own =
            if ranks == 1 { 0 } else { parallel.after.rows_of(me).len() * parallel.after.length };
        let needs_another = me == 0 && ranks > 1;
        Ok(TransposeTransform {
            count,
            seed,
            parallel,
            output: room(own)?,
            serial: needs_another.then(|| Transposed::new((0, 1), count, seed)).transpose()?,
        })
    }
}

/// One rank's part of a transform.
pub(super) struct Transposed {
    /// The matrix by rows, in the order of the given points.
    before: Side,
    /// The turned matrix, in the order of the points of the transform.
    after: Side,
    input: Buffer,
    /// The exchange from rows to columns, and the reverse one.
    to_columns: Exchange,
    to_rows: Exchange,
    columns: Transformer,
    rows: Transformer,
}

impl Transposed {
    pub(super) fn new((me, ranks): (usize, usize), count: usize, seed: u64) -> Result<Self> {
        check_count(count)?;
        let rows = 1 << (count.ilog2() / 2);
        let before = Side { rows, length: count / rows, me, ranks };
        let after = before.turned();
        let mine = before.rows_of(me);
        Ok(Transposed {
            input: points(seed, mine.start * before.length..mine.end * before.length)?,
            to_columns: before.exchange()?,
            to_rows: after.exchange()?,
            columns: Transformer::new(after, true)?,
            rows: Transformer::new(before, false)?,
            before,
            after,
        })
    }

    /// Transforms the points. The result is in the blocks of `to_columns`, whose exchange must still be ended.
    pub(super) fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        let Transposed { before, input, to_columns, to_rows, columns, rows, .. } = self;
        turn_all(rank, before, input, to_columns)?;
        start(to_columns, rank, before)?;
        columns.run(rank, to_columns, to_rows)?;
        end(to_columns, rank, before)?;
        start(to_rows, rank, &before.turned())?;
        rows.run(rank, to_rows, to_columns)?;
        end(to_rows, rank, before)?;
        start(to_columns, rank, before)
    }
}

/// Starts an exchange of the blocks of a side. A single rank has none.
fn start(exchange: &mut Exchange, rank: &mut Timed<'_>, side: &Side) -> Result<()> {
    if side.ranks == 1 {
        return Ok(());
    }
    let (height, turned) = (side.rows_of(side.me).len(), side.turned());
    exchange.start(rank.rank, |to| height * turned.rows_of(to).len() * POINT)
}

fn end(exchange: &mut Exchange, rank: &mut Timed<'_>, side: &Side) -> Result<()> {
    if side.ranks == 1 { Ok(()) } else { exchange.end(rank.rank) }
}

impl Application for TransposeTransform {
    fn kinds(&self) -> &[WorkKind] {
        &[WorkKind::Fft, WorkKind::CornerTurnBytes, WorkKind::CopyBytes]
    }

    fn run(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        self.parallel.run(rank)?;
        let Transposed { after, to_columns, before, .. } = &mut self.parallel;
        // A single rank already has the whole result.
        if before.ranks > 1 {
            let copy = Work::new(WorkKind::CopyBytes, self.output.len() as u64);
            let output = self.output.elements_mut::<Complex64>();
            rank.compute(copy, |rank| gather(rank, after, 0, to_columns, output));
        }
        end(to_columns, rank, before)
    }

    fn run_serial(&mut self, rank: &mut Timed<'_>) -> Result<()> {
        match (&mut self.serial, rank.ranks()) {
            (Some(serial), _) => serial.run(rank),
            (None, 1) => self.parallel.run(rank),
            (None, ranks) => {
                Err(Error::Program(format!("rank {} of {ranks} has no serial program", rank.me())))
            }
        }
    }

    fn check(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let Transposed { after, to_columns, .. } = &self.parallel;
        let mine = after.rows_of(after.me);
        let places = mine.start * after.length..mine.end * after.length;
        let found = if after.ranks == 1 { &to_columns.outgoing[0] } else { &self.output };
        check(rank, found.elements(), places, (self.count, self.seed))
    }
}
