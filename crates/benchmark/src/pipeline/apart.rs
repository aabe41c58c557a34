//! A block whose columns came in several pieces, and how they are put together.

use std::ops::Range;

use contract::{Buffer, Completed, Rank};
use kernels::{Complex32, ask_ahead};

/// About how much of a block is put together at once. What is asked for ahead then is no more than a core can have under way (a
/// burst of four rows of 512 points stalls it for longer than a row at a time does), and what is put together is still in the
/// first-level cache when it is worked on.
const GROUP_BYTES: usize = 4 << 10;
/// Short rows are transformed so many at a time.
const SHORT_ROWS: usize = 16;

/// The pieces of a block that are still where their senders have them, from the left; none for those that are in the block.
pub(super) struct Apart<'a> {
    pub(super) pieces: &'a [Option<Completed>],
    /// Columns of the whole block.
    pub(super) columns: usize,
}

impl Apart<'_> {
    /// Whether the block is all there.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.iter().all(Option::is_none)
    }

    /// `rows` rows in groups that are put together at once.
    pub(super) fn groups(&self, rows: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        groups(rows, self.columns)
    }

    /// Puts `rows` of all pieces into their places in `whole`, and asks for the next group's.
    pub(super) fn bring(&self, rank: &dyn Rank, whole: &mut [Complex32], rows: Range<usize>) {
        ask_for_next(whole, &rows, self.columns);
        let block = &mut whole[rows.start * self.columns..rows.end * self.columns];
        let width = self.columns / self.pieces.len().max(1);
        for (at, piece) in self.pieces.iter().enumerate() {
            let Some(piece) = piece else { continue };
            let strips: &[Complex32] = bytemuck::cast_slice(rank.view(piece));
            ask_for_next(strips, &rows, width);
            place(&strips[rows.start * width..rows.end * width], at * width, block, self.columns);
        }
    }
}

/// Asks for as many of the rows of `block`, of `columns` elements each, as there are in `rows`, which come before them.
pub(super) fn ask_for_next(block: &[Complex32], rows: &Range<usize>, columns: usize) {
    let end = (rows.end + rows.len()) * columns;
    ask_ahead(&block[rows.end * columns..end.min(block.len())]);
}

/// `rows` rows of `columns` elements in groups of about [`GROUP_BYTES`].
pub(super) fn groups(rows: usize, columns: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let group = match GROUP_BYTES / (columns * size_of::<Complex32>()) {
        0 | 1 => 1,
        several => several.next_multiple_of(SHORT_ROWS),
    };
    (0..rows).step_by(group).map(move |first| first..(first + group).min(rows))
}

/// Puts pieces, each a strip of columns, into their places in a block of `rows` rows.
pub(super) fn join(pieces: &[Option<Buffer>], whole: &mut Buffer, rows: usize) {
    let whole = whole.elements_mut::<Complex32>();
    let columns = whole.len() / rows;
    for (at, piece) in pieces.iter().enumerate() {
        let Some(piece) = piece else { continue };
        let first = at * (columns / pieces.len());
        place(piece.elements::<Complex32>(), first, whole, columns);
    }
}

/// Writes `strips`, as many as `block` has rows of `columns` elements, into it from column `first` on.
fn place(strips: &[Complex32], first: usize, block: &mut [Complex32], columns: usize) {
    let width = strips.len() / (block.len() / columns);
    for (row, strip) in block.chunks_exact_mut(columns).zip(strips.chunks_exact(width)) {
        row[first..][..width].copy_from_slice(strip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_all_rows_once() {
        let covered = |rows, columns| groups(rows, columns).flatten().collect::<Vec<_>>();
        for (rows, columns) in [(1, 1), (64, 512), (7, 512), (5, 1 << 20), (1000, 3)] {
            assert_eq!(covered(rows, columns), (0..rows).collect::<Vec<_>>());
        }
        assert_eq!(groups(64, 512).next(), Some(0..1));
        assert_eq!(groups(64, 128).next(), Some(0..16));
    }

    #[test]
    fn a_piece_from_elsewhere_ends_where_one_from_here_would() {
        let elements = |first: usize, count: usize| -> Vec<Complex32> {
            (first..first + count).map(|at| Complex32::new(at as f32, 0.5)).collect()
        };
        // Three rows of four columns, of which the last two come from rank 1.
        let buffer = |elements: &[Complex32]| Buffer::from_bytes(bytemuck::cast_slice(elements));
        let piece = elements(100, 6);
        let mut joined = buffer(&elements(0, 12));
        join(&[None, Some(buffer(&piece))], &mut joined, 3);
        let own = joined.elements::<Complex32>()[4].re;
        let theirs = joined.elements::<Complex32>()[6].re;
        assert_eq!((own, theirs), (4.0, 102.0));
        let brought = contract::reference::run(1, |rank| {
            let posted = rank.post_receive_in_place(0.into(), TAG.into(), buffer(&piece))?;
            rank.send(0, TAG, bytemuck::cast_slice(&piece))?;
            let pieces = [None, Some(rank.wait(posted)?)];
            let apart = Apart { pieces: &pieces, columns: 4 };
            let mut block = elements(0, 12);
            for rows in [0..2, 2..3] {
                apart.bring(rank, &mut block, rows);
            }
            assert_eq!(block, joined.elements::<Complex32>());
            Ok(())
        });
        brought.unwrap();
    }

    const TAG: contract::Tag = contract::Tag::new(1);
}
