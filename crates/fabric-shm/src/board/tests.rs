//! Tests of the lines of boards. Loom runs the collectives themselves over boards (`team/tests.rs`).

use super::*;
use crate::primitive::yield_processor;

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
        // SAFETY: eight bytes fit, and the caller owns the slot.
        unsafe { self.short().cast::<u64>().write_unaligned(value) };
    }

    fn read(&self) -> u64 {
        // SAFETY: as above.
        unsafe { self.short().cast::<u64>().read_unaligned() }
    }

    fn put(&self, epoch: u32, value: u64) {
        self.write(value);
        self.publish(epoch, CallId::from_bits(7), 8);
    }

    fn take(&self, epoch: u32) -> u64 {
        while !self.holds(epoch) {
            yield_processor();
        }
        assert_eq!(self.contents(), (CallId::from_bits(7), 8));
        self.read()
    }
}

struct Pair {
    headers: [SlotHeader; 2],
    progress: [Progress; 2],
}

// SAFETY: the protocol under test keeps the threads apart.
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

#[test]
fn two_threads_exchange_through_one_slot_each() {
    let pair = Pair::new();
    std::thread::scope(|scope| {
        scope.spawn(|| pair.exchange(1, 2000));
        pair.exchange(0, 2000);
    });
}

#[test]
fn numbers_that_wrapped_are_still_in_order() {
    assert!(has_reached(5, 5) && has_reached(6, 5) && !has_reached(4, 5));
    assert!(has_reached(2, u32::MAX) && !has_reached(u32::MAX, 2));
}

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
