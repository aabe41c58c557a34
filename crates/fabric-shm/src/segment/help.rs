//! The help slot, in which two ranks divide the co-copy of one long message.

use contract::Untrusted;

use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// Number of receives of one rank that may have helpers at once.
pub(crate) const HELP_SLOTS: usize = if cfg!(loom) { 1 } else { 16 };

/// A counter of chunks, in the block of the receiving rank.
#[repr(C, align(64))]
pub(crate) struct HelpSlot {
    /// The generation (high half) and the number of unclaimed chunks (low half). The generation keeps a late helper
    /// away from the next message.
    claim: AtomicU64,
    /// Number of chunks that the helper has copied.
    done: AtomicU32,
}

impl HelpSlot {
    /// Begins a message of `chunks` chunks, and returns its generation. Only the owner calls it.
    pub(crate) fn open(&self, chunks: u32) -> u32 {
        let generation = ((self.claim.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        self.done.store(0, Ordering::Relaxed);
        // Release, partner of the acquire in `claim`: a helper that claims a chunk counts from our zero.
        self.claim.store(u64::from(generation) << 32 | u64::from(chunks), Ordering::Release);
        generation
    }

    /// Claims a chunk of that generation, the last one first. Every rank can write the counter.
    pub(crate) fn claim(&self, generation: u32) -> Option<Untrusted<u32>> {
        let claimed = self.claim.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            let left = word as u32;
            let current = (word >> 32) as u32 == generation;
            (current && left > 0).then(|| word - 1)
        });
        claimed.ok().map(|word| Untrusted::new(word as u32 - 1))
    }

    /// Ends the claims of that generation.
    pub(crate) fn close(&self, generation: u32) {
        self.claim.store(u64::from(generation.wrapping_add(1)) << 32, Ordering::Release);
    }

    /// Counts a chunk that the helper has copied.
    pub(crate) fn count_done(&self) {
        // Release, partner of the acquire in `done`: the chunk's bytes are visible before it is counted.
        self.done.fetch_add(1, Ordering::Release);
    }

    /// Returns the number of chunks that the helper has copied, which every rank can write.
    pub(crate) fn done(&self) -> Untrusted<u32> {
        Untrusted::new(self.done.load(Ordering::Acquire))
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    HelpSlot { claim, done }
}
