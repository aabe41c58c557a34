//! The size of the memory for a number of ranks.

use crate::layout::{WORD_BYTES, area, event, peer, start};

/// The numbers that determine sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of regions.
    pub ranks: usize,
    /// Number of ranks that a rank may send to.
    pub peers: usize,
    /// Number of events that a region can hold at once.
    pub events: usize,
}

/// Room for the events of a rank and of all ranks of a host, in bytes. The room is reused, so that it stays in the
/// memory of the process: the first touch of a page costs more than all events in it.
const ROOM_OF_A_RANK_BYTES: usize = 8 << 20;
const ROOM_OF_ALL_BYTES: usize = 256 << 20;

impl Shape {
    /// Returns the shape for `ranks` ranks on this host, in a run of `world` ranks.
    pub fn of(ranks: usize, world: usize) -> Self {
        let bytes = (ROOM_OF_ALL_BYTES / ranks.max(1)).min(ROOM_OF_A_RANK_BYTES);
        Shape { ranks, peers: world, events: bytes / (event::WORDS * WORD_BYTES) }
    }

    /// Returns the offset of events, in words from the start of a region.
    pub fn events_at(&self) -> usize {
        start::PEERS + self.peers * peer::WORDS
    }

    /// Returns the words of a region, in whole pages.
    pub fn region_words(&self) -> usize {
        (self.events_at() + self.events * event::WORDS).next_multiple_of(area::WORDS)
    }

    /// Returns the offset of a region, in bytes from the start of the memory.
    pub fn region_at(&self, index: usize) -> usize {
        (area::WORDS + index * self.region_words()) * WORD_BYTES
    }

    /// Returns the bytes of the memory.
    pub fn bytes(&self) -> usize {
        self.region_at(self.ranks)
    }

    /// Returns the head of the memory, for a run that was launched at `launched_ns`.
    pub fn head(&self, wanted: u64, launched_ns: u64) -> Vec<u8> {
        let mut words = vec![0_u64; area::WORDS];
        words[area::MAGIC] = crate::layout::MAGIC;
        words[area::RANKS] = self.ranks as u64;
        words[area::PEERS] = self.peers as u64;
        words[area::EVENTS] = self.events as u64;
        words[area::WANTED] = wanted;
        words[area::LAUNCHED_NS] = launched_ns;
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_follow_one_another_in_pages_and_many_ranks_get_fewer_events() {
        let few = Shape::of(4, 4);
        assert_eq!(few.events, (8 << 20) / 48);
        assert_eq!(few.region_at(0), 4096);
        assert_eq!(few.region_at(1) - few.region_at(0), few.region_words() * 8);
        assert_eq!(few.region_at(1) % 4096, 0);
        assert!(few.region_words() >= few.events_at() + few.events * 6);
        assert_eq!(Shape::of(1024, 1024).events, (256 << 10) / 48);
        assert_eq!(few.head(3, 7).len(), 4096);
    }
}
