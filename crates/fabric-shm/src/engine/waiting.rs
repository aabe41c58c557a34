//! The waits of blocking calls: they poll, yield, sleep, and report to the launcher once a wait is long.

use std::time::Duration;

use contract::{Request, Result, WaitPlace};
use launcher::{Backoff, BackoffStep};

use super::Engine;

impl Engine {
    /// Waits until one of several requests is done. Returns its index, the lowest if several are.
    pub(crate) fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.check_alive()?;
        let mut backoff = Backoff::in_memory(self.choices.every_rank_has_a_processor);
        loop {
            if let Some(index) = self.first_done(requests) {
                if backoff.is_reported() {
                    self.seat().end_wait_reports();
                }
                return Ok(index);
            }
            self.progress_in_a_wait(only(requests));
            self.check_alive()?;
            if self.first_done(requests).is_some() {
                continue;
            }
            match backoff.wait() {
                BackoffStep::Poll => {}
                BackoffStep::CheckLiveness => self.check_run(requests)?,
                BackoffStep::HasYielded => {
                    self.check_run(requests)?;
                    self.stay_apart();
                }
                BackoffStep::ReportWait => {
                    self.progress(None);
                    self.check_run(requests)?;
                    if self.first_done(requests).is_none() {
                        self.report_wait_for(requests, &mut backoff);
                    }
                }
                BackoffStep::Sleep => self.sleep_for(requests, &mut backoff)?,
            }
        }
    }

    /// Waits until `done` returns true while the engine of `owner` makes progress. `done` is called after every poll,
    /// may use the engine, and must not wait itself.
    pub(crate) fn wait_until<T>(
        owner: &mut T,
        engine: fn(&mut T) -> &mut Engine,
        done: &mut dyn FnMut(&mut T) -> bool,
    ) -> Result<()> {
        let mut backoff = Backoff::in_memory(engine(owner).choices.every_rank_has_a_processor);
        let outcome = Engine::wait_with(&mut backoff, owner, engine, done);
        if backoff.is_reported() {
            engine(owner).seat().end_wait_reports();
        }
        outcome
    }

    fn wait_with<T>(
        backoff: &mut Backoff,
        owner: &mut T,
        engine: fn(&mut T) -> &mut Engine,
        done: &mut dyn FnMut(&mut T) -> bool,
    ) -> Result<()> {
        loop {
            engine(owner).progress_in_a_wait(None);
            engine(owner).check_alive()?;
            if done(owner) {
                return Ok(());
            }
            match backoff.wait() {
                BackoffStep::Poll => {}
                BackoffStep::CheckLiveness => engine(owner).check_run(&[])?,
                BackoffStep::HasYielded => {
                    engine(owner).check_run(&[])?;
                    engine(owner).stay_apart();
                }
                BackoffStep::ReportWait => {
                    engine(owner).check_run(&[])?;
                    if Engine::poll_and_report(backoff, owner, engine, done)? {
                        return Ok(());
                    }
                }
                BackoffStep::Sleep => {
                    let me = engine(owner);
                    me.seat().announce_sleep();
                    let polled = match backoff.reports_before_sleep() {
                        true => Engine::poll_and_report(backoff, owner, engine, done),
                        false => me.poll().map(|()| done(owner)),
                    };
                    if !matches!(polled, Ok(false)) {
                        engine(owner).seat().stay_awake();
                        return polled.map(drop);
                    }
                    backoff.note_sleep(engine(owner).sleep());
                }
            }
        }
    }

    /// Polls for everything and reports to the launcher if the poll was idle. Returns whether the wait is over.
    #[cold]
    fn poll_and_report<T>(
        backoff: &mut Backoff,
        owner: &mut T,
        engine: fn(&mut T) -> &mut Engine,
        done: &mut dyn FnMut(&mut T) -> bool,
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

    pub(super) fn first_done(&self, requests: &[Request]) -> Option<usize> {
        requests.iter().position(|&request| self.operations[request].done)
    }

    fn sleep_for(&mut self, requests: &[Request], backoff: &mut Backoff) -> Result<()> {
        self.seat().announce_sleep();
        self.progress(None);
        let checked = self.check_run(requests);
        if checked.is_err() || self.first_done(requests).is_some() {
            self.seat().stay_awake();
            return checked;
        }
        if backoff.reports_before_sleep() {
            self.report_wait_for(requests, backoff);
        }
        backoff.note_sleep(self.sleep());
        Ok(())
    }

    /// Sleeps until something arrives, at most for `longest`: for a program that polls repeatedly. Returns whether
    /// anything has moved since the last such call; then it has not slept.
    pub(crate) fn sleep_a_while(&mut self, longest: Duration) -> Result<bool> {
        let has_moved = self.idle_polls == 0;
        self.idle_polls = self.idle_polls.max(1);
        if has_moved {
            return Ok(true);
        }
        self.seat().announce_sleep();
        let checked = self.poll().and_then(|()| self.check_run(&[]));
        if checked.is_err() || self.idle_polls == 0 {
            self.seat().stay_awake();
            return checked.map(|()| true);
        }
        self.seat().sleep(longest.min(self.longest_sleep));
        Ok(false)
    }

    /// Sleeps until something wakes this rank. Returns the limit of the sleep if that has passed.
    fn sleep(&self) -> Option<Duration> {
        self.seat().sleep(self.longest_sleep).then_some(self.longest_sleep)
    }

    #[cold]
    fn report_wait_for(&mut self, requests: &[Request], backoff: &mut Backoff) {
        self.begin_report();
        backoff.note_reported();
        requests.iter().for_each(|&request| self.note_request(request));
        self.report_wait(WaitPlace::ALONE);
    }
}

/// Returns the request that a wait is for, if it is exactly one.
fn only(requests: &[Request]) -> Option<Request> {
    match requests {
        [request] => Some(*request),
        _ => None,
    }
}
