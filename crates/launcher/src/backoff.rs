//! How a rank waits.
//!
//! A rank that polls memory spins if it has a processor, and after a while yields from time to time. Otherwise it polls
//! a few times, yields a few times, and then sleeps until another rank wakes it.
//!
//! If other programs use the processors, a yield gives one of them the processor for milliseconds. A rank then sleeps
//! instead (`crowding`).
//!
//! A rank that polls descriptors spins for a short time if it has a processor, and then sleeps on them, longer and
//! longer. Otherwise it sleeps at once.

use std::time::{Duration, Instant};

use contract::REPORT_INTERVAL;

use crate::crowding;
use crate::primitive::spin_loop;

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
/// Duration of the polling of descriptors before a rank sleeps: longer than a message takes between two hosts in one
/// room, short enough not to be noticed.
const SPIN: Duration = Duration::from_micros(200);
/// Number of polls of descriptors between two readings of the clock.
const POLLS_BETWEEN_CLOCKS: u32 = 16;
/// Limit of the first sleep on descriptors. Each further limit may be twice as long. A rank then checks early whether its
/// wait can end, and a long wait makes few checks.
const FIRST_SLEEP: Duration = Duration::from_millis(5);
/// Longest sleep. After it a rank checks again whether the run still stands.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// The action after another idle poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffStep {
    /// Poll again.
    Poll,
    /// Poll again, and make a liveness check: the wait has become long.
    CheckLiveness,
    /// As `CheckLiveness`. A rank that has a processor to itself has let others use it.
    HasYielded,
    /// As `CheckLiveness`, and report that the wait is long.
    ReportWait,
    /// Prepare to sleep. Who sleeps in memory announces it, and polls once more before it does; who sleeps on descriptors
    /// makes a liveness check.
    Sleep,
}

/// What a rank polls, and what it does in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Memory, on a processor of its own: spins, and yields from time to time.
    Spins,
    /// Memory, on a shared processor: yields, and sleeps until it is woken.
    Yields,
    /// Descriptors, on a processor of its own: spins for a short time, and sleeps on them.
    SpinsAndSleeps,
    /// Descriptors, on a shared processor: sleeps on them.
    Sleeps,
}

/// The backoff of one wait. It counts idle polls.
pub struct Backoff {
    kind: Kind,
    idle_polls: u32,
    yields: u32,
    sleeps: u32,
    /// Time since which polls of descriptors are known to be idle.
    idle_since: Option<Instant>,
    /// Time at which the wait of a rank that does not sleep becomes long, and from then on the time of its next report.
    report_at: Option<Instant>,
    /// Length of the last sleeps, all of which ran out, so that nothing has arrived for this rank for that time.
    idle_sleep: Duration,
    is_reported: bool,
}

impl Backoff {
    /// Begins a wait in memory of a rank that has a processor to itself, or shares one.
    #[inline]
    pub fn in_memory(own_processor: bool) -> Self {
        Backoff::new(if own_processor { Kind::Spins } else { Kind::Yields })
    }

    /// Begins a wait on descriptors of such a rank.
    #[inline]
    pub fn on_descriptors(own_processor: bool) -> Self {
        Backoff::new(if own_processor { Kind::SpinsAndSleeps } else { Kind::Sleeps })
    }

    #[inline]
    fn new(kind: Kind) -> Self {
        Backoff {
            kind,
            idle_polls: 0,
            yields: 0,
            sleeps: 0,
            idle_since: None,
            report_at: None,
            idle_sleep: Duration::ZERO,
            is_reported: false,
        }
    }

    /// Begins anew after a successful poll.
    pub fn reset(&mut self) {
        *self = Backoff { is_reported: self.is_reported, ..Backoff::new(self.kind) };
    }

