//! A block whose columns arrived in several pieces, some of which are still in their senders' memory.

use contract::{Completed, Rank};
use kernels::Complex32;

/// Pieces of a block, from the left. A piece of another rank may still be in that rank's memory; `None` is a piece that
/// is in the block.
pub(super) struct RemotePieces<'a> {
    pub(super) pieces: &'a [Option<Completed>],
    /// Number of columns of the whole block.
    pub(super) columns: usize,
}

/// The most strips of columns into which [`RemotePieces::strips`] divides a block.
const STRIPS_MAX: usize = 16;

/// Strips of columns, and their number.
type Strips<'a> = ([Option<&'a [Complex32]>; STRIPS_MAX], usize);

impl RemotePieces<'_> {
    /// Returns whether the whole block is in place.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.iter().all(Option::is_none)
    }

    /// Returns all pieces as strips of columns, with `None` for those in the block; `None` if there are too many.
    /// Allocates nothing.
    pub(super) fn strips<'a>(&'a self, rank: &'a dyn Rank) -> Option<Strips<'a>> {
        let mut strips = [None; STRIPS_MAX];
        for (strip, piece) in strips.get_mut(..self.pieces.len())?.iter_mut().zip(self.pieces) {
            *strip = piece.as_ref().map(|piece| bytemuck::cast_slice(rank.view(piece)));
        }
        Some((strips, self.pieces.len()))
    }

    /// Copies all pieces to their places in `whole`.
    pub(super) fn bring(&self, rank: &dyn Rank, whole: &mut [Complex32]) {
        let width = self.columns / self.pieces.len().max(1);
        for (at, piece) in self.pieces.iter().enumerate() {
            let Some(piece) = piece else { continue };
            let strip: &[Complex32] = bytemuck::cast_slice(rank.view(piece));
            let rows = whole.chunks_exact_mut(self.columns).zip(strip.chunks_exact(width));
            rows.for_each(|(row, strip)| row[at * width..][..width].copy_from_slice(strip));
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::{Buffer, Tag};

    use super::*;

    const TAG: Tag = Tag::new(1);

    #[test]
    fn a_piece_from_elsewhere_is_a_strip_and_ends_in_its_columns() {
        let elements = |first: usize, count: usize| -> Vec<Complex32> {
            (first..first + count).map(|at| Complex32::new(at as f32, 0.5)).collect()
        };
        // Three rows of four columns, the last two of which are from another rank.
        let piece = elements(100, 6);
        conformance::reference::run(1, |rank| {
            let room = Buffer::zeroed(size_of_val(&piece[..]));
            let posted = rank.post_receive_in_place(0.into(), TAG.into(), room)?;
            rank.send(0, TAG, bytemuck::cast_slice(&piece))?;
            let pieces = [None, Some(rank.wait(posted)?)];
            let remote = RemotePieces { pieces: &pieces, columns: 4 };
            let (strips, count) = remote.strips(rank).unwrap();
            assert_eq!(strips[..count], [None, Some(&piece[..])]);
            let mut block = elements(0, 12);
            remote.bring(rank, &mut block);
            let first: Vec<_> = block.iter().map(|point| point.re as usize).collect();
            assert_eq!(first, [0, 1, 100, 101, 4, 5, 102, 103, 8, 9, 104, 105]);
            Ok(())
        })
        .unwrap();
    }
}
