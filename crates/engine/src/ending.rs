//! Ranks that leave: requests that can never complete without them, and the end of this rank's own part.

use contract::{Error, Request, Result, Selector};

use crate::transfer::Direction;
use crate::{MessageEngine, PeerState, Poll, Transport};

impl<T: Transport> MessageEngine<T> {
    /// Fails if the run was aborted.
    #[inline]
    pub(crate) fn check_aborted(&mut self) -> Result<()> {
        match self.transport.abort_reason() {
            None => Ok(()),
            Some(error) => Err(self.fail(error)),
        }
    }

    /// Fails if the run was aborted, or if none of `requests` can ever complete because the ranks they need have ended.
    ///
    /// # Errors
    /// These errors, which are permanent.
    pub fn check_run(&mut self, requests: &[Request]) -> Result<()> {
        self.check_aborted()?;
        self.transport.check(&mut self.messages)?;
        let Some(&first) = requests.first() else { return Ok(()) };
        if self.any_can_end(requests) {
            return Ok(());
        }
        // What they sent before they ended may have arrived since the last poll.
        self.poll_for(Poll::Everything(None))?;
        if self.any_can_end(requests) {
            return Ok(());
        }
        let error = self.describe_failed_wait(first);
        Err(self.fail(error))
    }

    fn any_can_end(&self, requests: &[Request]) -> bool {
        !requests.iter().all(|&one| self.cannot_complete(one) || self.waits_for_itself(one))
    }

    /// Returns whether `rank` will never again send or receive anything that this rank can wait for. A rank that has
    /// only left still takes part in joint work, and a rank that has left itself waits for nothing else.
    fn has_ended(&self, rank: usize) -> bool {
        rank != self.rank()
            && match self.transport.state(rank) {
                PeerState::Running => false,
                PeerState::Left => !self.messages.has_left,
                PeerState::Ended | PeerState::Lost => true,
            }
    }

    /// Returns whether a request in progress can never complete because the ranks that it needs have ended. What they
    /// sent before may have arrived since the last poll.
    pub fn cannot_complete(&self, request: Request) -> bool {
        let transfer = &self.messages.transfers[request];
        match transfer.direction {
            _ if transfer.done => false,
            Direction::Send { to } => {
                self.has_ended(to as usize) && !self.transport.is_writing(to as usize)
            }
            Direction::Access { to } => self.has_ended(to as usize),
            Direction::Receive(_) if transfer.is_matched() => {
                // Its data were still to come.
                let source = transfer.envelope.source as usize;
                source != self.rank()
                    && matches!(self.transport.state(source), PeerState::Ended | PeerState::Lost)
            }
            Direction::Receive(selector) => self.none_will_send(&selector),
        }
    }

    /// Returns whether all ranks that could send what `selector` accepts have ended.
    pub fn none_will_send(&self, selector: &Selector) -> bool {
        match selector.source {
            Some(source) => self.has_ended(source as usize),
            None => {
                self.size() > 1
                    && (0..self.size()).all(|rank| rank == self.rank() || self.has_ended(rank))
            }
        }
    }

    /// Returns whether a request waits for a call of this very rank, which cannot come while it waits.
    fn waits_for_itself(&self, request: Request) -> bool {
        let transfer = &self.messages.transfers[request];
        let own = self.rank() as u32;
        T::FAILS_WAITS_FOR_ITSELF
            && !transfer.done
            && match transfer.direction {
                Direction::Send { to } => to == own,
                Direction::Access { .. } => false,
                Direction::Receive(_) if transfer.is_matched() => false,
                Direction::Receive(selector) => match selector.source {
                    Some(source) => source == own,
                    None => self.size() == 1,
                },
            }
    }

    /// Returns whether a wait must check whether its requests can still complete: once any rank has left, and while the
    /// launcher asks what this rank waits for.
    #[inline]
    pub fn any_has_left(&self) -> bool {
        self.is_noting_waits() || self.messages.has_left || self.transport.any_has_left()
    }

    /// Returns the error of a request that cannot complete. Every later call returns this error too, unless the
    /// rank that it needs is one of another run.
    pub fn give_up_on(&mut self, request: Request) -> Error {
        let error = self.describe_failed_wait(request);
        if self.transport.is_one_run() { self.fail(error) } else { error }
    }

    fn describe_failed_wait(&self, request: Request) -> Error {
        let transfer = &self.messages.transfers[request];
        let me = self.rank();
        let error = match transfer.direction {
            Direction::Send { to } => Error::never_received(me, to as usize, &transfer.envelope),
            Direction::Receive(selector) => {
                let unexpected = self.messages.unexpected.envelopes().copied();
                Error::never_sent(me, self.size(), &selector, unexpected)
            }
            Direction::Access { to } => {
                let before = "an access to its memory was complete".into();
                Error::RankEnded { rank: to as usize, before }
            }
        };
        match error {
            // Only a process of another run, whose death does not end this one.
            Error::RankEnded { rank, before } if self.is_lost(rank) => {
                let how = match self.transport.fault(rank) {
                    None => format!("its program ended before {before}"),
                    Some(fault) => {
                        format!("it {fault}, so the connection was closed before {before}")
                    }
                };
                Error::RankDied { rank, how }
            }
            error => error,
        }
    }

    fn is_lost(&self, rank: usize) -> bool {
        !self.transport.is_one_run()
            && rank != self.rank()
            && self.transport.state(rank) == PeerState::Lost
    }

    /// Declares that this rank sends and receives no messages of its own any more, behind everything that it has sent.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn leave(&mut self) -> Result<()> {
        self.check()?;
        if !self.messages.has_left {
            self.complete(|engine| !engine.transport.has_queued())?;
            self.transport.leave(&mut self.messages)?;
            self.messages.has_left = true;
        }
        Ok(())
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub fn is_sending(&self) -> bool {
        let may_take = |to: usize| {
            to != self.rank()
                && (self.transport.state(to) == PeerState::Running || self.transport.is_writing(to))
        };
        self.messages.transfers.outgoing().any(may_take)
    }

    /// Completes the sends that may still be received.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn complete_sends(&mut self) -> Result<()> {
        self.check()?;
        self.complete(|engine| !engine.is_sending())
    }

    /// Makes progress until `done` returns true.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn complete(&mut self, done: impl Fn(&Self) -> bool) -> Result<()> {
        if done(self) {
            return Ok(());
        }
        MessageEngine::wait_until(self, |engine| engine, &mut |engine| done(engine))
    }

    /// Ends this rank's part of the run: completes what is in progress together with all others, reports the outcome, and
    /// returns the status that the process should exit with.
    pub fn finish(mut self, outcome: Result<()>) -> i32 {
        // The program's report of another rank's death must not hide its cause.
        let outcome = outcome.map_err(|error| {
            let reason = self.check().err().or_else(|| self.transport.abort_reason());
            reason.filter(Error::is_by_another).unwrap_or(error)
        });
        let outcome = outcome.and_then(|()| self.end_together());
        self.transport.close(outcome)
    }

    /// Completes what is in progress together with all others, before [`close`](Transport::close).
    ///
    /// # Errors
    /// Permanent errors.
    pub fn end_together(&mut self) -> Result<()> {
        self.leave()?;
        self.complete_sends()?;
        let mut ended = Ok(false);
        MessageEngine::wait_until(self, |engine| engine, &mut |engine| {
            let MessageEngine { transport, messages, .. } = engine;
            ended = transport.advance_end(messages);
            !matches!(ended, Ok(false))
        })?;
        ended.map(drop)
    }
}
