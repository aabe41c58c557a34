//! Polls and waits.

use std::time::{Duration, Instant};

use contract::{Request, Result, WaitPlace};
use launcher::Seat;

use super::operation::Operation;
use super::{Connection, Engine};

/// Duration of the polling of a call before it sleeps, if every rank has a processor: longer than a message takes
/// between two hosts in one room, short enough not to be noticed.
const SPIN: Duration = Duration::from_micros(200);
/// Number of polls between two readings of the clock, and between two polls of all connections.
const POLLS: u32 = 16;
/// Limit of the first sleep of a wait. Each further limit may be twice as long. A rank then checks early whether its
/// wait can end, and a long wait makes few checks.
const SHORTEST_SLEEP: Duration = Duration::from_millis(5);
/// Maximum interval at which a sleeping rank checks whether the run was aborted.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// The backoff of a wait after idle polls.
#[derive(Default)]
pub(crate) struct Backoff {
    idle_polls: u32,
    idle_since: Option<Instant>,
    sleeps: u32,
    /// True if the long wait was reported to the launcher, so that its end must be reported too.
    pub(crate) is_reported: bool,
}

/// The next action of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Poll again at once.
    Poll,
    /// Check whether the wait can end, then poll again.
    CheckLiveness,
    /// Check whether the wait can end, then sleep.
    Sleep,
}

impl Backoff {
    /// Returns the action after one more idle poll of a rank that may spin or not.
    pub(crate) fn next(&mut self, spins: bool) -> Pause {
        self.idle_polls += 1;
        if !spins {
            return Pause::Sleep;
        }
        if !self.idle_polls.is_multiple_of(POLLS) {
            return Pause::Poll;
        }
        match self.idle_since.get_or_insert_with(Instant::now).elapsed() < SPIN {
            true => Pause::CheckLiveness,
            false => Pause::Sleep,
        }
    }

    /// Returns the limit of the next sleep.
    pub(crate) fn next_sleep(&mut self) -> Duration {
        // Five doublings of the shortest exceed the longest.
        let limit = SHORTEST_SLEEP * (1 << self.sleeps.min(5));
        self.sleeps += 1;
        limit.min(LONGEST_SLEEP)
    }

    /// Returns whether the last sleep was one of the longest.
    pub(crate) fn is_long(&self) -> bool {
        self.sleeps > 5
    }

    /// Restarts the backoff after a successful poll.
    pub(crate) fn reset(&mut self) {
        *self = Backoff { is_reported: self.is_reported, ..Backoff::default() };
    }
}