    /// Waits briefly after an idle poll.
    #[inline]
    pub fn wait(&mut self) -> BackoffStep {
        self.idle_polls = self.idle_polls.saturating_add(1);
        match self.kind {
            Kind::Spins => self.spin(),
            Kind::Yields => self.yield_or_sleep(crowding::yield_if_of_use),
            Kind::SpinsAndSleeps => self.spin_or_sleep(),
            Kind::Sleeps => BackoffStep::Sleep,
        }
    }

    #[inline]
    fn spin_or_sleep(&mut self) -> BackoffStep {
        if !self.idle_polls.is_multiple_of(POLLS_BETWEEN_CLOCKS) {
            return BackoffStep::Poll;
        }
        match self.idle_since.get_or_insert_with(Instant::now).elapsed() < SPIN {
            true => BackoffStep::CheckLiveness,
            false => BackoffStep::Sleep,
        }
    }

    /// Returns the limit of the next sleep. In memory a rank is woken whenever there is reason.
    pub fn next_sleep(&mut self) -> Duration {
        if matches!(self.kind, Kind::Spins | Kind::Yields) {
            return LONGEST_SLEEP;
        }
        // Five doublings of the first exceed the longest.
        let limit = FIRST_SLEEP * (1 << self.sleeps.min(5));
        self.sleeps = self.sleeps.saturating_add(1);
        limit.min(LONGEST_SLEEP)
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

    /// Returns whether a rank that does not sleep must report that the wait is long.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The number of idle polls of an oversubscribed rank before it sleeps. Each yield is of use, or none is.
    fn polls_before_sleep(of_use: bool) -> u32 {
        let mut backoff = Backoff::in_memory(false);
        let awake = (1..).take_while(|&idle_polls| {
            backoff.idle_polls = idle_polls;
            backoff.yield_or_sleep(|| of_use) != BackoffStep::Sleep
        });
        awake.count() as u32
    }

    #[test]
    fn only_an_oversubscribed_rank_sleeps() {
        assert_eq!(polls_before_sleep(true), POLLS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP - 1);
        let mut own_processor = Backoff::in_memory(true);
        assert!((0..3 * SPINS_BEFORE_YIELD).all(|_| own_processor.wait() != BackoffStep::Sleep));
    }

    #[test]
    fn a_rank_among_other_programs_sleeps_where_it_would_yield() {
        assert_eq!(polls_before_sleep(false), POLLS_BEFORE_YIELD - 1);
    }

    #[test]
    fn a_wait_is_long_after_one_long_sleep_or_many_short_ones_that_run_out() {
        const SHORT: Duration = Duration::from_millis(30);
        let mut backoff = Backoff::in_memory(false);
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

    #[test]
    fn a_rank_on_descriptors_spins_and_checks_liveness_now_and_then_and_sleeps_in_the_end() {
        assert_eq!(Backoff::on_descriptors(false).wait(), BackoffStep::Sleep);
        let mut backoff = Backoff::on_descriptors(true);
        let round = |backoff: &mut Backoff| -> Vec<BackoffStep> {
            (0..POLLS_BETWEEN_CLOCKS).map(|_| backoff.wait()).collect()
        };
        let first = round(&mut backoff);
        assert!(first[..first.len() - 1].iter().all(|&step| step == BackoffStep::Poll));
        assert_ne!(first.last(), Some(&BackoffStep::Poll));
        std::thread::sleep(SPIN);
        assert_eq!(round(&mut backoff).last(), Some(&BackoffStep::Sleep));
        backoff.reset();
        assert_eq!(backoff.wait(), BackoffStep::Poll);
    }

    #[test]
    fn sleeps_on_descriptors_last_longer_and_longer_up_to_a_limit() {
        let mut backoff = Backoff::on_descriptors(false);
        let limits: Vec<u128> = (0..8).map(|_| backoff.next_sleep().as_millis()).collect();
        assert_eq!(limits, [5, 10, 20, 40, 80, 100, 100, 100]);
        backoff.reset();
        assert_eq!(backoff.next_sleep(), FIRST_SLEEP);
    }
}
