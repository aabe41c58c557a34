//! Counters of a slot, which the members increment together in a step.

use contract::Untrusted;

use crate::primitive::{AtomicU64, Ordering};

/// The counters of one slot.
#[repr(C)]
pub(crate) struct SlotCounters {
    /// Number of members that have put their part, if ranks are oversubscribed: the last to arrive wakes the others.
    pub(crate) arrived: Counter,
    /// Number of claimed chunks of a reduction. In an allreduce in shares: number of members of the processor that have
    /// arrived.
    pub(crate) claimed: Counter,
    /// Number of completed chunks of a reduction. In an allreduce in shares: the member that has combined the share. In
    /// a scatter board by board, on each member's board: the root, once the block is there. With cross-memory attach:
    /// number of members that no longer access this member's memory.
    pub(crate) done: Counter,
}

/// A number that belongs to one step: the epoch in the high half, the number in the low half. The first to count in a
/// new epoch starts from zero, so no reset is needed.
#[repr(C, align(64))]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Increments the counter in this epoch and returns the new number.
    pub(crate) fn count(&self, epoch: u32) -> u32 {
        self.count_below(epoch, u32::MAX).unwrap_or(u32::MAX)
    }

    /// Increments the counter unless it has reached `limit`.
    pub(crate) fn count_below(&self, epoch: u32, limit: u32) -> Option<u32> {
        // Acquire and release: a reader of the count sees everything that the counted members did before.
        let next = |word: u64| {
            let counted = if (word >> 32) as u32 == epoch { word as u32 } else { 0 };
            (counted < limit).then(|| u64::from(epoch) << 32 | u64::from(counted + 1))
        };
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok()?;
        next(before).map(|word| word as u32)
    }

    /// Sets the number of an epoch in which nothing is counted here.
    pub(crate) fn set(&self, epoch: u32, number: u32) {
        // Release, partner of the acquire in `get`: a reader of the number sees what was done before.
        self.0.store(u64::from(epoch) << 32 | u64::from(number), Ordering::Release);
    }

    /// Returns the number of this epoch, if there is one yet.
    #[inline]
    pub(crate) fn get(&self, epoch: u32) -> Option<Untrusted<u32>> {
        let word = self.0.load(Ordering::Acquire);
        ((word >> 32) as u32 == epoch).then_some(Untrusted::new(word as u32))
    }

    /// Returns whether the counter is exactly `count` in this epoch.
    #[inline]
    pub(crate) fn is(&self, epoch: u32, count: u32) -> bool {
        self.0.load(Ordering::Acquire) == u64::from(epoch) << 32 | u64::from(count)
    }

    #[cfg(test)]
    #[cfg(not(loom))]
    pub(super) fn new() -> Self {
        Counter(AtomicU64::new(0))
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    SlotCounters { arrived, claimed, done }
    Counter { 0 }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn a_counter_begins_anew_with_each_epoch_and_stops_at_its_limit() {
        let counter = Counter::new();
        assert_eq!((counter.count(5), counter.count(5)), (1, 2));
        assert!(counter.is(5, 2) && !counter.is(5, 1) && !counter.is(6, 2));
        assert_eq!(counter.count_below(6, 1), Some(1));
        assert_eq!(counter.count_below(6, 1), None);
        assert!(counter.is(6, 1));
        // Whatever another rank has written, a chunk that is claimed is one of those that there are.
        let mut random = random::SplitMix64::new(61);
        for _ in 0..10_000 {
            counter.0.store(random.edge() << 32 | random.edge() & 0xffff_ffff, Ordering::Relaxed);
            let (epoch, limit) = (random.edge() as u32, random.below(100) as u32);
            assert!(
                counter.count_below(epoch, limit).is_none_or(|count| (1..=limit).contains(&count))
            );
        }
        counter.set(7, 3);
        assert_eq!((counter.get(7), counter.get(6)), (Some(Untrusted::new(3)), None));
    }
}
