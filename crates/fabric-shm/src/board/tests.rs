use super::*;
use crate::primitive::yield_processor;

impl Head {
    fn empty() -> Self {
        Head {
            number: AtomicU32::new(0),
            mark: AtomicU32::new(0),
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

    fn put(&self, number: u32, value: u64) {
        self.write(value);
        self.publish(number, 7, 8);
    }

    fn take(&self, number: u32) -> u64 {
        while !self.holds(number) {
            yield_processor();
        }
        assert_eq!(self.contents(), (7, 8));
        self.read()
    }
}

struct Pair {
    heads: [Head; 2],
    progress: [Progress; 2],
}

// SAFETY: the test's point is that the protocol keeps the threads apart; loom's cell reports where it does not.
unsafe impl Sync for Pair {}

impl Pair {
    fn new() -> Self {
        let progress = || Progress(AtomicU32::new(0));
        Pair { heads: [Head::empty(), Head::empty()], progress: [progress(), progress()] }
    }

    /// Both members give each other a number in each of `steps` steps, through one slot each.
    fn exchange(&self, me: usize, steps: u32) {
        for number in 1..=steps {
            while !has_come(self.progress[1 - me].ended(), number - 1) {
                yield_processor();
            }
            self.heads[me].put(number, u64::from(number) * 10 + me as u64);
            let theirs = self.heads[1 - me].take(number);
            assert_eq!(theirs, u64::from(number) * 10 + (1 - me) as u64);
            self.progress[me].end(number);
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
        let shared = loom::sync::Arc::new((
            Tally(AtomicU64::new(3 << 32 | 3)),
            [Head::empty(), Head::empty()],
        ));
        let arrive = |shared: &(Tally, [Head; 2]), me: usize| {
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

/// Two members show each other memory of their own, read the other's, and count that on its board; then each changes its own.
#[cfg(loom)]
#[test]
fn memory_that_was_shown_is_changed_only_after_the_other_has_read_it() {
    struct Member {
        head: Head,
        done: Tally,
        memory: UnsafeCell<u64>,
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Member {}
    fn act(members: &[Member; 2], me: usize) {
        let (mine, theirs) = (&members[me], &members[1 - me]);
        // SAFETY: nobody has been shown it yet; loom's cell reports where that is wrong. So below, after both have counted.
        mine.memory.with_mut(|memory| unsafe { *memory = me as u64 + 1 });
        mine.head.put(1, me as u64);
        assert_eq!(theirs.head.take(1), 1 - me as u64);
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
            head: Head::empty(),
            done: Tally(AtomicU64::new(0)),
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

/// The root writes to a member's slot and says so in its own; the member reads it there and ends the step, after which the root
/// may write again.
#[cfg(loom)]
#[test]
fn a_root_writes_to_a_members_board_only_between_its_steps() {
    struct Boards {
        root: Head,
        member: Head,
        ended: Progress,
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Boards {}
    loom::model(|| {
        let boards = loom::sync::Arc::new(Boards {
            root: Head::empty(),
            member: Head::empty(),
            ended: Progress(AtomicU32::new(0)),
        });
        let member = {
            let boards = boards.clone();
            loom::thread::spawn(move || {
                for number in 1..=2 {
                    while !boards.root.holds(number) {
                        yield_processor();
                    }
                    assert_eq!(boards.member.read(), u64::from(number) * 10);
                    boards.ended.end(number);
                }
            })
        };
        for number in 1..=2 {
            while !has_come(boards.ended.ended(), number - 1) {
                yield_processor();
            }
            boards.member.write(u64::from(number) * 10);
            boards.root.publish(number, 7, 8);
        }
        member.join().unwrap();
    });
}

/// Two members give to each other, and each gives the next part in the place where it has just read the other's.
#[cfg(loom)]
#[test]
fn members_that_swap_their_places_never_meet_there() {
    struct Boards {
        heads: [Head; 2],
        places: [Head; 2],
        ended: [Progress; 2],
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Boards {}
    fn exchange(boards: &Boards, me: usize) {
        let part = |number: u32, member: usize| u64::from(number) * 10 + member as u64;
        for number in 1..=2 {
            while !has_come(boards.ended[1 - me].ended(), number - 1) {
                yield_processor();
            }
            let place = me ^ (number as usize % 2);
            boards.places[place].write(part(number, me));
            boards.heads[me].publish(number, 7, 8);
            while !boards.heads[1 - me].holds(number) {
                yield_processor();
            }
            assert_eq!(boards.places[1 - place].read(), part(number, 1 - me));
            boards.ended[me].end(number);
        }
    }
    loom::model(|| {
        let boards = loom::sync::Arc::new(Boards {
            heads: [Head::empty(), Head::empty()],
            places: [Head::empty(), Head::empty()],
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

/// A member fills the slots of two steps at once, once it may use both, and says so of each; the other waits for the second alone,
/// reads both, and ends both, after which they are filled again.
#[cfg(loom)]
#[test]
fn slots_that_are_filled_together_are_read_behind_the_last() {
    struct Boards {
        heads: [Head; 2],
        ended: Progress,
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Boards {}
    loom::model(|| {
        let boards = loom::sync::Arc::new(Boards {
            heads: [Head::empty(), Head::empty()],
            ended: Progress(AtomicU32::new(0)),
        });
        let reader = {
            let boards = boards.clone();
            loom::thread::spawn(move || {
                for first in [1, 3] {
                    while !boards.heads[1].holds(first + 1) {
                        yield_processor();
                    }
                    let read = [boards.heads[0].read(), boards.heads[1].read()];
                    assert_eq!(read, [u64::from(first), u64::from(first) + 1]);
                    boards.ended.end(first);
                    boards.ended.end(first + 1);
                }
            })
        };
        for first in [1_u32, 3] {
            for number in [first, first + 1] {
                while !has_come(boards.ended.ended(), number.saturating_sub(2)) {
                    yield_processor();
                }
            }
            boards.heads[0].write(u64::from(first));
            boards.heads[1].write(u64::from(first) + 1);
            boards.heads[0].publish(first, 7, 8);
            boards.heads[1].publish(first + 1, 7, 8);
        }
        reader.join().unwrap();
    });
}

/// A member reads the board for the last time and leaves; whoever sees that everybody has left clears it.
#[cfg(loom)]
#[test]
fn a_board_is_cleared_only_after_everybody_has_left() {
    struct Board(Head, Left);
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Board {}
    loom::model(|| {
        let board = loom::sync::Arc::new(Board(Head::empty(), Left(AtomicU32::new(0))));
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
fn each_chunk_is_taken_once_and_seen_when_done() {
    loom::model(|| {
        let new = || Tally(AtomicU64::new(0));
        let shared = loom::sync::Arc::new((new(), new(), [AtomicU32::new(0), AtomicU32::new(0)]));
        let work = |shared: &(Tally, Tally, [AtomicU32; 2])| {
            while let Some(taken) = shared.0.count_below(1, 2) {
                shared.2[taken as usize - 1].fetch_add(1, Ordering::Relaxed);
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

/// Of two members of one processor the first to come puts its part; the last combines both in its own slot and says so, and the other
/// reads it there.
#[cfg(loom)]
#[test]
fn what_the_last_to_come_has_combined_is_read_once_it_has_said_so() {
    struct Members {
        here: Tally,
        done: Tally,
        heads: [Head; 2],
    }
    // SAFETY: as for `Pair`.
    unsafe impl Sync for Members {}
    fn act(members: &Members, me: usize) {
        let last = members.here.count(1) == 2;
        if last {
            // It does not put its own.
            let theirs = members.heads[1 - me].take(1);
            members.heads[me].write(theirs + me as u64 + 1);
            members.done.say(1, me as u32);
        } else {
            members.heads[me].put(1, me as u64 + 1);
        }
        let who = loop {
            if let Some(who) = members.done.said(1) {
                break who as usize;
            }
            yield_processor();
        };
        assert_eq!((who == me, members.heads[who].read()), (last, 3));
    }
    loom::model(|| {
        let new = || Tally(AtomicU64::new(0));
        let members = loom::sync::Arc::new(Members {
            here: new(),
            done: new(),
            heads: [Head::empty(), Head::empty()],
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
fn a_tally_begins_anew_with_each_step_and_stops_at_its_limit() {
    let tally = Tally(AtomicU64::new(0));
    assert_eq!((tally.count(5), tally.count(5)), (1, 2));
    assert!(tally.is(5, 2) && !tally.is(5, 1) && !tally.is(6, 2));
    assert_eq!(tally.count_below(6, 1), Some(1));
    assert_eq!(tally.count_below(6, 1), None);
    assert!(tally.is(6, 1));
    tally.say(7, 3);
    assert_eq!((tally.said(7), tally.said(6)), (Some(3), None));
}

#[cfg(not(loom))]
#[test]
fn numbers_that_wrapped_are_still_in_order() {
    assert!(has_come(5, 5) && has_come(6, 5) && !has_come(4, 5));
    assert!(has_come(2, u32::MAX) && !has_come(u32::MAX, 2));
}
