//! Polls and waits.

use std::time::Duration;

use contract::{Request, Result, WaitPlace};
use launcher::{Backoff, BackoffStep, Seat};

use super::operation::Operation;
use super::{Connection, Engine};

/// Number of polls of one connection between two polls of all.
const POLLS: u32 = 16;

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
        let mut backoff = Backoff::on_descriptors(self.spins);
        while !done(self) {
            if self.poll_with(partner)? {
                backoff.reset();
                continue;
            }
            let step = backoff.wait();
            if step == BackoffStep::Poll {
                continue;
            }
            if let Some(error) = self.why_none_can_end(requests) {
                return Err(self.fail(error));
            }
            if step == BackoffStep::Sleep
                && !self.sleep(backoff.next_sleep())?
                && backoff.is_report_due()
            {
                self.supervision.seat().into_iter().for_each(Seat::begin_wait_report);
                requests.iter().for_each(|&request| self.note_request(request));
                self.report_wait(WaitPlace::ALONE);
                backoff.note_reported();
            }
        }
        if backoff.is_reported() {
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
