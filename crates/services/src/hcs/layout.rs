//! The layout of a node's shared memory.
//!
//! All information that nodes exchange, other than blocks of data, is in one window: the slots of signals, the
//! directory of ports, the directory of segments, and the memory of the segments.

pub(super) const WORD: usize = 8;
/// Number of receive ports of a node in addition to those that the library makes itself, one for each node.
pub(super) const OWN_PORTS: usize = 64;
/// Number of segments of a node.
pub(super) const SEGMENTS: usize = 64;
/// The bit that is set in a word in use.
pub(super) const PRESENT: u64 = 1 << 63;
/// Alignment of segments: a cache line.
pub(super) const ALIGNMENT: usize = 64;

/// The places in a node's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) nodes: usize,
    /// Length of the memory for segments.
    pub(super) pool_bytes: usize,
}

impl Layout {
    /// Returns the place of the word into which node `from` writes its signals.
    pub(super) fn slot(self, from: usize) -> u64 {
        (from * WORD) as u64
    }

    /// Returns the place of the word into which node `from` writes its answer to a signal.
    pub(super) fn answer(self, from: usize) -> u64 {
        ((self.nodes + from) * WORD) as u64
    }

    /// Returns the place of the word with the number of barriers that have been left.
    pub(super) fn release(self) -> u64 {
        (2 * self.nodes * WORD) as u64
    }

    /// Returns the maximum number of receive ports of a node.
    pub(super) fn ports(self) -> usize {
        self.nodes + OWN_PORTS
    }

    /// Returns the place of an entry in the directory of ports. It has two words: the port's name and the node that
    /// transmits to it.
    pub(super) fn port(self, index: usize) -> u64 {
        ((2 * self.nodes + 1 + 2 * index) * WORD) as u64
    }

    /// Returns the place of an entry in the directory of segments. It has four words: the key, the place, the length,
    /// and the number of maps.
    pub(super) fn segment(self, index: usize) -> u64 {
        self.port(self.ports()) + (4 * index * WORD) as u64
    }

    /// Returns the place of the memory for segments.
    pub(super) fn pool(self) -> usize {
        (self.segment(SEGMENTS) as usize).next_multiple_of(ALIGNMENT)
    }

    /// Returns the length of the whole memory.
    pub(super) fn bytes(self) -> usize {
        self.pool() + self.pool_bytes
    }
}

/// Returns the word of an existing name, `number`.
pub(super) fn present(number: u32) -> u64 {
    PRESENT | u64::from(number)
}

/// The word of a port or segment with its serial number, in the order of creation, and its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) serial: u32,
    /// For a port the node that transmits to it plus one, for a segment the number of maps.
    pub(super) held: u32,
}

impl Link {
    pub(super) fn to_word(self) -> u64 {
        u64::from(self.serial) << 32 | u64::from(self.held)
    }

    pub(super) fn from_word(word: u64) -> Self {
        Link { serial: (word >> 32) as u32, held: word as u32 }
    }
}

/// Returns bytes as words.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks::<WORD>().0.iter().map(|word| u64::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps() {
        let layout = Layout { nodes: 3, pool_bytes: 100 };
        // There are three slots, three answers and one release; 67 ports of two words; 64 segments of four.
        assert_eq!((layout.slot(2), layout.answer(0), layout.answer(2)), (16, 24, 40));
        assert_eq!((layout.release(), layout.port(0), layout.port(66)), (48, 56, 56 + 66 * 16));
        assert_eq!((layout.segment(0), layout.segment(63)), (56 + 67 * 16, 1128 + 63 * 32));
        // 1128 + 2048 = 3176, and the next multiple of 64 is 3200.
        assert_eq!((layout.pool(), layout.bytes()), (3200, 3300));
    }

    #[test]
    fn a_link_survives_as_a_word() {
        for link in [Link { serial: 0, held: 0 }, Link { serial: u32::MAX, held: 7 }] {
            assert_eq!(Link::from_word(link.to_word()), link);
        }
        assert_eq!(present(5) ^ PRESENT, 5);
    }
}
