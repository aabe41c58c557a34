//! Whether other programs use the processors, as the durations of this process's yields show.
//!
//! A yield returns at once if only ranks that wait are there to run. A program that computes keeps the processor for
//! its slice of some milliseconds, and two ranks that yield to such programs meet by chance only. A rank that sleeps
//! instead uses little of the processor, so the system runs it soon after it wakes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock;
use crate::primitive::yield_processor;

/// A yield that takes longer has passed the processor to a program that computes: a time slice of Linux is longer. In
/// ticks of [`clock::ticks`], of which a processor makes two to four in a nanosecond.
const LONG_YIELD_TICKS: u64 = 3_000_000;
/// The weight of a long yield in the score, and how high the score is with which the processors are crowded: a pause of
/// the machine makes a single yield long.
const WEIGHT: u32 = 8;
const CROWDED: u32 = 2 * WEIGHT;
/// The number of yields that a rank leaves out before it tries one again: few at first, for the others may only be
/// starting, and each time four times as many if that one is long, too.
const FIRST_LEFT_OUT: u32 = 16;
const MOST_LEFT_OUT: u32 = 1024;
/// The sleep of a rank that nobody wakes.
const NAP: Duration = Duration::from_micros(50);

/// The state of a process. Relaxed: a rank is one thread, and in tests several may only yield more or less often.
struct Crowding {
    /// Long yields less short ones.
    score: AtomicU32,
    /// How many yields are still to be left out, and how many the next time.
    left_out: AtomicU32,
    next_left_out: AtomicU32,
}

static PROCESS: Crowding = Crowding::new();

impl Crowding {
    const fn new() -> Self {
        Crowding {
            score: AtomicU32::new(0),
            left_out: AtomicU32::new(0),
            next_left_out: AtomicU32::new(FIRST_LEFT_OUT),
        }
    }

    /// Whether the next yield is to be left out.
    fn leave_out(&self) -> bool {
        let left = self.left_out.load(Ordering::Relaxed);
        if left > 0 {
            self.left_out.store(left - 1, Ordering::Relaxed);
        }
        left > 0
    }

    #[inline]
    fn note(&self, took_ticks: u64) {
        let score = self.score.load(Ordering::Relaxed);
        if (score, took_ticks > LONG_YIELD_TICKS) != (0, false) {
            self.change_score(score, took_ticks > LONG_YIELD_TICKS);
        }
    }

    #[cold]
    fn change_score(&self, score: u32, was_long: bool) {
        let score = match was_long {
            true => score + WEIGHT,
            false => score.saturating_sub(1),
        };
        if score < CROWDED {
            self.score.store(score, Ordering::Relaxed);
            if score == 0 {
                self.next_left_out.store(FIRST_LEFT_OUT, Ordering::Relaxed);
            }
            return;
        }
        let next = self.next_left_out.load(Ordering::Relaxed);
        self.left_out.store(next, Ordering::Relaxed);
        self.next_left_out.store(MOST_LEFT_OUT.min(4 * next), Ordering::Relaxed);
        // One long yield is then enough to find that nothing has changed.
        self.score.store(WEIGHT, Ordering::Relaxed);
    }
}

/// Whether the processors are crowded.
#[inline]
pub fn is_crowded() -> bool {
    PROCESS.left_out.load(Ordering::Relaxed) > 0
}

/// Yields the processor, unless other programs would keep it. Returns whether it has yielded.
pub fn yield_if_of_use() -> bool {
    // The order of a model's threads is no matter of time.
    if cfg!(loom) {
        yield_processor();
        return true;
    }
    if PROCESS.leave_out() {
        return false;
    }
    let start = clock::ticks();
    yield_processor();
    PROCESS.note(clock::ticks().wrapping_sub(start));
    true
}

/// The same for a rank that nobody wakes: it sleeps for a moment instead.
pub(crate) fn yield_or_nap() {
    if !yield_if_of_use() {
        std::thread::sleep(NAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: u64 = 3000;
    const LONG: u64 = 9_000_000;

    #[test]
    fn a_single_long_yield_is_a_pause_and_several_are_other_programs() {
        let crowding = Crowding::new();
        for _ in 0..10 {
            crowding.note(LONG);
            assert!(!crowding.leave_out());
            (0..WEIGHT).for_each(|_| crowding.note(SHORT));
        }
        // Every second one is long: the score rises to 8, 15, 22.
        for crowded in [false, false, true] {
            crowding.note(LONG);
            assert_eq!(crowding.leave_out(), crowded);
            crowding.note(SHORT);
        }
    }

    /// Leaves yields out until one is due, and returns how many.
    fn left_out(crowding: &Crowding) -> u32 {
        (0..).take_while(|_| crowding.leave_out()).count() as u32
    }

    #[test]
    fn yields_are_left_out_for_longer_and_longer_and_tried_in_between() {
        let crowding = Crowding::new();
        crowding.note(LONG);
        for expected in [16, 64, 256, 1024, 1024] {
            crowding.note(LONG);
            assert_eq!(left_out(&crowding), expected);
        }
        // Nobody else is there any more, and then somebody is again.
        (0..WEIGHT).for_each(|_| crowding.note(SHORT));
        crowding.note(LONG);
        assert_eq!(left_out(&crowding), 0);
        crowding.note(LONG);
        assert_eq!(left_out(&crowding), 16);
    }
}
