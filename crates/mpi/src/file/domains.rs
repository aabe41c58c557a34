//! The partition of the used part of a file among members that read or write together.

use std::ops::Range;

use super::call::Call;
use super::hints::Exchange;
use super::tile::divide_up;
use crate::error::{Error, ErrorClass, Result};

/// Average length of pieces above which each member works independently.
const SMALL_PIECE_BYTES: i64 = 4 << 10;

/// Ratio of the used part to the data from which each member works independently.
const SPARSE: i64 = 4;

/// Alignment of domains, so that no two members write to the same page.
const PAGE_BYTES: i64 = 4096;

/// The properties of a member's part that the others must know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    first: i64,
    end: i64,
    pub(super) bytes: i64,
    /// Number of pieces; negative for data that are not in order.
    pieces: i64,
}

impl Share {
    pub(super) const NOTHING: Share = Share { first: 0, end: 0, bytes: 0, pieces: 0 };

    pub(super) fn of(call: &Call) -> Result<Self> {
        let (tiles, range) = (call.view.tiles(), call.range);
        if range.bytes == 0 || tiles.are_empty() {
            return Ok(Share::NOTHING);
        }
        tiles.pieces(range)?;
        let far = || Error::new(ErrorClass::Argument, "data that no file has room for");
        let first = tiles.offset_of(range.from).ok_or_else(far)?;
        let end = tiles.offset_of(range.end() - 1).ok_or_else(far)? + 1;
        let pieces = if tiles.are_in_order() { tiles.count_pieces(range) } else { -1 };
        Ok(Share { first, end, bytes: range.bytes, pieces })
    }

    pub(super) fn words(self) -> [i64; 4] {
        [self.first, self.end, self.bytes, self.pieces]
    }

    pub(super) fn from_words([first, end, bytes, pieces]: [i64; 4]) -> Self {
        Share { first, end, bytes, pieces }
    }
}

/// The partition of the used part of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domains {
    start: i64,
    end: i64,
    /// Length of a domain.
    each: i64,
    pub(super) nodes: usize,
    buffer_bytes: i64,
}

impl Domains {
    /// Creates the partition, or returns `None` if each member works independently. All members get the same result.
    pub(super) fn new(shares: &[Share], exchange: Exchange) -> Option<Self> {
        let some = || shares.iter().filter(|share| share.bytes > 0);
        let (start, end) = (some().map(|one| one.first).min()?, some().map(|one| one.end).max()?);
        let bytes: i64 = some().map(|one| one.bytes).sum();
        let pieces: i64 = some().map(|one| one.pieces).sum();
        let is_in_order = some().all(|one| one.pieces >= 0);
        let is_dense = bytes.saturating_mul(SPARSE) >= end - start;
        let helps = bytes / pieces.max(1) < SMALL_PIECE_BYTES && is_dense && some().count() > 1;
        if !is_in_order || !exchange.wanted.unwrap_or(helps) {
            return None;
        }
        let start = start / PAGE_BYTES * PAGE_BYTES;
        let share = divide_up(end - start, exchange.nodes as i64);
        let each = divide_up(share, PAGE_BYTES) * PAGE_BYTES;
        let Exchange { nodes, buffer_bytes, .. } = exchange;
        Some(Domains { start, end, each, nodes, buffer_bytes })
    }

    /// Returns the maximum length that a member has in memory at a time.
    pub(super) fn window_bytes(&self) -> usize {
        self.each.min(self.buffer_bytes) as usize
    }

    pub(super) fn rounds(&self) -> i64 {
        divide_up(self.each, self.buffer_bytes)
    }

    /// Returns the window that a member has in memory in a round.
    pub(super) fn window(&self, node: usize, round: i64) -> Range<i64> {
        let start = self.start + node as i64 * self.each;
        let end = (start + self.each).min(self.end);
        let first = (start + round * self.buffer_bytes).min(end).max(self.start);
        first..(first + self.buffer_bytes).min(end).max(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCHANGE: Exchange = Exchange { wanted: None, buffer_bytes: 8192, nodes: 2 };

    #[test]
    fn domains_cover_the_accessed_bytes_and_windows_cover_domains() {
        let share = |first| Share { first, end: first + 30_000, bytes: 15_000, pieces: 1500 };
        let domains = Domains::new(&[share(5000), share(5010)], EXCHANGE).unwrap();
        // From the page that contains byte 5000 to byte 35010 are 30914 bytes: two domains of four pages.
        assert_eq!((domains.start, domains.each, domains.rounds()), (4096, 16_384, 2));
        let windows = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let windows = windows.map(|(node, round)| domains.window(node, round));
        assert_eq!(windows, [4096..12_288, 12_288..20_480, 20_480..28_672, 28_672..35_010]);
    }

    #[test]
    fn members_go_alone_with_large_pieces_with_few_data_and_out_of_order() {
        let small = Share { first: 0, end: 30_000, bytes: 15_000, pieces: 1500 };
        let decide = |one: Share, exchange| Domains::new(&[small, one], exchange).is_some();
        assert!(decide(small, EXCHANGE));
        assert!(!decide(small, Exchange { wanted: Some(false), ..EXCHANGE }));
        assert!(!decide(Share::NOTHING, EXCHANGE), "nobody to exchange with");
        let large = Share { bytes: 1 << 26, end: 1 << 26, pieces: 2, ..small };
        assert!(!decide(large, EXCHANGE));
        assert!(decide(large, Exchange { wanted: Some(true), ..EXCHANGE }));
        assert!(!decide(Share { end: 1 << 30, ..small }, EXCHANGE), "mostly gaps");
        let disordered = Share { pieces: -1, ..small };
        assert!(!decide(disordered, Exchange { wanted: Some(true), ..EXCHANGE }));
    }
}
