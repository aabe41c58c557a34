//! How a rank waits, and how it is woken.
//!
//! If every rank has a processor, a waiting rank spins, and after a while yields from time to time. Otherwise it polls
//! a few times, yields a few times, and then sleeps on its sleep word in the segment. A rank that publishes something
//! to another reads that word, and makes the system call only if the other sleeps.
//!
//! If other programs use the processors, a yield gives one of them the processor for milliseconds. A rank then sleeps
//! instead (`crowding`).
//!
//! The sleeper writes its word and then polls once more; the waker writes the work and then reads the word. A full
//! fence between the two steps on each side guarantees that at least one of them sees the other.

use std::time::{Duration, Instant};

use contract::REPORT_INTERVAL;

use crate::crowding;
use crate::primitive::{AtomicU32, Ordering, fence, futex_wait, futex_wake, spin_loop};

/// Number of idle polls before a rank with its own processor begins to yield: some 50 microseconds.
const SPINS_BEFORE_YIELD: u32 = 2_000;
/// Number of polls between two yields from then on.
const SPINS_BETWEEN_YIELDS: u32 = 200;
/// Number of idle polls before a rank yields if ranks are oversubscribed: the awaited line may arrive at once. There
/// are few, because it mostly comes from a rank that needs this processor.
const POLLS_BEFORE_YIELD: u32 = if cfg!(loom) { 1 } else { 3 };
/// Number of yields before a rank sleeps: some 100 microseconds. Waking it costs the waker several.
const YIELDS_BEFORE_SLEEP: u32 = if cfg!(loom) { 0 } else { 200 };
/// Number of yields of a rank with its own processor between two readings of the clock.
const YIELDS_BETWEEN_CLOCKS: u32 = 16;
/// Longest sleep. After it a rank checks again whether the run still stands.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// The action after another idle poll.
#[derive(Debug, PartialEq, Eq)]
pub enum BackoffStep {
    /// Poll again.
    Poll,
    /// Poll again, and make a liveness check: the wait has become long.
    CheckLiveness,
    /// As `CheckLiveness`. A rank that has a processor to itself has let others use it.
    HasYielded,
    /// As `CheckLiveness`, and report that the wait is long.
    ReportWait,
    /// Prepare to sleep: call [`announce_sleep`], poll once more, then [`sleep`].
    Sleep,
}

/// The backoff of one wait. It counts idle polls.
pub struct Backoff {
    own_processor: bool,
    idle_polls: u32,
    yields: u32,
    /// Time at which the wait of a spinning rank becomes long, and from then on the time of its next report.
    report_at: Option<Instant>,
    /// Length of the last sleeps, all of which ran out, so that nothing has arrived for this rank for that time.
    idle_sleep: Duration,
    is_reported: bool,
}

impl Backoff {
    /// Begins a wait of a rank that has a processor to itself, or shares one.
    #[inline]
    pub fn new(own_processor: bool) -> Self {
        Backoff {
            own_processor,
            idle_polls: 0,
            yields: 0,
            report_at: None,
            idle_sleep: Duration::ZERO,
            is_reported: false,
        }
    }

    /// Waits briefly after an idle poll.
    #[inline]
    pub fn wait(&mut self) -> BackoffStep {
        self.idle_polls = self.idle_polls.saturating_add(1);
        if self.own_processor {
            self.spin()
        } else {
            self.yield_or_sleep(crowding::yield_if_of_use)
        }
    }

    #[inline]
    fn spin(&mut self) -> BackoffStep {
        spin_loop();
        if self.idle_polls < SPINS_BEFORE_YIELD {
            return if self.idle_polls.is_multiple_of(64) {
                BackoffStep::CheckLiveness
            } else {
                BackoffStep::Poll
            };
        }
        self.idle_polls -= SPINS_BETWEEN_YIELDS;
        crowding::yield_or_nap();
        self.yields = self.yields.wrapping_add(1);
        match self.yields.is_multiple_of(YIELDS_BETWEEN_CLOCKS) && self.is_report_due() {
            true => BackoffStep::ReportWait,
            false => BackoffStep::HasYielded,
        }
    }

    fn is_report_due(&mut self) -> bool {
        let now = Instant::now();
        let at = *self.report_at.get_or_insert(now + REPORT_INTERVAL);
        if now >= at {
            self.report_at = Some(now + REPORT_INTERVAL);
        }
        now >= at
    }

    /// Records a sleep: the limit that has passed, or `None` if something has woken the rank.
    pub fn note_sleep(&mut self, ran_out: Option<Duration>) {
        self.idle_sleep = ran_out.map_or(Duration::ZERO, |limit| self.idle_sleep + limit);
    }

    /// Returns whether a rank that is about to sleep reports that the wait is long.
    pub fn reports_before_sleep(&self) -> bool {
        self.idle_sleep >= LONGEST_SLEEP
    }

    /// Records that the long wait was reported.
    pub fn note_reported(&mut self) {
        self.is_reported = true;
        self.idle_sleep = Duration::ZERO;
    }

    /// Returns whether the long wait was reported, so that its end must be reported too.
    #[inline]
    pub fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// The next step of an oversubscribed rank. `yield_if_of_use` yields, or returns false if other programs use the
    /// processors.
    #[inline]
    fn yield_or_sleep(&mut self, yield_if_of_use: impl FnOnce() -> bool) -> BackoffStep {
        if self.idle_polls < POLLS_BEFORE_YIELD {
            spin_loop();
            BackoffStep::Poll
        } else if self.idle_polls < POLLS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP && yield_if_of_use() {
            BackoffStep::CheckLiveness
        } else {
            BackoffStep::Sleep
        }
    }
}

