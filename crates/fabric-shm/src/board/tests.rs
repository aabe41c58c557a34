#[cfg(loom)]
use super::counter::Counter;
use super::*;
use crate::primitive::yield_processor;

impl SlotHeader {
    fn empty() -> Self {
        SlotHeader {
            epoch: AtomicU32::new(0),
            call_id: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            short: UnsafeCell::new([0; SHORT_BYTES]),
        }
    }

    fn write(&self, value: u64) {
        // SAFETY: eight bytes fit, and the caller has the slot; loom's cell reports where it has not.
        self.short.with_mut(|place| unsafe { place.cast::<u64>().write_unaligned(value) });
    }

    fn read(&self) -> u64 {
        // SAFETY: as above.
        self.short.with(|place| unsafe { place.cast::<u64>().read_unaligned() })
    }

    fn put(&self, epoch: u32, value: u64) {
        self.write(value);
        self.publish(epoch, 7, 8);
    }

    fn take(&self, epoch: u32) -> u64 {
        while !self.holds(epoch) {
            yield_processor();
        }
        assert_eq!(self.contents(), (7, 8));
        self.read()
    }
}

struct Pair {
    headers: [SlotHeader; 2],
    progress: [Progress; 2],
}

// SAFETY: the test's point is that the protocol keeps the threads apart; loom's cell reports where it does not.
unsafe impl Sync for Pair {}

impl Pair {
    fn new() -> Self {
        let progress = || Progress(AtomicU32::new(0));
        Pair {
            headers: [SlotHeader::empty(), SlotHeader::empty()],
            progress: [progress(), progress()],
        }
    }

    /// Both members give each other a number in each of `steps` steps, through one slot each.
    fn exchange(&self, me: usize, steps: u32) {
        for epoch in 1..=steps {
            while !has_reached(self.progress[1 - me].ended(), epoch - 1) {
                yield_processor();
            }
            self.headers[me].put(epoch, u64::from(epoch) * 10 + me as u64);
            let theirs = self.headers[1 - me].take(epoch);
            assert_eq!(theirs, u64::from(epoch) * 10 + (1 - me) as u64);
            self.progress[me].end(epoch);
        }
    }
}

#[cfg(loom)]
#[test]
fn a_slot_is_used_again_only_after_everybody_has_read_it() {
    loom::model(|| {
        let pair = loom::sync::Arc::new(Pair::new());
        let other = {
            let pair = pair.clone();
            loom::thread::spawn(move || pair.exchange(1, 2))
        };
        pair.exchange(0, 2);
        other.join().unwrap();
    });
}

