//! Division of long data into pieces, one for each step.

use std::ops::Range;

/// Length of a cache line in bytes. Pieces are whole lines, so no rank writes to a line that another reads.
const LINE_BYTES: usize = 64;

/// Returns the length of the longest piece that fits into `room_bytes`, in multiples of `unit` bytes, at least one.
#[inline]
pub fn piece_within(room_bytes: usize, unit: usize) -> usize {
    // Whole lines unless the result would be empty.
    let fills_lines = unit <= LINE_BYTES && LINE_BYTES.is_multiple_of(unit);
    let unit = if fills_lines && room_bytes >= LINE_BYTES { LINE_BYTES } else { unit };
    (room_bytes / unit * unit).max(unit)
}

/// Returns one of several parts of `bytes` bytes; each part consists of whole elements.
///
/// Parts are whole cache lines if elements fill lines. Then no rank writes to a line that another reads.
pub fn part_of(index: usize, parts: usize, bytes: usize, element_bytes: usize) -> Range<usize> {
    let unit = if LINE_BYTES.is_multiple_of(element_bytes) { LINE_BYTES } else { element_bytes };
    let start = |index: usize| match index == parts {
        true => bytes,
        false => bytes / parts * index / unit * unit,
    };
    start(index)..start(index + 1)
}

/// Start and length of each piece of `bytes` bytes. Zero bytes are one empty piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Length of all data in bytes.
    pub bytes: usize,
    /// Length in bytes of each piece except the last.
    pub piece_bytes: usize,
    /// Number of pieces that are written before the first is read.
    pub window: usize,
}

impl Pieces {
    /// Returns pieces of nonzero length, `window` pieces in each window.
    #[inline]
    pub fn new(bytes: usize, piece_bytes: usize, window: usize) -> Self {
        Pieces { bytes, piece_bytes, window }
    }

    /// Returns a single piece.
    #[inline]
    pub fn one(bytes: usize) -> Self {
        Pieces { bytes, piece_bytes: bytes, window: 1 }
    }

    /// Returns the same pieces, in one window if all slots except one suffice for them.
    #[inline]
    pub(super) fn in_fewest_windows(self, slots: usize) -> Self {
        let count = self.count();
        Pieces { window: if count < slots { count } else { self.window }, ..self }
    }

    /// Returns pieces in windows of equal length if there are several.
    #[inline]
    pub(super) fn in_equal_windows(self) -> Self {
        let most = self.piece_bytes;
        if self.bytes <= self.window * most {
            return self;
        }
        let windows = self.bytes.div_ceil(self.window * most);
        let each = self.bytes.div_ceil(windows * self.window).next_multiple_of(LINE_BYTES);
        Pieces { piece_bytes: each.min(most), ..self }
    }

    /// Returns the number of pieces, at least one.
    #[inline]
    pub fn count(self) -> usize {
        // Most data are one piece, and a division would take a large share of a short call.
        if self.bytes <= self.piece_bytes { 1 } else { self.bytes.div_ceil(self.piece_bytes) }
    }

    /// Returns the start and length of a piece.
    #[inline]
    pub fn get(self, index: usize) -> (usize, usize) {
        let start = index * self.piece_bytes;
        (start, self.piece_bytes.min(self.bytes - start))
    }

    /// Returns the bytes of a piece.
    #[inline]
    pub fn range(self, index: usize) -> Range<usize> {
        let (start, bytes) = self.get(index);
        start..start + bytes
    }

    /// Returns the pieces of the window that contains a piece.
    #[inline]
    pub fn window(self, index: usize) -> Range<usize> {
        let count = self.count();
        if count <= self.window {
            return 0..count;
        }
        let first = index / self.window * self.window;
        first..(first + self.window).min(count)
    }

    /// Returns the window's first step and its pieces if a piece, whose step is `epoch`, is the last of its window.
    #[inline]
    pub fn ended_window(self, epoch: u32, index: usize) -> Option<(u32, Range<usize>)> {
        let window = self.window(index);
        let first = epoch.wrapping_sub((index - window.start) as u32);
        (index + 1 == window.end).then_some((first, window))
    }

