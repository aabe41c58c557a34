//! Models of the use of slots, which loom runs in every order of memory operations.

use super::*;
use crate::primitive::yield_processor;

#[cfg(loom)]
mod counters;
mod levels;

impl SlotHeader {
    pub(super) fn empty() -> Self {
        SlotHeader {
            epoch: AtomicU32::new(0),
            call_id: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            short: UnsafeCell::new([0; SHORT_BYTES]),
        }
    }

    fn write(&self, value: u64) {
        // SAFETY: eight bytes fit, and the caller owns the slot; loom's cell reports a violation.
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

// SAFETY: the protocol under test keeps the threads apart; loom's cell reports a violation.
unsafe impl Sync for Pair {}

impl Pair {
    fn new() -> Self {
        let progress = || Progress(AtomicU32::new(0));
        Pair {
            headers: [SlotHeader::empty(), SlotHeader::empty()],
            progress: [progress(), progress()],
        }
    }

    /// Each of both members gives the other a number in each of `steps` steps, through one slot each.
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
fn a_slot_is_reused_only_after_all_members_have_read_it() {
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

/// The root writes to a member's slot and publishes that in its own. The member reads it there and ends the step, after
/// which the root may write again.
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

/// Two members exchange parts, and each puts its next part where it has just read the other's.
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

/// A member fills the slots of two steps at once, when it may use both, and publishes each. The other waits for the
/// second only, reads both, and ends both, after which they are filled again.
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

/// A member reads the board for the last time and leaves. A thread that sees that everybody has left clears it.
#[cfg(loom)]
#[test]
fn a_board_is_cleared_only_after_all_members_have_left() {
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

#[cfg(not(loom))]
#[test]
fn members_out_of_step_are_so_from_the_earliest_call_on() {
    let broken = Broken(AtomicU64::new(0));
    assert!(!broken.reaches(0) && !broken.reaches(7));
    broken.set(7);
    broken.set(9);
    assert!(!broken.reaches(6) && broken.reaches(7) && broken.reaches(8) && broken.reaches(0));
    broken.set(u32::MAX);
    assert!(!broken.reaches(u32::MAX - 1) && broken.reaches(u32::MAX) && broken.reaches(1));
    broken.set(0);
    assert!(broken.reaches(u32::MAX - 1));
}
