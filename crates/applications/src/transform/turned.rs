//! Rows that come in pieces from several ranks, are transformed, and go to others as columns.

use contract::{Buffer, Rank, Result, Work, WorkKind};
use kernels::fft::{LibraryFft, nominal_operations};
use kernels::{Complex64, corner_turn_pitched};

use super::points::{POINT, root};
use crate::application::Timed;
use crate::exchange::Exchange;
use crate::split::part;

/// Length in bytes of the rows that are gathered, transformed and turned at a time. They fit the second-level cache.
const STRIP_BYTES: usize = 256 << 10;

/// One of the two shapes between which the matrix is turned: each rank has some of `rows` rows of `length` points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) rows: usize,
    pub(super) length: usize,
    pub(super) me: usize,
    pub(super) ranks: usize,
}

impl Side {
    /// Returns the rows of a rank.
    pub(super) fn rows_of(&self, rank: usize) -> std::ops::Range<usize> {
        part(self.rows, self.ranks, rank)
    }

    /// Returns the side of the turned matrix.
    pub(super) fn turned(&self) -> Side {
        Side { rows: self.length, length: self.rows, ..*self }
    }

    /// Creates an exchange after which the rows of this side are columns: a block for each rank, of its rows of the
    /// other side.
    pub(super) fn exchange(&self) -> Result<Exchange> {
        let bytes = |from: usize, to: usize| {
            self.rows_of(from).len() * self.turned().rows_of(to).len() * POINT
        };
        let me = self.me;
        Exchange::new((me, self.ranks), |to| bytes(me, to), |from| bytes(from, me))
    }

    /// Returns the work of turning this rank's part.
    fn turning(&self) -> Work {
        let points = self.rows_of(self.me).len() * self.length;
        Work::new(WorkKind::CornerTurnBytes, (points * POINT) as u64)
    }
}

/// Puts `rows` of this side from `first` on into the blocks of an exchange.
fn turn(
    side: &Side,
    rows: &[Complex64],
    first: usize,
    blocks: &mut [Buffer],
) -> kernels::Result<()> {
    let (count, height) = (rows.len() / side.length, side.rows_of(side.me).len());
    for (to, block) in blocks.iter_mut().enumerate() {
        let columns = side.turned().rows_of(to);
        let block = &mut block.elements_mut::<Complex64>()[first.min(height * columns.len())..];
        let shape = (count, columns.len());
        corner_turn_pitched(&rows[columns.start..], shape, side.length, block, height)?;
    }
    Ok(())
}

/// Turns the rows of this rank without a transform.
pub(super) fn turn_all(
    rank: &mut Timed<'_>,
    side: &Side,
    rows: &Buffer,
    to: &mut Exchange,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    rank.try_compute(side.turning(), |_| turn(side, rows.elements(), 0, &mut to.outgoing))
}

/// Transforms rows between one exchange and the next.
pub(super) struct Transformer {
    side: Side,
    plan: LibraryFft<f64>,
    strip: Vec<Complex64>,
    /// True if each point is multiplied by the root of its row and place.
    twiddles: bool,
}

impl Transformer {
    pub(super) fn new(side: Side, twiddles: bool) -> Result<Self> {
        let plan = LibraryFft::new(side.length)
            .map_err(|error| contract::Error::Program(error.to_string()))?;
        let rows = (STRIP_BYTES / POINT / side.length).clamp(1, side.rows.max(1));
        let strip = vec![Complex64::new(0.0, 0.0); rows * side.length];
        Ok(Transformer { side, plan, strip, twiddles })
    }

    /// Transforms the rows that have come with `from`, and puts them into the blocks of `to`.
    pub(super) fn run(
        &mut self,
        rank: &mut Timed<'_>,
        from: &Exchange,
        to: &mut Exchange,
    ) -> Result<()> {
        let side = self.side;
        let rows = side.rows_of(side.me);
        let operations = nominal_operations(side.length) * rows.len() as f64;
        let work = Work::new(WorkKind::Fft, operations as u64);
        rank.try_compute(work, |rank| {
            let strip_rows = self.strip.len() / side.length;
            for first in (0..rows.len()).step_by(strip_rows) {
                let count = strip_rows.min(rows.len() - first);
                let strip = &mut self.strip[..count * side.length];
                gather(rank, &side, first, from, strip);
                self.plan.transform(strip)?;
                if self.twiddles {
                    let lines = strip.chunks_exact_mut(side.length).enumerate();
                    let row = |line: usize| rows.start + first + line;
                    lines.for_each(|(at, line)| twiddle(line, row(at), side.rows * side.length));
                }
                turn(&side, strip, first, &mut to.outgoing)?;
            }
            Ok(())
        })?;
        rank.compute(side.turning(), |_| ());
        Ok(())
    }
}

/// Joins the pieces of rows that have come from all ranks, from row `first` of this rank on.
pub(super) fn gather(
    rank: &dyn Rank,
    side: &Side,
    first: usize,
    from: &Exchange,
    rows: &mut [Complex64],
) {
    for source in 0..side.ranks {
        let columns = side.turned().rows_of(source);
        if columns.is_empty() {
            continue;
        }
        let block: &[Complex64] = bytemuck::cast_slice(from.block(rank, source));
        let pieces = block.chunks_exact(columns.len()).skip(first);
        for (row, piece) in rows.chunks_exact_mut(side.length).zip(pieces) {
            row[columns.clone()].copy_from_slice(piece);
        }
    }
}

/// Number of roots that are stepped side by side, so that no product waits for the one before.
const LANES: usize = 8;

/// Multiplies point k by the root of unity of `row` times k over `count`.
fn twiddle(line: &mut [Complex64], row: usize, count: usize) {
    let mut roots: [Complex64; LANES] = std::array::from_fn(|lane| root(row * lane % count, count));
    let step = root(row * LANES % count, count);
    for points in line.chunks_mut(LANES) {
        for (point, root) in points.iter_mut().zip(&mut roots) {
            *point *= *root;
            *root *= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twiddles_are_the_roots_of_row_times_place() {
        let (row, count) = (13, 64 * 32);
        let mut line = vec![Complex64::new(1.0, 0.0); 61];
        twiddle(&mut line, row, count);
        for (place, found) in line.iter().enumerate() {
            assert!((found - root(row * place % count, count)).norm() < 1e-14, "{place}");
        }
    }
}
