//! Tests the conflicts of accesses in invented runs.

use super::*;
use crate::matching::messages;
use crate::record::Communicator;
use crate::testing::Run;
use Synchronisation::*;

/// Index of the window among the communicators.
const WINDOW: u16 = 1;

/// A run of ranks with a window, whose displacements count 4 bytes.
struct Windows(Run);

impl Windows {
    fn of(size: usize) -> Self {
        let mut all = Windows(Run::of(size));
        for rank in 0..size {
            let window = Communicator { number: 99, size: size as u64 };
            all.0.records[rank].communicators.push(window);
            all.note(rank, Create, NOBODY, 1).posted = 4;
        }
        all
    }

    fn note(&mut self, rank: usize, what: Synchronisation, target: u32, at: u64) -> &mut Event {
        let event = self.0.event(rank, Kind::Call, at, at + 1);
        *event = Event { communicator: WINDOW, ..what.event(target, *event) };
        event
    }

    /// Adds an access of `rank` to the 8 bytes at a displacement in the memory of rank 1.
    fn access(&mut self, rank: usize, kind: AccessKind, displacement: i64, at: u64) {
        let access = WindowAccess { kind, target: 1, displacement, offset: 0, bytes: 8 };
        let event = self.0.event(rank, Kind::Call, at, at + 1);
        *event = Event { communicator: WINDOW, ..access.event(*event) };
    }

    /// Adds a store of rank 1 to the first 8 bytes of its memory.
    fn store(&mut self, at: u64) {
        self.access(1, AccessKind::Store, 0, at);
    }

    /// Adds an access with a lock of rank 1.
    fn locked(&mut self, rank: usize, lock: Synchronisation, kind: AccessKind, at: u64) {
        self.note(rank, lock, 1, at);
        self.access(rank, kind, 0, at + 2);
        self.note(rank, Unlock, 1, at + 4);
    }

    /// Adds the `number`-th fence of all ranks at different times.
    fn fence(&mut self, number: u64, at: u64) {
        for rank in 0..self.0.records.len() {
            let end = at + self.0.records.len() as u64 + 1;
            let event = self.0.collective(rank, number, NOBODY, at + rank as u64, end);
            event.communicator = WINDOW;
        }
    }

    fn conflicts(&self) -> Option<Vec<Conflict>> {
        let records = &self.0.records;
        conflicts(records, &messages(records), &|_, _| Dependence::All)
    }

    /// Returns the ranks of the conflicts, and the bytes and the number of pairs of each.
    fn found(&self) -> Vec<(usize, usize, u64, u64)> {
        let all = self.conflicts().expect("all events are there");
        let row = |one: &Conflict| {
            let [first, second] = one.sides;
            (first.record, second.record, one.bytes, one.times)
        };
        all.iter().map(row).collect()
    }
}

#[test]
fn accesses_between_two_fences_conflict_where_they_overlap_and_one_writes() {
    let mut run = Windows::of(3);
    run.fence(1, 10);
    run.access(0, AccessKind::Put, 0, 20);
    // Of 8 bytes from byte 0 on, and 8 from byte 4 on, 4 are common.
    run.access(2, AccessKind::Get, 1, 30);
    run.fence(2, 40);
    run.access(1, AccessKind::Put, 0, 50);
    run.fence(3, 60);
    assert_eq!(run.found(), [(0, 2, 4, 1)]);
}

#[test]
fn reads_equal_operations_and_other_memory_do_not_conflict() {
    let mut run = Windows::of(3);
    run.fence(1, 10);
    run.access(0, AccessKind::Get, 0, 20);
    run.access(2, AccessKind::Get, 0, 20);
    run.access(0, AccessKind::Combine(1, 2), 8, 22);
    run.access(2, AccessKind::Combine(1, 2), 8, 22);
    run.access(0, AccessKind::Put, 20, 24);
    run.access(2, AccessKind::Put, 22, 24);
    run.fence(2, 40);
    assert_eq!(run.found(), []);
}

/// Shared locks order nothing, however far apart in time the accesses are.
#[test]
fn shared_locks_order_nothing_and_exclusive_ones_do() {
    let mut run = Windows::of(3);
    run.locked(0, Lock, AccessKind::Put, 10);
    run.locked(2, Lock, AccessKind::Put, 1000);
    assert_eq!(run.found(), [(0, 2, 8, 1)]);
    let mut run = Windows::of(3);
    run.locked(0, LockExclusive, AccessKind::Put, 10);
    run.locked(2, LockExclusive, AccessKind::Put, 1000);
    assert_eq!(run.found(), []);
}

/// Rank 0 flushes its put before or after the message to rank 2, which then reads.
#[test]
fn a_message_after_the_flush_orders_and_one_before_it_does_not() {
    for (flush, send, expected) in [(12, 14, None), (14, 12, Some((0, 2, 8, 1)))] {
        let mut run = Windows::of(3);
        run.note(0, Lock, NOBODY, 2);
        run.note(2, Lock, NOBODY, 2);
        run.access(0, AccessKind::Put, 0, 10);
        if flush < send {
            run.note(0, Flush, 1, flush);
        }
        run.0.send(0, 2, 7, send, send + 1);
        if send < flush {
            run.note(0, Flush, 1, flush);
        }
        run.0.receive(2, 0, 7, 16, 16, 20);
        run.access(2, AccessKind::Get, 0, 30);
        run.note(2, Unlock, NOBODY, 40);
        run.note(0, Unlock, NOBODY, 50);
        assert_eq!(run.found(), Vec::from_iter(expected), "flush at {flush}");
    }
}

