//! Models of the counters of a slot, and of the memory that is read according to them.

use super::*;
use crate::board::counter::Counter;

#[test]
fn the_last_to_arrive_sees_all_earlier_writes() {
    loom::model(|| {
        let shared =
            loom::sync::Arc::new((Counter::new(), [SlotHeader::empty(), SlotHeader::empty()]));
        // Of an earlier epoch.
        shared.0.set(3, 3);
        let arrive = |shared: &(Counter, [SlotHeader; 2]), me: usize| {
            shared.1[me].write(me as u64 + 1);
            let last = shared.0.count(4) == 2;
            if last {
                assert!(shared.0.is(4, 2));
                assert_eq!([shared.1[0].read(), shared.1[1].read()], [1, 2]);
            }
            last
        };
        struct Sendable<T>(T);
        // SAFETY: as for `Pair`.
        unsafe impl<T> Send for Sendable<T> {}
        let other = Sendable(shared.clone());
        let other = loom::thread::spawn(move || {
            let other = other;
            arrive(&other.0, 1)
        });
        let mine = arrive(&shared, 0);
        assert!(mine != other.join().unwrap(), "exactly one is the last");
    });
}

/// Two members show each other memory of their own, read the other's, and count that on its board. Then each changes
/// its own.
#[test]
fn memory_that_was_shown_is_changed_only_after_the_other_has_read_it() {
    struct Member {
        header: SlotHeader,
        done: Counter,
        memory: UnsafeCell<u64>,
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Member {}
    fn act(members: &[Member; 2], me: usize) {
        let (mine, theirs) = (&members[me], &members[1 - me]);
        // SAFETY: nobody has been shown it yet; loom's cell reports a violation. The same below, after both have
        // counted.
        mine.memory.with_mut(|memory| unsafe { *memory = me as u64 + 1 });
        mine.header.put(1, me as u64);
        assert_eq!(theirs.header.take(1), 1 - me as u64);
        // SAFETY: it was shown, and this member has not counted yet.
        let read = theirs.memory.with(|memory| unsafe { *memory });
        assert_eq!(read, 2 - me as u64);
        theirs.done.count(1);
        while !mine.done.is(1, 1) {
            yield_processor();
        }
        mine.memory.with_mut(|memory| unsafe { *memory = 9 });
    }
    loom::model(|| {
        let new = || Member {
            header: SlotHeader::empty(),
            done: Counter::new(),
            memory: UnsafeCell::new(0),
        };
        let members = loom::sync::Arc::new([new(), new()]);
        let other = {
            let members = members.clone();
            loom::thread::spawn(move || act(&members, 1))
        };
        act(&members, 0);
        other.join().unwrap();
    });
}

#[test]
fn each_chunk_is_claimed_once_and_seen_when_done() {
    loom::model(|| {
        let new = Counter::new;
        let shared = loom::sync::Arc::new((new(), new(), [AtomicU32::new(0), AtomicU32::new(0)]));
        let work = |shared: &(Counter, Counter, [AtomicU32; 2])| {
            while let Some(claimed) = shared.0.count_below(1, 2) {
                shared.2[claimed as usize - 1].fetch_add(1, Ordering::Relaxed);
                shared.1.count(1);
            }
            while !shared.1.is(1, 2) {
                yield_processor();
            }
            for chunk in &shared.2 {
                assert_eq!(chunk.load(Ordering::Relaxed), 1);
            }
        };
        let other = {
            let shared = shared.clone();
            loom::thread::spawn(move || work(&shared))
        };
        work(&shared);
        other.join().unwrap();
    });
}

/// Of two members of one processor, the first to arrive puts its part. The last combines both in its own slot and
/// publishes that, and the other reads it there.
#[test]
fn the_result_of_the_last_to_arrive_is_read_after_its_release() {
    struct Members {
        here: Counter,
        done: Counter,
        headers: [SlotHeader; 2],
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Members {}
    fn act(members: &Members, me: usize) {
        let last = members.here.count(1) == 2;
        if last {
            // The last does not put its own part.
            let theirs = members.headers[1 - me].take(1);
            members.headers[me].write(theirs + me as u64 + 1);
            members.done.set(1, me as u32);
        } else {
            members.headers[me].put(1, me as u64 + 1);
        }
        let who = loop {
            if let Some(who) = members.done.get(1) {
                break who as usize;
            }
            yield_processor();
        };
        assert_eq!((who == me, members.headers[who].read()), (last, 3));
    }
    loom::model(|| {
        let new = Counter::new;
        let members = loom::sync::Arc::new(Members {
            here: new(),
            done: new(),
            headers: [SlotHeader::empty(), SlotHeader::empty()],
        });
        let other = {
            let members = members.clone();
            loom::thread::spawn(move || act(&members, 1))
        };
        act(&members, 0);
        other.join().unwrap();
    });
}
