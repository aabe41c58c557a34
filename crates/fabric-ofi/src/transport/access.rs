//! Operations on memory of other ranks, which the provider executes.

use contract::{AtomicElement, AtomicElements, OneSidedOperation, RemotePlace, Request, Result};
use engine::{Messages, NetworkAccess, Transfer};

use super::Libfabric;
use crate::objects::Objects;
use crate::provider::AtomicOrder;
use crate::slots::{Access, Slot};

/// The atomic operations on a rank that are under way: how many read, and how many write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnderWay {
    reads: u32,
    writes: u32,
}

impl UnderWay {
    /// Returns whether an operation that reads or writes may start now, so that the provider executes it after those.
    fn may_start(self, (reads, writes): (bool, bool), order: AtomicOrder) -> bool {
        let keeps =
            |earlier: u32, later: bool, is_ordered: bool| earlier == 0 || !later || is_ordered;
        keeps(self.reads, reads, order.reads_after_reads)
            && keeps(self.writes, reads, order.reads_after_writes)
            && keeps(self.reads, writes, order.writes_after_reads)
            && keeps(self.writes, writes, order.writes_after_writes)
    }

    fn started(&mut self, (reads, writes): (bool, bool)) {
        self.reads += u32::from(reads);
        self.writes += u32::from(writes);
    }

    fn ended(&mut self, (reads, writes): (bool, bool)) {
        self.reads -= u32::from(reads);
        self.writes -= u32::from(writes);
    }
}

impl Libfabric {
    /// Starts an operation on memory of rank `to`, after all operations that wait for room at the provider.
    fn start_access(
        &mut self,
        messages: &mut Messages,
        to: usize,
        (place, offset): (RemotePlace, u64),
        operation: OneSidedOperation,
    ) -> Result<Request> {
        messages.check()?;
        self.activity += 1;
        // The place is what that rank has said. Its provider refuses what is not registered there.
        let (key, address) = (place.key, place.start.wrapping_add(offset));
        let request = messages.transfers.start(Transfer::access(to));
        let access = Access { to, key, address, operation, request };
        let slot = self.slots.add(Slot::Access(access));
        if !self.accesses.is_empty() || !self.hand_access(slot)? {
            self.accesses.push_back(slot);
        }
        Ok(request)
    }

    /// Gives an operation to the provider. Returns false if the provider has no room for it, or if it must wait for the
    /// end of earlier operations, which the provider may execute after it.
    pub(super) fn hand_access(&mut self, slot: u32) -> Result<bool> {
        let Slot::Access(access) = self.slots.get(slot) else { return Ok(true) };
        let objects = self.objects()?;
        let (to, atomic) = (access.to, access.as_atomic());
        if let (Some(atomic), Some(remote)) = (atomic, objects.provider.remote)
            && !self.peers[to].atomics.may_start(atomic, remote.order)
        {
            return Ok(false);
        }
        let is_taken = objects.access(access, self.slots.token(slot))?;
        if let Some(atomic) = atomic.filter(|_| is_taken) {
            self.peers[to].atomics.started(atomic);
        }
        Ok(is_taken)
    }

    /// Records that the provider has completed an operation.
    pub(super) fn accessed(&mut self, access: &Access) {
        let atomic = access.as_atomic();
        atomic.into_iter().for_each(|atomic| self.peers[access.to].atomics.ended(atomic));
    }
}

/// One-sided operations on registered memory, if the provider has them.
impl NetworkAccess for Libfabric {
    unsafe fn register(&mut self, start: *mut u8, bytes: usize) -> Option<RemotePlace> {
        self.objects.as_mut()?.register(start, bytes)
    }

    fn unregister(&mut self, place: RemotePlace) {
        // After an error nothing is registered any more.
        self.objects.iter_mut().for_each(|objects| objects.unregister(place));
    }

    fn atomic_elements(&self) -> AtomicElements {
        self.objects.as_ref().map_or_else(AtomicElements::default, Objects::atomic_elements)
    }

    fn longest_bytes(&self, element: Option<AtomicElement>) -> usize {
        self.objects.as_ref().map_or(usize::MAX, |objects| match element {
            Some(element) => objects.atomic_bytes_max(element),
            None => objects.provider.message_bytes_max,
        })
    }

    unsafe fn start(
        &mut self,
        messages: &mut Messages,
        to: usize,
        place: (RemotePlace, u64),
        operation: OneSidedOperation,
    ) -> Result<Request> {
        let started = self.start_access(messages, to, place, operation);
        self.record_failure(messages, started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi;

    #[test]
    fn an_operation_waits_for_those_that_it_could_overtake() {
        let some = ffi::ORDER_ATOMIC_RAR | ffi::ORDER_ATOMIC_RAW | ffi::ORDER_ATOMIC_WAW;
        // As the provider tcp states it: a write may overtake a read.
        let order = AtomicOrder::of_flags(some);
        let (adds, fetches, reads) = ((false, true), (true, true), (true, false));
        let mut under_way = UnderWay::default();
        assert!([adds, fetches, reads].into_iter().all(|one| under_way.may_start(one, order)));
        under_way.started(adds);
        assert!([adds, fetches, reads].into_iter().all(|one| under_way.may_start(one, order)));
        under_way.started(fetches);
        let may_start = [adds, fetches, reads].map(|one| under_way.may_start(one, order));
        assert_eq!(may_start, [false, false, true]);
        let ordered = AtomicOrder::of_flags(some | ffi::ORDER_ATOMIC_WAR);
        assert!(under_way.may_start(fetches, ordered));
        under_way.ended(adds);
        under_way.ended(fetches);
        assert_eq!(under_way, UnderWay::default());
        under_way.started(adds);
        let unordered = AtomicOrder::of_flags(0);
        assert!(!under_way.may_start(adds, unordered) && !under_way.may_start(reads, unordered));
    }
}
