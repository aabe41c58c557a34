//! What the collectives share: each rank's latest call, the barrier's counter, and the slots that a broadcast goes through.

use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// The longest piece of a broadcast that one slot holds.
pub(crate) const SLOT_BYTES: usize = 64 << 10;
/// How many pieces a root may be ahead of the slowest rank. Where ranks share processors each switch between them serves so
/// many pieces; all slots of one root with the buffers of half the ranks fit a second-level cache of 1 MiB.
pub(crate) const BROADCAST_SLOTS: usize = 8;

/// Which collective a rank is in: the number of the call (high half) and what it is (low half), in one word so that
/// the others never see halves of two calls.
#[repr(C, align(64))]
pub(crate) struct CallWord(AtomicU64);

/// The barrier of ranks that share processors: the last to come lets the others go.
#[repr(C, align(64))]
pub(crate) struct BarrierWords {
    arrived: AtomicU32,
    released: Released,
}

/// On its own line: all ranks look at it while others still write to the counter.
#[repr(C, align(64))]
struct Released(AtomicU32);

/// One piece of a broadcast, in the root's part of the segment; its bytes follow it.
#[repr(C, align(64))]
pub(crate) struct BroadcastSlot {
    /// The number of the piece, counted from 1 for each root. Release by the root, acquire by the others: the bytes are
    /// there before the number.
    piece: AtomicU32,
    signature: AtomicU32,
    bytes: AtomicU64,
    left: Left,
}

/// How many ranks have yet to copy a slot, on a line of its own, since they all write to it.
#[repr(C, align(64))]
struct Left(AtomicU32);

/// The size of a slot with its bytes.
pub(crate) const WHOLE_SLOT_BYTES: usize = size_of::<BroadcastSlot>() + SLOT_BYTES;

impl CallWord {
    pub(crate) fn publish(&self, number: u32, signature: u32) {
        // Release, partner of the acquire in `read`.
        self.0.store(u64::from(number) << 32 | u64::from(signature), Ordering::Release);
    }

    #[inline]
    pub(crate) fn read(&self) -> (u32, u32) {
        let word = self.0.load(Ordering::Acquire);
        ((word >> 32) as u32, word as u32)
    }
}

impl BarrierWords {
    /// Counts one arrival; whether it was the last of `ranks`.
    pub(crate) fn arrive(&self, ranks: u32) -> bool {
        // The count goes round and round; `ranks` arrivals make one barrier. Acquire and release: the last to come has
        // seen what all did before they came.
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        if before + 1 < ranks {
            return false;
        }
        // Nobody comes to the next barrier before `release`.
        self.arrived.store(0, Ordering::Relaxed);
        true
    }

    pub(crate) fn release(&self, barrier: u32) {
        self.released.0.store(barrier, Ordering::Release);
    }

    #[inline]
    pub(crate) fn is_released(&self, barrier: u32) -> bool {
        self.released.0.load(Ordering::Acquire) == barrier
    }
}

impl BroadcastSlot {
    /// Whether every rank has copied what was in it.
    pub(crate) fn is_free(&self) -> bool {
        // Acquire, partner of `copied`: their reads come before our writes.
        self.left.0.load(Ordering::Acquire) == 0
    }

    /// Makes the slot's bytes visible to `readers` ranks.
    pub(crate) fn publish(&self, piece: u32, signature: u32, bytes: usize, readers: u32) {
        self.signature.store(signature, Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.left.0.store(readers, Ordering::Relaxed);
        self.piece.store(piece, Ordering::Release);
    }

    #[inline]
    pub(crate) fn holds(&self, piece: u32) -> bool {
        self.piece.load(Ordering::Acquire) == piece
    }

    /// What the root says of the piece: its call, and how many bytes it has. Only after [`BroadcastSlot::holds`].
    pub(crate) fn contents(&self) -> (u32, usize) {
        (self.signature.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed) as usize)
    }

    /// Says that this rank is done with it; whether it was the last.
    pub(crate) fn copied(&self) -> bool {
        self.left.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}
