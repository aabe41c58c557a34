//! The layout of the memory, in one place for all users.

use crate::system::PAGE_BYTES;

/// Maximum number of ranks of one run. Each pair of ranks has an address range for its ring, so the range grows with
/// the square (1024 ranks: under 3 GiB of addresses, of which only the rings in use take memory).
pub const MAXIMUM_RANKS: usize = if cfg!(loom) { 64 } else { 1024 };

/// Maximum length of one rank's arena, and of all arenas together; addresses, not memory.
const ARENA_BYTES: usize = 64 << 30;
const ARENAS_BYTES: usize = 16 << 40;

/// The part of a run's memory in which a fabric keeps what its ranks share. It begins at a page, and holds zeros when the
/// ranks begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its length.
    pub bytes: usize,
    /// A number that differs between two builds of the fabric that use it differently ([`fingerprint`]).
    pub layout: u64,
}

impl Room {
    /// No room, for a fabric that shares no memory.
    pub const NONE: Room = Room { bytes: 0, layout: 0 };
}

/// The sizes and offsets of the memory of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    ranks: usize,
    job_bytes: usize,
    room: Room,
}

impl Layout {
    /// # Panics
    /// If `ranks` is zero or above [`MAXIMUM_RANKS`], which the launcher has refused by then.
    pub(crate) fn new(ranks: usize, job_bytes: usize, room: Room) -> Self {
        assert!((1..=MAXIMUM_RANKS).contains(&ranks));
        Layout { ranks, job_bytes, room }
    }

    #[inline]
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    pub(crate) fn job_bytes(&self) -> usize {
        self.job_bytes
    }

    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// Returns the offset of a rank's page. Page 0 is that of the run; a page for each rank follows.
    #[inline]
    pub(crate) fn rank_page_offset(&self, rank: usize) -> usize {
        assert!(rank < self.ranks);
        PAGE_BYTES * (1 + rank)
    }

    pub(crate) fn job_offset(&self) -> usize {
        PAGE_BYTES * (1 + self.ranks)
    }

    pub(crate) fn room_offset(&self) -> usize {
        self.job_offset() + self.job_bytes.next_multiple_of(PAGE_BYTES)
    }

    /// Returns the offset of the ranks' arenas: after everything else, since they are addresses more than memory.
    pub(crate) fn arenas_offset(&self) -> usize {
        self.room_offset() + self.room.bytes.next_multiple_of(PAGE_BYTES)
    }

    /// Returns the length of the address range of each rank's arena.
    #[inline]
    pub(crate) fn arena_bytes(&self) -> usize {
        ARENA_BYTES.min(ARENAS_BYTES / self.ranks.next_power_of_two())
    }
}

/// Returns a number that differs between two layouts, which depends on every size and place that two builds must share.
pub fn fingerprint(parts: &[usize]) -> u64 {
    // FNV-1a, a word at a time.
    let mix = |hash: u64, part: &usize| (hash ^ *part as u64).wrapping_mul(0x0100_0000_01b3);
    parts.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_everything_begins_with_a_page() {
        for (ranks, job_bytes, room_bytes) in [(1, 0, 0), (3, 5000, 1), (64, 4096, 5 * 4096)] {
            let layout = Layout::new(ranks, job_bytes, Room { bytes: room_bytes, layout: 1 });
            let mut places = vec![(0, PAGE_BYTES), (layout.job_offset(), job_bytes)];
            places.extend((0..ranks).map(|rank| (layout.rank_page_offset(rank), PAGE_BYTES)));
            places.extend([(layout.room_offset(), room_bytes), (layout.arenas_offset(), 1)]);
            places.sort_unstable();
            assert!(places.iter().all(|(offset, _)| offset % PAGE_BYTES == 0));
            for pair in places.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{ranks} ranks: {pair:?}");
            }
        }
    }
}