#[test]
fn the_end_of_a_send_may_have_waited_for_its_receive() {
    let mut run = Windows::of(3);
    run.locked(2, Lock, AccessKind::Put, 10);
    run.0.receive(2, 0, 7, 20, 20, 40);
    run.0.send(0, 2, 7, 15, 41);
    run.locked(0, Lock, AccessKind::Put, 50);
    assert_eq!(run.found(), []);
}

/// The epoch of the second is after the wait of the owner for the first.
#[test]
fn epochs_of_one_post_conflict_and_those_of_two_do_not() {
    let epoch = |run: &mut Windows, rank: usize, at: u64| {
        run.note(rank, Start, NOBODY, at);
        run.access(rank, AccessKind::Put, 0, at + 2);
        run.note(rank, Complete, NOBODY, at + 4);
    };
    let mut run = Windows::of(3);
    run.note(1, Post, NOBODY, 10);
    epoch(&mut run, 0, 20);
    epoch(&mut run, 2, 30);
    run.note(1, Wait, NOBODY, 40);
    assert_eq!(run.found(), [(0, 2, 8, 1)]);
    let mut run = Windows::of(3);
    run.note(1, Post, NOBODY, 10);
    epoch(&mut run, 0, 20);
    run.note(1, Wait, NOBODY, 30);
    run.note(1, Post, NOBODY, 32);
    epoch(&mut run, 2, 40);
    run.note(1, Wait, NOBODY, 50);
    assert_eq!(run.found(), []);
}

/// Rank 2 learns from a fetched value, for example of a lock of the program's own, that rank 0 has written.
#[test]
fn what_is_fetched_tells_of_what_was_accessed_before() {
    let mut run = Windows::of(3);
    run.note(0, Lock, NOBODY, 2);
    run.note(2, Lock, NOBODY, 2);
    run.access(0, AccessKind::Put, 0, 10);
    run.note(0, Flush, 1, 12);
    run.access(0, AccessKind::Combine(1, 2), 50, 14);
    run.access(2, AccessKind::Combine(1, 2), 50, 20);
    run.note(2, Fetched, 1, 20);
    run.access(2, AccessKind::Put, 0, 30);
    run.note(0, Unlock, NOBODY, 40);
    run.note(2, Unlock, NOBODY, 40);
    assert_eq!(run.found(), []);
}

#[test]
fn a_rank_that_reads_what_it_has_not_flushed_is_told_and_one_that_writes_again_is_not() {
    let mut run = Windows::of(2);
    run.note(0, Lock, NOBODY, 2);
    run.access(0, AccessKind::Put, 0, 10);
    run.access(0, AccessKind::Put, 0, 12);
    run.access(0, AccessKind::Get, 1, 14);
    run.note(0, Flush, 1, 16);
    run.access(0, AccessKind::Get, 0, 18);
    run.note(0, FlushLocal, 1, 20);
    run.access(0, AccessKind::Put, 0, 22);
    run.note(0, Unlock, NOBODY, 24);
    // Both puts conflict with the get; each call is another place.
    assert_eq!(run.found(), [(0, 0, 4, 1), (0, 0, 4, 1)]);
}

/// The owner stores before the fence that ends the epoch of a put, or after it.
#[test]
fn a_store_of_the_owner_conflicts_with_a_put_of_its_epoch() {
    for (at, expected) in [(30, Some((0, 1, 8, 1))), (70, None)] {
        let mut run = Windows::of(3);
        run.fence(1, 10);
        run.access(0, AccessKind::Put, 0, 20);
        if at < 40 {
            run.store(at);
        }
        run.fence(2, 40);
        if at > 40 {
            run.store(at);
        }
        run.fence(3, 80);
        assert_eq!(run.found(), Vec::from_iter(expected), "a store at {at}");
    }
}

/// A message after the store orders a get behind it. Without one, nothing does, however late the get is.
#[test]
fn a_message_of_the_owner_after_its_store_orders_the_two() {
    for has_message in [true, false] {
        let mut run = Windows::of(3);
        run.store(10);
        if has_message {
            run.0.send(1, 0, 7, 12, 13);
            run.0.receive(0, 1, 7, 14, 14, 16);
        }
        run.locked(0, Lock, AccessKind::Get, 1000);
        let expected = (!has_message).then_some((0, 1, 8, 1));
        assert_eq!(run.found(), Vec::from_iter(expected), "{has_message}");
    }
}

#[test]
fn an_owner_that_stores_under_an_exclusive_lock_or_has_polled_is_not_accused() {
    let mut run = Windows::of(3);
    run.note(1, LockExclusive, 1, 10);
    run.store(12);
    run.note(1, Unlock, 1, 14);
    run.locked(0, Lock, AccessKind::Put, 20);
    assert_eq!(run.found(), []);
    let mut run = Windows::of(3);
    run.locked(0, Lock, AccessKind::Put, 10);
    run.0.event(1, Kind::Polls, 20, 30);
    run.store(40);
    assert_eq!(run.found(), []);
    // Stores alone are no accesses that must be ordered.
    let mut run = Windows::of(3);
    run.store(10);
    run.0.records[0].events_lost = 1;
    assert_eq!(run.conflicts(), Some(Vec::new()));
}

#[test]
fn without_all_events_nothing_is_said() {
    let mut run = Windows::of(3);
    run.locked(0, Lock, AccessKind::Put, 10);
    run.locked(2, Lock, AccessKind::Put, 1000);
    run.0.records[1].events_lost = 1;
    assert_eq!(run.conflicts(), None);
    run.0.records[1].events_lost = 0;
    run.0.records.pop();
    assert_eq!(run.conflicts(), None);
}
