//! How long the pieces of each collective are.

use super::Team;
use super::pieces::piece_within;
use crate::board::{SLOT_BYTES, SLOTS};

/// The longest piece while every rank has a processor: both ends stay in the near caches.
pub(crate) const PIECE_BYTES: usize = 32 << 10;
/// The longest piece of a broadcast that is longer than what all slots hold in pieces of [`PIECE_BYTES`]. The
/// root is then so far ahead that it waits for each slot, and fewer bytes in slots move faster. In all other
/// collectives such pieces are slower. See docs/measurements.md#pieces-of-long-broadcasts.
const LONG_BROADCAST_PIECE_BYTES: usize = 16 << 10;
/// The longest piece where two members give to each other. See docs/measurements.md#pieces-of-exchanges.
const EXCHANGE_PIECE_BYTES: usize = 64 << 10;

impl Team {
    /// How much of the data goes in one step if every step holds `parts` parts of it, in multiples of `unit` bytes.
    #[inline]
    pub(super) fn piece_bytes(&self, parts: usize, unit: usize) -> usize {
        let limit = if self.oversubscribed { SLOT_BYTES } else { PIECE_BYTES };
        piece_within(limit / parts, unit)
    }

    /// The same where each member gives a part to each other.
    #[inline]
    pub(super) fn exchange_piece_bytes(&self, parts: usize) -> usize {
        match self.size() {
            2 => EXCHANGE_PIECE_BYTES,
            _ => self.piece_bytes(parts, 1),
        }
    }

    /// The same for a gather. Of two members one gives, and its pieces fill a slot. See
    /// docs/measurements.md#pieces-of-gathers.
    #[inline]
    pub(super) fn gather_piece_bytes(&self) -> usize {
        if self.size() == 2 { piece_within(SLOT_BYTES, 1) } else { self.piece_bytes(1, 1) }
    }

    /// The same for a broadcast of `bytes` bytes.
    #[inline]
    pub(super) fn broadcast_piece_bytes(&self, bytes: usize) -> usize {
        match !self.oversubscribed && bytes > SLOTS * PIECE_BYTES {
            true => LONG_BROADCAST_PIECE_BYTES,
            false => self.piece_bytes(1, 1),
        }
    }
}
