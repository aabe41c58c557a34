//! Whether other programs use the processors, as the durations of this process's yields show.
//!
//! A yield returns at once if only ranks that wait are there to run. A program that computes keeps the processor for its
//! slice of some milliseconds, and two ranks that yield to such programs meet by chance only. A rank that sleeps instead
//! uses little of the processor, so the system runs it soon after it wakes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::primitive::yield_processor;

/// A yield that takes longer has passed the processor to a program that computes.
const LONG_YIELD: Duration = Duration::from_micros(300);
/// The weight of a long yield in the score, and how high the score is with which the processors are crowded: a pause of
/// the machine makes a single yield long.
const WEIGHT: u32 = 8;
const CROWDED: u32 = 2 * WEIGHT;
/// The number of yields that a rank leaves out before it tries one again.
const LEFT_OUT: u32 = 1000;
/// The sleep of a rank that nobody wakes.
const NAP: Duration = Duration::from_micros(50);

/// The state of a process. Relaxed: a rank is one thread, and in tests several may only yield more or less often.
struct Crowding {
    /// Long yields less short ones.
    score: AtomicU32,
    /// How many yields are still to be left out.
    left_out: AtomicU32,
}

static PROCESS: Crowding = Crowding::new();

impl Crowding {
    const fn new() -> Self {
        Crowding { score: AtomicU32::new(0), left_out: AtomicU32::new(0) }
    }

    /// Whether the next yield is to be left out.
    fn leave_out(&self) -> bool {
        let left = self.left_out.load(Ordering::Relaxed);
        if left > 0 {
            self.left_out.store(left - 1, Ordering::Relaxed);
        }
        left > 0
    }

    fn note(&self, took: Duration) {
        let score = self.score.load(Ordering::Relaxed);
        let score = match took > LONG_YIELD {
            true => score + WEIGHT,
            false => score.saturating_sub(1),
        };
        if score < CROWDED {
            self.score.store(score, Ordering::Relaxed);
            return;
        }
        self.left_out.store(LEFT_OUT, Ordering::Relaxed);
        // One long yield is then enough to find that nothing has changed.
        self.score.store(WEIGHT, Ordering::Relaxed);
    }
}

/// Whether the processors are crowded.
pub(crate) fn is_crowded() -> bool {
    PROCESS.left_out.load(Ordering::Relaxed) > 0
}

/// Yields the processor, unless other programs would keep it. Returns whether it has yielded.
pub(crate) fn yield_if_of_use() -> bool {
    // The order of a model's threads is no matter of time.
    if cfg!(loom) {
        yield_processor();
        return true;
    }
    if PROCESS.leave_out() {
        return false;
    }
    let start = Instant::now();
    yield_processor();
    PROCESS.note(start.elapsed());
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

    const SHORT: Duration = Duration::from_micros(1);
    const LONG: Duration = Duration::from_millis(3);

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

    #[test]
    fn yields_are_left_out_for_a_while_and_then_tried_again() {
        let crowding = Crowding::new();
        crowding.note(LONG);
        crowding.note(LONG);
        let left_out = (0..2 * LEFT_OUT).filter(|_| crowding.leave_out()).count();
        assert_eq!(left_out, LEFT_OUT as usize);
        crowding.note(LONG);
        assert!(crowding.leave_out());
        assert_eq!((1..LEFT_OUT).filter(|_| crowding.leave_out()).count(), LEFT_OUT as usize - 1);
        // Nobody else is there any more.
        (0..WEIGHT).for_each(|_| crowding.note(SHORT));
        crowding.note(LONG);
        assert!(!crowding.leave_out());
    }
}
