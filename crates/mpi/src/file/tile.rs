//! The bytes of a file that a view shows: consecutive copies of its filetype.

use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};

/// Consecutive bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: i64,
    pub(super) bytes: i64,
}

impl Piece {
    pub(super) fn end(self) -> i64 {
        self.offset + self.bytes
    }
}

/// A range of the data that a view shows, in bytes of data from the beginning of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataRange {
    pub(super) from: i64,
    pub(super) bytes: i64,
}

impl DataRange {
    pub(super) fn end(self) -> i64 {
        self.from + self.bytes
    }
}

/// Divides with rounding up. Both numbers must not be negative.
pub(super) fn divide_up(number: i64, by: i64) -> i64 {
    (number as u64).div_ceil(by as u64) as i64
}

/// Consecutive bytes of one copy of a filetype.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    offset: i64,
    bytes: i64,
    /// Length of the data of the copy that come before.
    before: i64,
}

/// Copies of a filetype from a displacement on: the first byte of copy k is `displacement` + k `extent`.
#[derive(Debug)]
pub(super) struct Tiles {
    displacement: i64,
    stretches: Vec<Stretch>,
    /// Length of the data of a copy.
    bytes: i64,
    extent: i64,
}

impl Tiles {
    pub(super) fn new(displacement: i64, of: &Datatype) -> Self {
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut before = 0;
        for run in of.runs().iter().filter(|run| run.count > 0) {
            match stretches.last_mut() {
                Some(last) if last.offset + last.bytes == run.offset => last.bytes += run.bytes(),
                _ => stretches.push(Stretch { offset: run.offset, bytes: run.bytes(), before }),
            }
            before += run.bytes();
        }
        Tiles { displacement, stretches, bytes: before, extent: of.extent() }
    }

    /// Returns whether the view shows no data.
    pub(super) fn are_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns whether the data lie in the file in their order, as views of more than one copy at a place do not.
    pub(super) fn are_in_order(&self) -> bool {
        let sorted =
            self.stretches.windows(2).all(|two| two[0].offset + two[0].bytes <= two[1].offset);
        let first = self.stretches.first().map_or(0, |first| first.offset);
        let last = self.stretches.last().map_or(0, |last| last.offset + last.bytes);
        sorted && last - first <= self.extent
    }

    /// Returns whether the displacements of a copy never decrease, nor begin before it, as MPI requires of a filetype.
    pub(super) fn are_monotonic(&self) -> bool {
        let begins = self.stretches.first().is_none_or(|first| first.offset >= 0);
        begins && self.stretches.windows(2).all(|two| two[0].offset <= two[1].offset)
    }

    /// Returns whether two stretches of a copy overlap.
    pub(super) fn overlap(&self) -> bool {
        self.stretches.windows(2).any(|two| two[0].offset + two[0].bytes > two[1].offset)
    }

    fn are_dense(&self) -> bool {
        self.stretches.len() == 1 && self.bytes == self.extent
    }

    /// Returns the offset of a byte of data in the file, or `None` on overflow or without data.
    pub(super) fn offset_of(&self, data: i64) -> Option<i64> {
        if self.are_empty() {
            return None;
        }
        let (tile, within) = (data / self.bytes, data % self.bytes);
        let stretch = self.stretches[self.stretch_of(within)];
        let start = tile.checked_mul(self.extent)?.checked_add(self.displacement)?;
        start.checked_add(stretch.offset + (within - stretch.before))
    }

    /// Returns the stretch that contains a byte of a copy's data.
    fn stretch_of(&self, within: i64) -> usize {
        self.stretches.partition_point(|one| one.before <= within) - 1
    }

    /// Returns the length of the data before an offset of the file, for data that are in order.
    pub(super) fn data_before(&self, offset: i64) -> i64 {
        let Some(first) = self.stretches.first() else { return 0 };
        let from_first = offset - self.displacement - first.offset;
        if from_first <= 0 {
            return 0;
        }
        let tile = if self.extent > 0 { from_first / self.extent } else { 0 };
        let within = from_first - tile * self.extent + first.offset;
        let begun = self.stretches.partition_point(|one| one.offset < within);
        let before = match begun.checked_sub(1).map(|last| self.stretches[last]) {
            Some(last) => last.before + (within - last.offset).min(last.bytes),
            None => 0,
        };
        tile * self.bytes + before
    }

    /// Returns the approximate number of pieces of some data.
    pub(super) fn count_pieces(&self, range: DataRange) -> i64 {
        if range.bytes == 0 {
            return 0;
        }
        if self.are_dense() {
            return 1;
        }
        let whole = range.bytes / self.bytes;
        let rest = range.bytes % self.bytes * self.stretches.len() as i64 / self.bytes;
        whole * self.stretches.len() as i64 + rest.max(1)
    }

    /// Returns the pieces of some data, in their order, merged where they touch.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for data beyond the maximum offset, or in a view without data.
    pub(super) fn pieces(&self, range: DataRange) -> Result<Pieces<'_>> {
        if range.bytes > 0 {
            let end = range.from.checked_add(range.bytes - 1).and_then(|last| self.offset_of(last));
            let fits = end.is_some_and(|end| end < i64::MAX);
            let why = || Error::new(ErrorClass::Argument, "data that no file has room for");
            fits.then_some(()).ok_or_else(why)?;
        }
        let (tile, within) = match self.bytes {
            0 => (0, 0),
            bytes => (range.from / bytes, range.from % bytes),
        };
        let stretch = if self.are_empty() { 0 } else { self.stretch_of(within) };
        let skip = within - self.stretches.get(stretch).map_or(0, |one| one.before);
        let left = range.bytes;
        Ok(Pieces { tiles: self, tile, stretch, skip, left })
    }
}

/// The pieces of some data.
pub(super) struct Pieces<'a> {
    tiles: &'a Tiles,
    tile: i64,
    stretch: usize,
    /// Number of bytes of the stretch that come before.
    skip: i64,
    left: i64,
}

impl Pieces<'_> {
    /// Returns the offset of the next byte.
    fn offset(&self) -> i64 {
        let start = self.tiles.displacement + self.tile * self.tiles.extent;
        start + self.tiles.stretches[self.stretch].offset + self.skip
    }

    /// Returns the remainder of a stretch.
    fn step(&mut self) -> Piece {
        let offset = self.offset();
        if self.tiles.are_dense() {
            return Piece { offset, bytes: std::mem::take(&mut self.left) };
        }
        let bytes = (self.tiles.stretches[self.stretch].bytes - self.skip).min(self.left);
        self.left -= bytes;
        self.skip = 0;
        self.stretch += 1;
        if self.stretch == self.tiles.stretches.len() {
            (self.stretch, self.tile) = (0, self.tile + 1);
        }
        Piece { offset, bytes }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let mut piece = self.step();
        while self.left > 0 && self.offset() == piece.end() {
            piece.bytes += self.step().bytes;
        }
        Some(piece)
    }
}