/// Returns whether a liveness check is due after `idle_polls` idle polls: from time to time while the polls follow one
/// another closely, and at almost every poll once a sleep precedes each.
#[inline]
pub fn is_liveness_check_due(idle_polls: u32, own_processor: bool) -> bool {
    let asleep = !own_processor
        && (idle_polls > POLLS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP || crowding::is_crowded());
    idle_polls.is_multiple_of(if asleep { 4 } else { 64 })
}

/// Announces that the owner of `word` is about to sleep. The owner then polls once more.
pub(crate) fn announce_sleep(word: &AtomicU32) {
    word.store(1, Ordering::Relaxed);
    // Partner of the fence in `wake_if_asleep`.
    fence(Ordering::SeqCst);
}

/// Sleeps at most for `longest`, unless [`wake_if_asleep`] was called since [`announce_sleep`]. Returns whether the
/// sleep ran out.
pub(crate) fn sleep(word: &AtomicU32, longest: Duration) -> bool {
    let has_run_out = futex_wait(word, 1, longest);
    stay_awake(word);
    has_run_out
}

/// Withdraws the announcement.
pub(crate) fn stay_awake(word: &AtomicU32) {
    // Acquire, partner of the release in `wake_if_asleep`: the reason for the wake-up is visible from here on.
    word.swap(0, Ordering::Acquire);
}

/// Calls `wake`, which wakes the owner of `word`, if the owner sleeps or is about to. The caller has just published
/// what the owner waits for.
#[inline]
pub(crate) fn wake_if_asleep(word: &AtomicU32, wake: impl FnOnce(&AtomicU32)) {
    // Partner of the fence in `announce_sleep`. Without it our store could become visible only after our load: the
    // sleeper would miss the work, and we would miss the sleeper.
    fence(Ordering::SeqCst);
    if word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Release) != 0 {
        wake(word);
    }
}

/// Wakes the rank that [`sleep`]s on `word`.
pub(crate) fn wake_sleeper(word: &AtomicU32) {
    futex_wake(word, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of idle polls of an oversubscribed rank before it sleeps. Each yield is of use, or none is.
    #[cfg(not(loom))]
    fn polls_before_sleep(of_use: bool) -> u32 {
        let mut backoff = Backoff::new(false);
        let awake = (1..).take_while(|&idle_polls| {
            backoff.idle_polls = idle_polls;
            backoff.yield_or_sleep(|| of_use) != BackoffStep::Sleep
        });
        awake.count() as u32
    }

    #[cfg(not(loom))]
    #[test]
    fn only_an_oversubscribed_rank_sleeps() {
        assert_eq!(polls_before_sleep(true), POLLS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP - 1);
        let mut own_processor = Backoff::new(true);
        assert!((0..3 * SPINS_BEFORE_YIELD).all(|_| own_processor.wait() != BackoffStep::Sleep));
    }

    #[cfg(not(loom))]
    #[test]
    fn a_rank_among_other_programs_sleeps_where_it_would_yield() {
        assert_eq!(polls_before_sleep(false), POLLS_BEFORE_YIELD - 1);
    }

    #[cfg(not(loom))]
    #[test]
    fn a_wait_is_long_after_one_long_sleep_or_many_short_ones_that_run_out() {
        const SHORT: Duration = Duration::from_millis(30);
        let mut backoff = Backoff::new(false);
        let is_long_after = |backoff: &mut Backoff, ran_out| {
            backoff.note_sleep(ran_out);
            backoff.reports_before_sleep()
        };
        assert!(is_long_after(&mut backoff, Some(LONGEST_SLEEP)));
        backoff.note_reported();
        // 30 + 30 + 30 ms are less than 100 ms, and 30 ms more are not. A sleep that is ended begins anew.
        let sleeps = [Some(SHORT), Some(SHORT), Some(SHORT), None, Some(SHORT), Some(SHORT)];
        assert!(sleeps.into_iter().all(|one| !is_long_after(&mut backoff, one)));
        assert!(!is_long_after(&mut backoff, Some(SHORT)));
        assert!(is_long_after(&mut backoff, Some(SHORT)));
    }

    /// A sleeper that polls, announces its sleep, polls again and sleeps, and a waker that gives it work: in every
    /// order of their steps and of the memory's, the sleeper continues.
    #[cfg(loom)]
    #[test]
    fn a_sleeper_is_never_left_asleep() {
        loom::model(|| {
            crate::primitive::begin_execution();
            let shared = loom::sync::Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let sleeper = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let (work, word) = &*shared;
                    if work.load(Ordering::Relaxed) == 0 {
                        announce_sleep(word);
                        if work.load(Ordering::Relaxed) == 0 {
                            sleep(word, LONGEST_SLEEP);
                        } else {
                            stay_awake(word);
                        }
                    }
                    assert_eq!(work.load(Ordering::Relaxed), 1);
                })
            };
            let (work, word) = &*shared;
            work.store(1, Ordering::Relaxed);
            wake_if_asleep(word, wake_sleeper);
            sleeper.join().unwrap();
        });
    }
}