impl Engine {
    /// Waits until one of `requests` is done, and returns the lowest index of those.
    pub(crate) fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        let first_done = |engine: &Engine| requests.iter().position(|&one| engine.is_done(one));
        let mut found = 0;
        let done = |engine: &Engine| match first_done(engine) {
            Some(index) => {
                found = index;
                true
            }
            None => false,
        };
        self.wait_while_possible(requests, done)?;
        Ok(found)
    }

    /// Returns the other rank of an operation, if there is exactly one.
    pub(crate) fn partner(&self, request: Request) -> Option<usize> {
        let partner = match self.operations.get(request) {
            Operation::Send(send) => Some(send.to),
            Operation::Receive(receive) => {
                let sender = receive.envelope.map(|message| message.source);
                sender.or(receive.selector.source).map(|rank| rank as usize)
            }
        };
        partner.filter(|&rank| rank != self.rank)
    }

    /// Makes progress until `done` returns true, or until none of `requests`, if there are any, can complete. The
    /// partner of a single request is polled most often.
    pub(super) fn wait_while_possible(
        &mut self,
        requests: &[Request],
        mut done: impl FnMut(&Engine) -> bool,
    ) -> Result<()> {
        self.check()?;
        let partner = match requests {
            [request] => self.partner(*request),
            _ => None,
        };
        let mut backoff = Backoff::default();
        while !done(self) {
            if self.poll_with(partner)? {
                backoff.reset();
                continue;
            }
            let pause = backoff.next(self.spins);
            if pause == Pause::Poll {
                continue;
            }
            if let Some(error) = self.why_none_can_end(requests) {
                return Err(self.fail(error));
            }
            if pause == Pause::Sleep && !self.sleep(backoff.next_sleep())? && backoff.is_long() {
                self.supervision.seat().into_iter().for_each(Seat::begin_wait_report);
                requests.iter().for_each(|&request| self.note_request(request));
                self.report_wait(WaitPlace::ALONE);
                backoff.is_reported = true;
            }
        }
        if backoff.is_reported {
            self.supervision.seat().into_iter().for_each(Seat::end_wait_reports);
        }
        Ok(())
    }

    /// Polls the partner most of the time, and all connections from time to time. Returns whether anything moved.
    pub(crate) fn poll_with(&mut self, partner: Option<usize>) -> Result<bool> {
        self.polls = self.polls.wrapping_add(1);
        match partner {
            Some(partner) if !self.polls.is_multiple_of(POLLS) || self.size() == 2 => {
                let moved = self.serve(partner)?;
                Ok(moved | self.tend_links()?)
            }
            _ => self.poll_all(),
        }
    }

    /// Receives what has arrived from any rank, and writes as much as possible. Returns whether anything moved.
    pub(crate) fn poll_all(&mut self) -> Result<bool> {
        self.check()?;
        let moved = match self.size() {
            1 => false,
            2 => self.serve(1 - self.rank)?,
            _ => self.poll_sockets(Duration::ZERO)?,
        };
        Ok(moved | self.tend_links()?)
    }

    pub(super) fn serve(&mut self, rank: usize) -> Result<bool> {
        let has_outgoing =
            |engine: &Engine| engine.peers[rank].as_ref().is_some_and(Connection::has_outgoing);
        if has_outgoing(self) {
            self.write_to(rank)?;
        }
        let moved = self.read_from(rank)?;
        // What was read may have been the acknowledgement that a full link has waited for, which no socket reports.
        if self.reconnector.is_some() && has_outgoing(self) {
            self.write_to(rank)?;
        }
        let waits = self.peers[rank].as_ref().is_some_and(Connection::waits_to_write);
        // Of two ranks this is the only connection.
        self.may_wait_to_write = waits || self.may_wait_to_write && self.size() > 2;
        Ok(moved)
    }

    /// Sleeps until something can move, and moves it, at most for `limit`. Returns whether anything moved.
    pub(crate) fn sleep(&mut self, limit: Duration) -> Result<bool> {
        let limit = self.longest_sleep.map_or(limit, |longest| limit.min(longest));
        let moved = self.poll_sockets(self.limit_of_sleep(limit))?;
        let tended = self.tend_links()?;
        self.check_run()?;
        Ok(moved | tended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_without_a_processor_of_its_own_sleeps_at_once() {
        assert_eq!(Backoff::default().next(false), Pause::Sleep);
    }

    #[test]
    fn a_rank_that_spins_checks_liveness_now_and_then_and_sleeps_in_the_end() {
        let mut backoff = Backoff::default();
        let first: Vec<Pause> = (0..POLLS).map(|_| backoff.next(true)).collect();
        assert!(first[..POLLS as usize - 1].iter().all(|&pause| pause == Pause::Poll));
        assert_ne!(first[POLLS as usize - 1], Pause::Poll);
        std::thread::sleep(SPIN);
        let later: Vec<Pause> = (0..POLLS).map(|_| backoff.next(true)).collect();
        assert!(later.contains(&Pause::Sleep));
        backoff.reset();
        assert_eq!(backoff.next(true), Pause::Poll);
    }

    #[test]
    fn sleeps_last_longer_and_longer_up_to_a_limit() {
        let mut backoff = Backoff::default();
        let limits: Vec<u128> = (0..8).map(|_| backoff.next_sleep().as_millis()).collect();
        assert_eq!(limits, [5, 10, 20, 40, 80, 100, 100, 100]);
        backoff.reset();
        assert_eq!(backoff.next_sleep(), SHORTEST_SLEEP);
    }
}
