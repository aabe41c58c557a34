//! The layout of the segment, in one place for all users.

use launcher::system::PAGE_BYTES;
use launcher::{MAXIMUM_RANKS, Room, fingerprint};

use super::{Header, RankBlock};
use crate::board::{BOARD_BYTES, Board};
use crate::ring::{Cell, Credit, LINE_BYTES};

/// Maximum length of all rings to one rank together, so that memory grows linearly even if every rank sends to every
/// other.
const INBOUND_BYTES_PER_RANK: usize = 1 << 20;

/// Returns the room that this fabric needs for so many ranks
/// ([`LaunchOptions::room`](launcher::LaunchOptions::room)).
pub fn room(ranks: usize) -> Room {
    let layout = Layout::new(ranks);
    let last = ranks - 1;
    let ring = layout.ring(last, last);
    let parts = [
        layout.cells_per_ring() as usize,
        layout.lines_per_ring() as usize,
        size_of::<Header>(),
        size_of::<RankBlock>(),
        size_of::<Board>(),
        layout.block_offset(last),
        layout.board_offset(last),
        ring.credit,
        ring.cells,
        ring.bytes,
    ];
    Room { bytes: layout.bytes(), layout: fingerprint(&parts) }
}

/// The sizes and offsets of a segment, which depend only on the number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    ranks: usize,
    cells: usize,
    lines: usize,
}

/// The offsets of one ring's parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RingOffsets {
    pub(crate) credit: usize,
    pub(crate) cells: usize,
    pub(crate) bytes: usize,
}

impl Layout {
    /// # Panics
    /// If `ranks` is zero or above [`MAXIMUM_RANKS`], which the launcher has refused by then.
    pub(crate) fn new(ranks: usize) -> Self {
        assert!((1..=MAXIMUM_RANKS).contains(&ranks));
        let inbound_bytes = INBOUND_BYTES_PER_RANK / ranks.next_power_of_two();
        // A quarter for cells, half for bytes. More than 256 cells or 256 KiB has no benefit. See
        // docs/measurements.md#fragments-and-rings.
        let cells = (inbound_bytes / 4 / LINE_BYTES).clamp(8, 256);
        let lines = (inbound_bytes / 2 / LINE_BYTES).clamp(8, 4096);
        let (cells, lines) = if cfg!(loom) { (4, 8) } else { (cells, lines) };
        Layout { ranks, cells, lines }
    }

    pub(crate) fn cells_per_ring(&self) -> u32 {
        self.cells as u32
    }

    pub(crate) fn lines_per_ring(&self) -> u32 {
        self.lines as u32
    }

    /// Returns the offset of a rank's block. Page 0 is the header; a page for each rank follows.
    #[inline]
    pub(crate) fn block_offset(&self, rank: usize) -> usize {
        assert!(rank < self.ranks);
        PAGE_BYTES * (1 + rank)
    }

    /// Returns the offset of a rank's board for the collectives of all ranks.
    pub(crate) fn board_offset(&self, rank: usize) -> usize {
        assert!(rank < self.ranks);
        self.boards_offset() + rank * BOARD_BYTES
    }

    fn boards_offset(&self) -> usize {
        PAGE_BYTES * (1 + self.ranks)
    }

    fn rings_offset(&self) -> usize {
        self.boards_offset() + self.ranks * BOARD_BYTES
    }

    fn ring_bytes(&self) -> usize {
        size_of::<Credit>() + size_of::<Cell>() * self.cells + LINE_BYTES * self.lines
    }

    /// Returns the offsets of a ring. The rings to one receiver lie together, because it polls them all.
    pub(crate) fn ring(&self, sender: usize, receiver: usize) -> RingOffsets {
        assert!(sender < self.ranks && receiver < self.ranks);
        let start = self.rings_offset() + (receiver * self.ranks + sender) * self.ring_bytes();
        let cells = start + size_of::<Credit>();
        RingOffsets { credit: start, cells, bytes: cells + size_of::<Cell>() * self.cells }
    }

    fn bytes(&self) -> usize {
        (self.rings_offset() + self.ranks * self.ranks * self.ring_bytes())
            .next_multiple_of(PAGE_BYTES)
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_nothing_lies_outside() {
        for ranks in [1, 2, 3, 9, 64, 100] {
            let layout = Layout::new(ranks);
            let mut places = vec![(0, PAGE_BYTES)];
            for receiver in 0..ranks {
                places.push((layout.block_offset(receiver), PAGE_BYTES));
                places.push((layout.board_offset(receiver), BOARD_BYTES));
                for sender in 0..ranks {
                    let ring = layout.ring(sender, receiver);
                    places.push((ring.credit, LINE_BYTES));
                    places.push((ring.cells, LINE_BYTES * layout.cells));
                    places.push((ring.bytes, LINE_BYTES * layout.lines));
                    assert_eq!(ring.cells % LINE_BYTES, 0);
                }
            }
            places.sort_unstable();
            for pair in places.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{ranks} ranks: {pair:?}");
            }
            let (offset, bytes) = places.pop().unwrap();
            assert!(offset + bytes <= layout.bytes());
        }
    }

    #[test]
    fn memory_of_the_rings_to_a_rank_does_not_grow_with_the_ranks() {
        for ranks in [2, 8, 64, 512, MAXIMUM_RANKS] {
            let layout = Layout::new(ranks);
            let besides_board = layout.bytes() / ranks - BOARD_BYTES;
            assert!(besides_board <= 3 << 19, "{ranks} ranks");
            assert!(layout.cells.is_power_of_two() && layout.lines.is_power_of_two());
        }
    }
}
