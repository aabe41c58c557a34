//! The requests of a process, one after the other: those with a reply, and those that the process does not wait for.

use contract::{ContextPlace, Endpoint, Error, Request, Result, TimeSpan};

use super::{Outcome, SLEEP, Server};
use crate::ask::Ask;
use crate::computing::{Call, Step, is_of_collectives};
use crate::stream::Reader;

impl<'a, E: Endpoint> Server<'a, E> {
    /// Returns the next request with a reply, or the result of a poll. Executes the requests without reply before it.
    pub(super) fn next(&mut self, endpoint: &mut E) -> Result<(Ask, Reader<'a>)> {
        loop {
            let (ask, reader) = self.next_of_any(endpoint)?;
            if self.at.is_none() || matches!(ask, Ask::Polled(_)) {
                return Ok((ask, reader));
            }
            let failed = match self.attempt(endpoint, ask, reader)? {
                Err(Outcome::Failed(error)) => Some(error),
                Ok(_) | Err(Outcome::Replied) => None,
            };
            self.deferred_error = self.deferred_error.take().or(failed);
        }
    }

    /// Waits for the next part of the buffer with a request. Returns whether the computing time before it has passed.
    fn await_part(&mut self, endpoint: &mut E) -> Result<bool> {
        if self.at.take_if(|at| *at >= self.line.bytes()).is_some() {
            // The server has taken the turn of a process that continues.
            self.line.give_back();
        }
        if self.at.is_some() {
            return Ok(false);
        }
        let has_passed = self.works.work_beside(endpoint);
        while !self.line.await_question(SLEEP) && !self.line.take_open() {
            self.host.check()?;
        }
        Ok(has_passed)
    }

    /// Returns the next request, after the computing time of the process.
    fn next_of_any(&mut self, endpoint: &mut E) -> Result<(Ask, Reader<'a>)> {
        let has_passed = self.await_part(endpoint)?;
        let (mut reader, next) = Reader::part(self.line, self.at.unwrap_or(0));
        let [deferred, computed_ns, polled_ps, ended] = reader.numbers();
        self.at = (deferred != 0).then_some(next);
        for _ in 0..ended {
            self.end_request(endpoint, Request(reader.number() as u32));
        }
        let ask = Ask::read(&mut reader);
        let ask = ask.ok_or_else(|| Error::Program("a process asked what nobody knows".into()));
        let ask = ask.inspect_err(|error| self.host.note_fatal(error))?;
        let step = self.step(&ask);
        let span = self
            .computing
            .before(step, computed_ns)
            .inspect_err(|error| self.host.note_fatal(error))?;
        let polled = TimeSpan::from_ps(polled_ps);
        if !has_passed && span + polled > TimeSpan::ZERO {
            self.works.occupy(endpoint, span + polled);
        }
        if span > TimeSpan::ZERO {
            self.notes.computed(span);
            self.account.computing = self.account.computing + span;
        }
        self.account.calls += 1;
        Ok((ask, reader))
    }

    /// Ends an operation that the process has ended.
    fn end_request(&mut self, endpoint: &mut E, own: Request) {
        // The process has only ended operations that were done, and so had begun.
        if let Ok(request) = self.requests.of_endpoint(own) {
            let envelope = endpoint.end(request);
            self.requests.forget(own);
            self.notes.ended(request, &envelope);
        }
    }

    /// Returns the meaning of a request for recorded computing.
    fn step(&mut self, ask: &Ask) -> Step {
        let context = match *ask {
            Ask::PostSend { context, .. } => Some(context),
            Ask::PostReceive { selector, .. } => Some(selector.context),
            _ => None,
        };
        if context.is_some_and(is_of_collectives) || self.notes.is_librarys() {
            return Step::Other;
        }
        let step = match *ask {
            Ask::PostSend { .. } | Ask::Send { .. } => Step::Call(Call::Send),
            Ask::PostReceive { .. } | Ask::Receive { .. } => Step::Call(Call::Receive),
            Ask::Exchange { .. } => Step::Call(Call::Exchange),
            Ask::Collective(ContextPlace::WORLD) => Step::Call(Call::Collective),
            Ask::WaitUntilTime(_) => Step::Call(Call::Sleep),
            Ask::WaitAny | Ask::WaitUntil => Step::Wait,
            Ask::Finish { failed: false, .. } => Step::End,
            _ => Step::Other,
        };
        if matches!(step, Step::Call(_)) {
            self.notes.leave_collective();
        }
        step
    }
}
