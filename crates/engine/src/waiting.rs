//! Waits: they poll, yield, sleep, and report to the launcher once a wait is long.

use std::time::Duration;

use contract::{Request, Result, WaitPlace};
use launcher::{Backoff, BackoffStep, is_liveness_check_due};

use crate::{MessageEngine, Poll, Transport};

impl<T: Transport> MessageEngine<T> {
    /// Waits until one of several requests is done. Returns its index, the lowest if several are.
    ///
    /// # Errors
    /// Permanent errors; among them, that none of the requests can ever end.
    pub fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.check()?;
        let mut backoff = self.transport.backoff(self.own_processor);
        loop {
            if let Some(index) = self.first_done(requests) {
                self.end_reports(&backoff);
                return Ok(index);
            }
            let before = self.transport.activity();
            self.poll_for(Poll::Waiting(only(requests)))?;
            if self.transport.activity() != before {
                backoff.reset();
                continue;
            }
            if self.first_done(requests).is_some() {
                continue;
            }
            match backoff.wait() {
                BackoffStep::Poll => {}
                BackoffStep::CheckLiveness => self.check_run(requests)?,
                BackoffStep::HasYielded => {
                    self.check_run(requests)?;
                    self.transport.note_long_wait();
                }
                BackoffStep::ReportWait => {
                    self.poll_for(Poll::Everything(None))?;
                    self.check_run(requests)?;
                    if self.first_done(requests).is_none() {
                        self.report_wait_for(requests, &mut backoff);
                    }
                }
                BackoffStep::Sleep => self.sleep_for(requests, &mut backoff)?,
            }
        }
    }

    fn sleep_for(&mut self, requests: &[Request], backoff: &mut Backoff) -> Result<()> {
        let polls_first = self.transport.announce_sleep() || backoff.reports_before_sleep();
        let polled = if polls_first { self.poll_for(Poll::Everything(None)) } else { Ok(()) };
        let checked = polled.and_then(|()| self.check_run(requests));
        if checked.is_err() || self.first_done(requests).is_some() {
            self.transport.stay_awake();
            return checked;
        }
        if backoff.reports_before_sleep() {
            self.report_wait_for(requests, backoff);
        }
        let limit = backoff.next_sleep();
        backoff.note_sleep(self.sleep(limit)?);
        Ok(())
    }

    /// Waits until `done` returns true while the engine of `owner` makes progress. `done` is called after every poll,
    /// may use the engine, and must not wait itself.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn wait_until<O>(
        owner: &mut O,
        engine: fn(&mut O) -> &mut MessageEngine<T>,
        done: &mut dyn FnMut(&mut O) -> bool,
    ) -> Result<()> {
        engine(owner).check()?;
        let this = engine(owner);
        let mut backoff = this.transport.backoff(this.own_processor);
        engine(owner).waits_long = false;
        let outcome = MessageEngine::wait_with(&mut backoff, owner, engine, done);
        let this = engine(owner);
        this.waits_long = false;
        this.end_reports(&backoff);
        outcome
    }

    fn wait_with<O>(
        backoff: &mut Backoff,
        owner: &mut O,
        engine: fn(&mut O) -> &mut MessageEngine<T>,
        done: &mut dyn FnMut(&mut O) -> bool,
    ) -> Result<()> {
        loop {
            let before = engine(owner).transport.activity();
            engine(owner).poll_for(Poll::Waiting(None))?;
            if done(owner) {
                return Ok(());
            }
            // What `done` has moved counts as well: it may not have seen that this was what it waits for.
            if engine(owner).transport.activity() != before {
                engine(owner).check()?;
                backoff.reset();
                continue;
            }
            match backoff.wait() {
                BackoffStep::Poll => {}
                BackoffStep::CheckLiveness => engine(owner).check_run(&[])?,
                BackoffStep::HasYielded => {
                    engine(owner).check_run(&[])?;
                    engine(owner).transport.note_long_wait();
                }
                BackoffStep::ReportWait => {
                    engine(owner).check_run(&[])?;
                    if MessageEngine::poll_and_report(backoff, owner, engine, done)? {
                        return Ok(());
                    }
                }
                BackoffStep::Sleep => {
                    if MessageEngine::sleep_until(backoff, owner, engine, done)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Sleeps, if the wait is not over. Returns whether it is.
    fn sleep_until<O>(
        backoff: &mut Backoff,
        owner: &mut O,
        engine: fn(&mut O) -> &mut MessageEngine<T>,
        done: &mut dyn FnMut(&mut O) -> bool,
    ) -> Result<bool> {
        let before = engine(owner).transport.activity();
        let polls_first = engine(owner).transport.announce_sleep();
        let is_over = if backoff.reports_before_sleep() {
            MessageEngine::poll_and_report(backoff, owner, engine, done)
        } else if polls_first {
            engine(owner).poll().map(|()| done(owner))
        } else {
            engine(owner).check_run(&[]).map(|()| false)
        };
        if !matches!(is_over, Ok(false)) || engine(owner).transport.activity() != before {
            engine(owner).transport.stay_awake();
            return is_over;
        }
        let limit = backoff.next_sleep();
        let ran_out = engine(owner).sleep(limit)?;
        engine(owner).waits_long |= ran_out.is_some();
        backoff.note_sleep(ran_out);
        Ok(false)
    }

    /// Polls for everything and reports to the launcher if the poll was idle. Returns whether the wait is over.
    #[cold]
    fn poll_and_report<O>(
        backoff: &mut Backoff,
        owner: &mut O,
        engine: fn(&mut O) -> &mut MessageEngine<T>,
        done: &mut dyn FnMut(&mut O) -> bool,
    ) -> Result<bool> {
        engine(owner).begin_report();
        // The end of the wait reports a failure.
        backoff.note_reported();
        engine(owner).poll()?;
        if done(owner) {
            return Ok(true);
        }
        engine(owner).report_wait(WaitPlace::ALONE);
        Ok(false)
    }

    pub(crate) fn first_done(&self, requests: &[Request]) -> Option<usize> {
        requests.iter().position(|&request| self.is_done(request))
    }

    /// Sleeps until something may have arrived, at most for `limit`. Returns the limit that has passed, or `None`.
    fn sleep(&mut self, limit: Duration) -> Result<Option<Duration>> {
        let limit = self.longest_sleep.map_or(limit, |longest| limit.min(longest));
        let ran_out = self.transport.sleep(&mut self.messages, limit)?;
        self.check()?;
        Ok(ran_out)
    }

    /// Sleeps until something arrives, at most for `longest`: for a program that polls repeatedly. Returns whether
    /// anything has moved since the last such call; then it has not slept.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn sleep_a_while(&mut self, longest: Duration) -> Result<bool> {
        self.check()?;
        if self.take_moved() {
            return Ok(true);
        }
        self.transport.announce_sleep();
        let checked = self.poll().and_then(|()| self.check_run(&[]));
        if checked.is_err() || self.take_moved() {
            self.transport.stay_awake();
            return checked.map(|()| true);
        }
        self.sleep(longest)?;
        Ok(false)
    }

    fn take_moved(&mut self) -> bool {
        let before = std::mem::replace(&mut self.rested_at, self.transport.activity());
        self.transport.take_moved() | (before != self.rested_at)
    }

    /// Returns whether a wait that has made so many idle polls checks whether it can end.
    pub fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.waits_long || is_liveness_check_due(polls, self.own_processor)
    }
}

/// Returns the request that a wait is for, if it is exactly one.
fn only(requests: &[Request]) -> Option<Request> {
    match requests {
        [request] => Some(*request),
        _ => None,
    }
}
