//! Waiting. A rank with a processor of its own first spins for a while; other ranks yield at once. Then a rank sleeps
//! until the provider's descriptor or a connection becomes readable. A provider without a descriptor is polled between
//! short sleeps.

use std::os::fd::AsFd;
use std::time::Duration;

use contract::{Awaited, LongWaits, Request, Result, Selector, TimeSpan, WaitPlace, WaitReports};
use launcher::{Backoff, BackoffStep, LONGEST_SLEEP, LONGEST_TIMED_SLEEP, Seat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::OfiEndpoint;

/// Polls between two polls of the connections.
pub(super) const POLLS: u32 = 16;
/// At the end of a run, neither descriptor need become readable for the awaited event.
const BRIEF_SLEEP: Duration = Duration::from_millis(2);

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

impl OfiEndpoint {
    /// Waits until `done` returns true. Fails if there are `requests` and none of them can ever end.
    pub(super) fn wait_for(
        &mut self,
        sleep: Sleep,
        requests: &[Request],
        done: &mut dyn FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        let mut backoff = Backoff::on_descriptors(self.spins);
        let outcome = self.wait_and_report(sleep, requests, done, &mut backoff);
        if backoff.is_reported() {
            self.seat().into_iter().for_each(Seat::end_wait_reports);
        }
        outcome
    }

    fn wait_and_report(
        &mut self,
        sleep: Sleep,
        requests: &[Request],
        done: &mut dyn FnMut(&mut Self) -> bool,
        backoff: &mut Backoff,
    ) -> Result<()> {
        let mut reports = false;
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
                backoff.reset();
                continue;
            }
            let step = backoff.wait();
            if step == BackoffStep::Poll {
                continue;
            }
            self.check_wait(requests)?;
            if step == BackoffStep::Sleep {
                let (timed_sleep, next) = (backoff.timed_sleep(), backoff.next_sleep());
                let limit = if sleep == Sleep::Long { Sleep::AtMost(next) } else { sleep };
                self.sleep_on_descriptor_or_for(limit, timed_sleep)?;
                self.waits_long = backoff.is_long();
                if self.waits_long {
                    // Unexpected messages may fill the provider, so that the awaited one cannot arrive.
                    let drained = self.engine.drain();
                    self.known(drained)?;
                }
                if sleep == Sleep::Long && backoff.is_report_due() {
                    self.seat().into_iter().for_each(Seat::begin_wait_report);
                    backoff.note_reported();
                    reports = true;
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
