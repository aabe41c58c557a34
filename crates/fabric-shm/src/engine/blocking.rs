//! Blocking calls, and what they check while they wait. `waiting` implements the wait itself.

use contract::{Completion, Destination, Envelope, Error, Readable, Request, Result, Selector};

use super::Engine;
use super::operation::Direction;
use launcher::State;
use launcher::{Backoff, BackoffStep};

/// Number of polls of the source's ring with which a blocking receive begins: some microseconds.
pub(crate) const FIRST_POLLS: u32 = if cfg!(loom) { 1 } else { 2000 };

/// Number of messages of one window in flight at once. More would only fill the receiver's queue.
const WINDOW: usize = 64;

impl Engine {
    /// Sends, and returns when `data` may be changed.
    #[inline]
    pub(crate) fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        self.check_alive()?;
        if to.rank != self.me && self.send_now(to, data) {
            return Ok(());
        }
        // SAFETY: `data` is borrowed until this call returns. By then the request has ended, or the engine has failed
        // and no longer accesses it.
        let lent = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let request = self.start_send(to, lent, Completion::Local)?;
        if to.rank == self.me && !self.operations[request].done {
            let Destination { rank, tag, .. } = to;
            return Err(self.fail(Error::Deadlock {
                explanation: format!(
                    "rank {rank} sends {} bytes to itself with tag {tag}, and has posted no receive for them",
                    data.len()
                ),
            }));
        }
        self.wait(request).map(drop)
    }

    /// Sends if the whole message goes into the ring at once. Otherwise returns false and has no effect.
    #[inline(always)]
    pub(crate) fn send_at_once(&mut self, to: Destination, data: &[u8]) -> Result<bool> {
        self.check_alive()?;
        Ok(to.rank != self.me && self.send_now(to, data))
    }

    /// Sends `data` `count` times, with up to [`WINDOW`] messages in flight.
    pub(crate) fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        self.check_alive()?;
        let mut pending = [None; WINDOW];
        for index in 0..count {
            if to.rank != self.me && self.send_now(to, data) {
                continue;
            }
            // SAFETY: as in `send`; the loop below waits for every request.
            let lent = unsafe { Readable::new(data.as_ptr(), data.len()) };
            let next = self.start_send(to, lent, Completion::Local)?;
            if let Some(oldest) = pending[index % WINDOW].replace(next) {
                self.wait(oldest)?;
            }
        }
        for request in pending.into_iter().flatten() {
            self.wait(request)?;
        }
        Ok(())
    }

    /// Receives into `buffer`.
    #[inline]
    pub(crate) fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.check_alive()?;
        let polls = if self.choices.every_rank_has_a_processor { FIRST_POLLS } else { 1 };
        if let Some(envelope) = self.receive_now(&selector, buffer, polls) {
            return Ok(envelope);
        }
        // SAFETY: as in `send`.
        let request = unsafe { self.start_receive(selector, buffer.as_mut_ptr(), buffer.len()) }?;
        self.wait(request)
    }

    /// Sends and receives at the same time.
    pub(crate) fn send_receive(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        // SAFETY: as in `send`; both requests have ended when this returns without an error.
        let (data, receive) = unsafe {
            let data = Readable::new(data.as_ptr(), data.len());
            (data, self.start_receive(selector, buffer.as_mut_ptr(), buffer.len())?)
        };
        let send = self.start_send(to, data, Completion::Local)?;
        let received = self.wait(receive)?;
        self.wait(send)?;
        Ok(received)
    }

    /// Waits for a request to end.
    pub(crate) fn wait(&mut self, request: Request) -> Result<Envelope> {
        self.wait_any(&[request])?;
        Ok(self.operations.end(request))
    }

    /// Polls, and returns whether a request is done.
    pub(crate) fn test(&mut self, request: Request) -> Result<bool> {
        self.check_alive()?;
        if !self.operations[request].done {
            self.progress(Some(request));
            if self.segment.seat().is_aborted() {
                self.check_run(&[request])?;
            }
        }
        Ok(self.operations[request].done)
    }

    /// Returns the oldest message that has arrived and that `selector` accepts.
    pub(crate) fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        self.poll()?;
        Ok(self.unexpected.find(&selector).copied())
    }

    /// Moves the oldest message that `selector` accepts to `context` and `tag`, where only receives for these match it.
    /// Returns the envelope that the message had before.
    pub(crate) fn claim(
        &mut self,
        selector: Selector,
        context: u32,
        tag: u32,
    ) -> Result<Option<Envelope>> {
        self.poll()?;
        Ok(self.unexpected.claim(&selector, context, tag))
    }

    /// Cancels a receive. Returns false if it has already matched a message.
    pub(crate) fn cancel_receive(&mut self, request: Request) -> bool {
        let cancelled = self.posted.remove(request);
        if cancelled {
            self.operations.end(request);
        }
        cancelled
    }

    /// Takes in what has arrived, and fails if the run was aborted.
    pub(crate) fn poll(&mut self) -> Result<()> {
        self.check_alive()?;
        self.progress(None);
        self.check_alive()?;
        if self.segment.seat().is_aborted() {
            self.check_run(&[])?;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn is_done(&self, request: Request) -> bool {
        self.operations[request].done
    }

    /// Returns the envelope of a request that is done.
    #[inline]
    pub(crate) fn envelope_of(&self, request: Request) -> Envelope {
        self.operations[request].envelope
    }

    /// Frees a request that is done, and returns its envelope.
    #[inline]
    pub(crate) fn end(&mut self, request: Request) -> Envelope {
        self.operations.end(request)
    }

    /// Completes the sends in progress whose receivers still run.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.check_alive()?;
        let pending: Vec<Request> = self.operations.iter_sends().map(|(send, _)| send).collect();
        for send in pending {
            let Direction::Send { to } = self.operations[send].direction else { continue };
            let mut backoff = Backoff::in_memory(false);
            while !self.operations[send].done
                && matches!(self.segment.seat().state(to as usize), State::Alive | State::Leaving)
                && to as usize != self.me
            {
                self.progress(None);
                if backoff.wait() == BackoffStep::Sleep {
                    self.check_run(&[])?;
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
            }
        }
        Ok(())
    }

    /// Fails if the run was aborted, or if none of `requests` can ever complete because the ranks they need have ended.
    pub(super) fn check_run(&mut self, requests: &[Request]) -> Result<()> {
        if self.segment.seat().is_aborted() {
            let error = self.segment.seat().abort_error();
            return Err(self.fail(error));
        }
        self.check_calls()?;
        let Some(&first) = requests.first() else { return Ok(()) };
        if !requests.iter().all(|&request| self.is_hopeless(request)) {
            return Ok(());
        }
        // What they sent before they ended may have arrived since the last poll.
        self.progress(None);
        if self.first_done(requests).is_some() {
            return Ok(());
        }
        let error = self.describe_hopeless(first);
        Err(self.fail(error))
    }

    /// Returns whether `rank` will never again send or receive anything that this rank can wait for. A rank that is
    /// only leaving still takes part in joint work, and a rank that is leaving itself waits for nothing else.
    fn has_ended(&self, rank: usize) -> bool {
        let state = |rank| self.segment.seat().state(rank);
        rank != self.me
            && match state(rank) {
                State::Finished => true,
                State::Leaving => state(self.me) != State::Leaving,
                _ => false,
            }
    }

    /// Returns whether a request in progress can never complete because the ranks that it needs have ended. What they
    /// sent before may have arrived since the last poll.
    pub(crate) fn is_hopeless(&self, request: Request) -> bool {
        match self.operations[request].direction {
            _ if self.operations[request].done => false,
            Direction::Send { to } => self.has_ended(to as usize),
            Direction::Receive(selector) => self.none_will_send(selector),
        }
    }

    /// Returns whether all ranks that could send what `selector` accepts have ended.
    pub(crate) fn none_will_send(&self, selector: Selector) -> bool {
        match selector.source {
            Some(source) => self.has_ended(source as usize),
            None => {
                self.size() > 1
                    && (0..self.size()).all(|rank| rank == self.me || self.has_ended(rank))
            }
        }
    }

    /// Declares that this rank sends and receives no messages of its own any more. Before the others see that,
    /// everything that it has sent is in its rings.
    pub(crate) fn leave(&mut self) -> Result<()> {
        let mut backoff = Backoff::in_memory(false);
        while !self.queued.is_empty() {
            self.poll()?;
            if backoff.wait() == BackoffStep::Sleep {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        }
        self.segment.seat().leave();
        Ok(())
    }

    /// Returns whether a wait must check whether its requests are hopeless: once any rank has left, and while the
    /// launcher asks what this rank waits for.
    #[inline]
    pub(crate) fn any_has_left(&self) -> bool {
        self.segment.seat().is_noting_waits() || self.segment.seat().has_any_left()
    }

    /// Returns the error of a hopeless request. Every later call returns this error too.
    pub(crate) fn give_up_on(&mut self, request: Request) -> Error {
        let error = self.describe_hopeless(request);
        self.fail(error)
    }

    fn describe_hopeless(&self, request: Request) -> Error {
        let operation = &self.operations[request];
        let name = |rank: u32| self.name_of(rank as usize) as u32;
        let me = self.name_of(self.me);
        match operation.direction {
            Direction::Send { to } => {
                Error::never_received(me, name(to) as usize, &operation.envelope)
            }
            Direction::Receive(selector) => {
                let named = Selector { source: selector.source.map(name), ..selector };
                let unexpected = self.unexpected.envelopes();
                let unexpected =
                    unexpected.map(|one| Envelope { source: name(one.source), ..*one });
                Error::never_sent(me, self.size(), &named, unexpected)
            }
        }
    }
}