#[cfg(loom)]
#[test]
fn the_last_to_arrive_sees_what_all_did_before() {
    loom::model(|| {
        let shared =
            loom::sync::Arc::new((Counter::new(), [SlotHeader::empty(), SlotHeader::empty()]));
        // Of an epoch before.
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

/// Two members show each other memory of their own, read the other's, and count that on its board; then each
/// changes its own.
#[cfg(loom)]
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
        // SAFETY: nobody has been shown it yet; loom's cell reports where that is wrong. So below, after both
        // have counted.
        mine.memory.with_mut(|memory| unsafe { *memory = me as u64 + 1 });
        mine.header.put(1, me as u64);
        assert_eq!(theirs.header.take(1), 1 - me as u64);
        // SAFETY: it was shown, and we have not counted yet.
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

/// The root writes to a member's slot and says so in its own; the member reads it there and ends the step,
/// after which the root may write again.
#[cfg(loom)]
#[test]
fn a_root_writes_to_a_members_board_only_between_its_steps() {
    struct Boards {
        root: SlotHeader,
        member: SlotHeader,
        ended: Progress,
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Boards {}
    loom::model(|| {
        let boards = loom::sync::Arc::new(Boards {
            root: SlotHeader::empty(),
            member: SlotHeader::empty(),
            ended: Progress(AtomicU32::new(0)),
        });
        let member = {
            let boards = boards.clone();
            loom::thread::spawn(move || {
                for epoch in 1..=2 {
                    while !boards.root.holds(epoch) {
                        yield_processor();
                    }
                    assert_eq!(boards.member.read(), u64::from(epoch) * 10);
                    boards.ended.end(epoch);
                }
            })
        };
        for epoch in 1..=2 {
            while !has_reached(boards.ended.ended(), epoch - 1) {
                yield_processor();
            }
            boards.member.write(u64::from(epoch) * 10);
            boards.root.publish(epoch, 7, 8);
        }
        member.join().unwrap();
    });
}

/// Two members give to each other, and each gives the next part in the place where it has just read the other's.
#[cfg(loom)]
#[test]
fn members_that_swap_their_places_never_meet_there() {
    struct Boards {
        headers: [SlotHeader; 2],
        places: [SlotHeader; 2],
        ended: [Progress; 2],
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Boards {}
    fn exchange(boards: &Boards, me: usize) {
        let part = |epoch: u32, member: usize| u64::from(epoch) * 10 + member as u64;
        for epoch in 1..=2 {
            while !has_reached(boards.ended[1 - me].ended(), epoch - 1) {
                yield_processor();
            }
            let place = me ^ (epoch as usize % 2);
            boards.places[place].write(part(epoch, me));
            boards.headers[me].publish(epoch, 7, 8);
            while !boards.headers[1 - me].holds(epoch) {
                yield_processor();
            }
            assert_eq!(boards.places[1 - place].read(), part(epoch, 1 - me));
            boards.ended[me].end(epoch);
        }
    }
    loom::model(|| {
        let boards = loom::sync::Arc::new(Boards {
            headers: [SlotHeader::empty(), SlotHeader::empty()],
            places: [SlotHeader::empty(), SlotHeader::empty()],
            ended: [Progress(AtomicU32::new(0)), Progress(AtomicU32::new(0))],
        });
        let other = {
            let boards = boards.clone();
            loom::thread::spawn(move || exchange(&boards, 1))
        };
        exchange(&boards, 0);
        other.join().unwrap();
    });
}

/// A member fills the slots of two steps at once, once it may use both, and says so of each; the other waits
/// for the second alone, reads both, and ends both, after which they are filled again.
#[cfg(loom)]
#[test]
fn slots_that_are_filled_together_are_read_behind_the_last() {
    struct Boards {
        headers: [SlotHeader; 2],
        ended: Progress,
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Boards {}
    loom::model(|| {
        let boards = loom::sync::Arc::new(Boards {
            headers: [SlotHeader::empty(), SlotHeader::empty()],
            ended: Progress(AtomicU32::new(0)),
        });
        let reader = {
            let boards = boards.clone();
            loom::thread::spawn(move || {
                for first in [1, 3] {
                    while !boards.headers[1].holds(first + 1) {
                        yield_processor();
                    }
                    let read = [boards.headers[0].read(), boards.headers[1].read()];
                    assert_eq!(read, [u64::from(first), u64::from(first) + 1]);
                    boards.ended.end(first);
                    boards.ended.end(first + 1);
                }
            })
        };
        for first in [1_u32, 3] {
            for epoch in [first, first + 1] {
                while !has_reached(boards.ended.ended(), epoch.saturating_sub(2)) {
                    yield_processor();
                }
            }
            boards.headers[0].write(u64::from(first));
            boards.headers[1].write(u64::from(first) + 1);
            boards.headers[0].publish(first, 7, 8);
            boards.headers[1].publish(first + 1, 7, 8);
        }
        reader.join().unwrap();
    });
}

/// A member reads the board for the last time and leaves; whoever sees that everybody has left clears it.
#[cfg(loom)]
#[test]
fn a_board_is_cleared_only_after_everybody_has_left() {
    struct Board(SlotHeader, Left);
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Board {}
    loom::model(|| {
        let board = loom::sync::Arc::new(Board(SlotHeader::empty(), Left(AtomicU32::new(0))));
        board.0.write(5);
        let member = {
            let board = board.clone();
            loom::thread::spawn(move || {
                assert_eq!(board.0.read(), 5);
                board.1.leave();
            })
        };
        board.1.leave();
        while !board.1.is_everybody(2) {
            yield_processor();
        }
        board.0.write(0);
        member.join().unwrap();
    });
}

#[cfg(loom)]
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

/// Of two members of one processor the first to come puts its part; the last combines both in its own slot
/// and says so, and the other reads it there.
#[cfg(loom)]
#[test]
fn what_the_last_to_come_has_combined_is_read_once_it_has_said_so() {
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
            // It does not put its own.
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

#[cfg(not(loom))]
#[test]
fn two_threads_exchange_through_one_slot_each() {
    let pair = Pair::new();
    std::thread::scope(|scope| {
        scope.spawn(|| pair.exchange(1, 2000));
        pair.exchange(0, 2000);
    });
}

#[cfg(not(loom))]
#[test]
fn numbers_that_wrapped_are_still_in_order() {
    assert!(has_reached(5, 5) && has_reached(6, 5) && !has_reached(4, 5));
    assert!(has_reached(2, u32::MAX) && !has_reached(u32::MAX, 2));
}
