//! Waiting. A rank with a processor of its own first spins for a while; other ranks yield at once. Then a rank sleeps
//! until the provider's descriptor or a connection becomes readable. A provider without a descriptor is polled between
//! short sleeps.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use contract::{
    Awaited, LongWaits, REPORT_INTERVAL, Request, Result, Selector, TimeSpan, WaitPlace,
    WaitReports,
};
use launcher::Seat;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::OfiEndpoint;

/// The time for which a call spins before it sleeps, if every rank has a processor. It exceeds the time of a message
/// between two hosts of one room.
const SPIN: Duration = Duration::from_micros(200);
/// Polls between two readings of the clock, and between two polls of the connections.
pub(super) const POLLS: u32 = 16;
/// Without a descriptor, the number of times that a rank yields before it sleeps.
const YIELDS: u32 = 64;
/// The first sleep without a descriptor. Each further one lasts twice as long, up to the longest.
const SHORTEST_TIMED_SLEEP: Duration = Duration::from_micros(20);
pub(super) const LONGEST_TIMED_SLEEP: Duration = Duration::from_millis(1);
/// A rank that sleeps checks at least this often whether the run was aborted.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_millis(100);
/// At the end of a run, neither descriptor need become readable for the awaited event.
const BRIEF_SLEEP: Duration = Duration::from_millis(2);
pub(super) const FIRST_SLEEP: Duration = Duration::from_millis(5);

/// How long a sleep may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// Until a descriptor becomes readable.
    Long,
    /// Up to [`BRIEF_SLEEP`].
    Briefly,
    /// Up to this time.
    AtMost(Duration),
}

impl Sleep {
    pub(super) fn of(longest: TimeSpan) -> Self {
        Sleep::AtMost(Duration::from_nanos(longest.as_ps() / 1000))
    }
}

/// The action after an idle poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Poll,
    /// Polls the connections as well, and checks whether the wait can end.
    Check,
    /// The same, then sleeps.
    Sleep,
}

#[derive(Default)]
struct Pace {
    idle_polls: u32,
    idle_since: Option<Instant>,
    sleeps: u32,
    /// When the wait was last reported.
    reported: Option<Instant>,
}

impl Pace {
    fn next(&mut self, spins: bool) -> Pause {
        self.idle_polls = self.idle_polls.wrapping_add(1);
        if !spins {
            self.idle_since.get_or_insert_with(Instant::now);
            return Pause::Sleep;
        }
        if !self.idle_polls.is_multiple_of(POLLS) {
            return Pause::Poll;
        }
        match self.idle_since.get_or_insert_with(Instant::now).elapsed() < SPIN {
            true => Pause::Check,
            false => Pause::Sleep,
        }
    }

    /// Returns whether the wait has lasted so long that a check at each poll costs little.
    fn is_long(&self) -> bool {
        self.idle_since.is_some_and(|since| since.elapsed() >= FIRST_SLEEP)
    }

    /// Returns whether an idle poll must be reported to the launcher.
    fn is_report_due(&mut self) -> bool {
        let since = self.reported.or(self.idle_since);
        let is_due = since.is_some_and(|since| since.elapsed() >= REPORT_INTERVAL);
        if is_due {
            self.reported = Some(Instant::now());
        }
        is_due
    }

    /// Returns the longest time of the next sleep.
    fn sleep(&mut self, wanted: Sleep) -> Sleep {
        let doubled = FIRST_SLEEP * (1 << self.sleeps.min(5));
        match wanted {
            Sleep::Long => Sleep::AtMost(doubled.min(LONGEST_SLEEP)),
            other => other,
        }
    }

    /// Returns the time of the next sleep without a descriptor, or `None` if the rank only yields.
    fn timed_sleep(&mut self) -> Option<Duration> {
        let doublings = self.sleeps.checked_sub(YIELDS);
        let length = doublings.map(|doublings| SHORTEST_TIMED_SLEEP * (1 << doublings.min(6)));
        length.map(|length| length.min(LONGEST_TIMED_SLEEP))
    }
}

impl OfiEndpoint {
    /// Waits until `done` returns true. Fails if there are `requests` and none of them can ever end.
    pub(super) fn wait_for(
        &mut self,
        sleep: Sleep,
        requests: &[Request],
        done: &mut dyn FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        let mut is_reported = false;
        let outcome = self.wait_and_report(sleep, requests, done, &mut is_reported);
        if is_reported {
            self.seat().into_iter().for_each(Seat::end_wait_reports);
        }
        outcome
    }