    /// Returns the window's last step and its pieces if a piece, whose step is `epoch`, is the first of its window.
    #[inline]
    pub fn begun_window(self, epoch: u32, index: usize) -> Option<(u32, Range<usize>)> {
        let window = self.window(index);
        let last = epoch.wrapping_add(window.len() as u32 - 1);
        (index == window.start).then_some((last, window))
    }

    /// Returns the start and length of consecutive pieces.
    #[inline]
    pub fn get_all(self, pieces: &Range<usize>) -> (usize, usize) {
        let start = pieces.start * self.piece_bytes;
        (start, (pieces.len() * self.piece_bytes).min(self.bytes - start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_pieces_cover_all_once() {
        // 20 pieces of 10 bytes and one of 3, in windows of eight.
        let pieces = Pieces::new(203, 10, 8);
        assert_eq!(pieces.count(), 21);
        assert_eq!((pieces.window(0), pieces.window(7), pieces.window(8)), (0..8, 0..8, 8..16));
        assert_eq!(pieces.window(20), 16..21);
        // The last window's steps are 116 to 120 if the first piece's is 100.
        assert_eq!(
            [pieces.ended_window(120, 20), pieces.ended_window(119, 19)],
            [Some((116, 16..21)), None]
        );
        assert_eq!(
            [pieces.begun_window(116, 16), pieces.begun_window(117, 17)],
            [Some((120, 16..21)), None]
        );
        assert_eq!([pieces.get_all(&(0..8)), pieces.get_all(&(16..21))], [(0, 80), (160, 43)]);
        assert_eq!((pieces.range(1), pieces.range(20)), (10..20, 200..203));
        // Fifteen of sixteen slots contain 150 bytes; more use windows of eight.
        let windows = |bytes| Pieces::new(bytes, 10, 8).in_fewest_windows(16);
        assert_eq!(
            [windows(150), windows(151)].map(|pieces| (pieces.count(), pieces.window)),
            [(15, 15), (16, 8)]
        );
        assert_eq!(windows(150).window(14), 0..15);
        let nothing = Pieces::new(0, 10, 8);
        assert_eq!((nothing.window(0), nothing.get_all(&(0..1))), (0..1, (0, 0)));
        assert_eq!((Pieces::one(7).count(), Pieces::one(0).count()), (1, 1));
    }

    #[test]
    fn several_windows_are_as_long_as_one_another() {
        // 1100 bytes are more than 8 x 128: two windows of 8 pieces need 68.75 each, in whole lines 128.
        assert_eq!(Pieces::new(1100, 128, 8).in_equal_windows().piece_bytes, 128);
        // 8 x 1024 + 64 bytes: 516 each, in whole lines 576.
        assert_eq!(Pieces::new(8256, 1024, 8).in_equal_windows().piece_bytes, 576);
        assert_eq!(Pieces::new(8192, 1024, 8).in_equal_windows().piece_bytes, 1024);
    }

    #[test]
    fn a_piece_is_whole_lines_or_whole_elements() {
        assert_eq!(
            [piece_within(1000, 8), piece_within(1000, 12), piece_within(40, 8)],
            [960, 996, 40]
        );
        assert_eq!([piece_within(10, 12), piece_within(73728, 1)], [12, 73728]);
    }

    #[test]
    fn parts_are_whole_elements_and_cover_all_once() {
        // 100 elements of 12 bytes for three: 400 bytes each, of which 396 are whole elements; 800 contain 792.
        let of_three = |index| part_of(index, 3, 1200, 12);
        assert_eq!([of_three(0), of_three(1), of_three(2)], [0..396, 396..792, 792..1200]);
        // Whole lines, if elements fill lines: 500 contain 448.
        assert_eq!([part_of(0, 2, 1000, 8), part_of(1, 2, 1000, 8)], [0..448, 448..1000]);
        assert_eq!(part_of(0, 1, 1000, 8), 0..1000);
    }
}