    fn wait_and_report(
        &mut self,
        sleep: Sleep,
        requests: &[Request],
        done: &mut dyn FnMut(&mut Self) -> bool,
        is_reported: &mut bool,
    ) -> Result<()> {
        let (mut pace, mut reports) = (Pace::default(), false);
        loop {
            self.engine.check()?;
            let before = self.engine.activity();
            if done(self) {
                self.waits_long = false;
                return Ok(());
            }
            if std::mem::take(&mut reports) {
                requests.iter().for_each(|&request| self.note_request(request));
                self.report_wait(WaitPlace::ALONE);
            }
            let polled = self.engine.poll();
            self.known(polled)?;
            // Progress inside `done` counts as well, because `done` may have checked its condition before.
            if self.engine.activity() != before {
                pace = Pace::default();
                continue;
            }
            let pause = pace.next(self.spins);
            if pause == Pause::Poll {
                continue;
            }
            self.check_wait(requests)?;
            if pause == Pause::Sleep {
                let timed_sleep = pace.timed_sleep();
                let limit = pace.sleep(sleep);
                pace.sleeps += 1;
                self.sleep_on_descriptor_or_for(limit, timed_sleep)?;
                self.waits_long = pace.is_long();
                if self.waits_long {
                    // Unexpected messages may fill the provider, so that the awaited one cannot arrive.
                    let drained = self.engine.drain();
                    self.known(drained)?;
                }
                if sleep == Sleep::Long && pace.is_report_due() {
                    self.seat().into_iter().for_each(Seat::begin_wait_report);
                    (reports, *is_reported) = (true, true);
                }
            }
        }
    }

    /// Fails if the run was aborted, or if there are `requests` and none of them can ever end.
    fn check_wait(&mut self, requests: &[Request]) -> Result<()> {
        let polled = self.outer.poll_with(None);
        self.known(polled)?;
        let why = self.engine.why_none_can_end(requests);
        match self.known(why)? {
            Some(error) => Err(self.engine.fail(error)),
            None => Ok(()),
        }
    }

    /// Sleeps until something may have arrived.
    pub(super) fn sleep(&mut self, limit: Sleep) -> Result<()> {
        self.sleep_on_descriptor_or_for(limit, Some(LONGEST_TIMED_SLEEP))
    }

    /// Does the same. Without a descriptor, sleeps for at most `timed_sleep`, or only yields if that is `None`.
    fn sleep_on_descriptor_or_for(
        &mut self,
        limit: Sleep,
        timed_sleep: Option<Duration>,
    ) -> Result<()> {
        let limit = match limit {
            Sleep::Long => LONGEST_SLEEP,
            Sleep::Briefly => BRIEF_SLEEP,
            Sleep::AtMost(limit) => limit.min(LONGEST_SLEEP),
        };
        let limit = if self.engine.has_queued() { limit.min(LONGEST_TIMED_SLEEP) } else { limit };
        let objects = self.engine.objects()?;
        if !objects.can_sleep() {
            match timed_sleep {
                Some(timed_sleep) => wait_readable(&[self.waker.as_fd()], limit.min(timed_sleep)),
                None => std::thread::yield_now(),
            }
        } else if let Some(descriptor) = objects.descriptor() {
            wait_readable(&[descriptor, self.waker.as_fd()], limit);
        }
        self.check_run()
    }
}

impl LongWaits for OfiEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        self.seat().map(|seat| seat as _)
    }

    fn report_wait(&mut self, place: WaitPlace) {
        if let Some(seat) = self.seat() {
            seat.report_wait(place, self.poll_state(), || self.engine.unexpected());
        }
    }
}

impl OfiEndpoint {
    /// Returns this rank's seat, if the launcher of its host has started it.
    pub(super) fn seat(&self) -> Option<&Seat> {
        self.launched.as_ref().map(|here| &here.seat).or(self.outer.seat())
    }

    /// Returns whether the poll in progress notes what this rank waits for.
    pub(super) fn is_noting_waits(&self) -> bool {
        self.seat().is_some_and(Seat::is_noting_waits)
    }

    /// Notes in such a poll what a request waits for.
    pub(super) fn note_request(&self, request: Request) {
        if let Some(seat) = self.seat().filter(|seat| seat.is_noting_waits())
            && let Some(awaited) = self.engine.awaited_by(request)
        {
            seat.note_awaited(|| awaited);
        }
    }

    /// Notes in such a poll a message that is probed for.
    pub(super) fn note_probe(&self, selector: Selector) {
        if let Some(seat) = self.seat() {
            seat.note_awaited(|| Awaited::Message(selector));
        }
    }
}

fn wait_readable(descriptors: &[std::os::fd::BorrowedFd<'_>], limit: Duration) {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    let mut entries: Vec<PollFd<'_>> =
        descriptors.iter().map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN)).collect();
    // After an interruption, the caller polls again.
    let _ = poll(&mut entries, Some(&limit));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_descriptor_a_rank_yields_and_then_sleeps_for_increasing_times() {
        let mut pace = Pace::default();
        assert_eq!(pace.next(false), Pause::Sleep);
        assert_eq!(pace.timed_sleep(), None);
        pace.sleeps = YIELDS;
        let times = [0, 1, 5, 6, 60].map(|more| {
            pace.sleeps = YIELDS + more;
            pace.timed_sleep().map_or(0, |length| length.as_micros())
        });
        assert_eq!(times, [20, 40, 640, 1000, 1000]);
    }

    #[test]
    fn a_rank_with_a_processor_spins_and_checks_and_sleeps_in_the_end() {
        let mut pace = Pace::default();
        let first: Vec<Pause> = (0..POLLS).map(|_| pace.next(true)).collect();
        assert!(first[..POLLS as usize - 1].iter().all(|&pause| pause == Pause::Poll));
        std::thread::sleep(SPIN);
        assert!((0..POLLS).any(|_| pace.next(true) == Pause::Sleep));
    }
}
