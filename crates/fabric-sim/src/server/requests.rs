//! The requests of a process, one after the other: those with a reply, and those that the process does not wait for.

use contract::{ContextPlace, Endpoint, Error, Request, Result, TimeSpan};
use fabric_proxy::wire::message::{self, Data};
use fabric_proxy::wire::request::{Before, ProcessRequest, RequestHead};

use super::{Outcome, SLEEP, Server};
use crate::endpoint::SimEndpoint;
use crate::processes::{Call, Step, is_of_collectives};

impl<'a> Server<'a> {
    /// Returns the next request with a reply, or the result of a poll. Executes the requests without reply before it.
    pub(super) fn next(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
    ) -> Result<(ProcessRequest, Data<'a>)> {
        loop {
            let (request, data) = self.next_of_any(endpoint)?;
            if self.at.is_none() || matches!(request, ProcessRequest::Polled(_)) {
                return Ok((request, data));
            }
            let failed = match self.attempt(endpoint, request, data)? {
                Err(Outcome::Failed(error)) => Some(error),
                Ok(_) | Err(Outcome::Replied) => None,
            };
            self.deferred_error = self.deferred_error.take().or(failed);
        }
    }

    /// Waits for the next part of the buffer with a request. Returns whether the computing time before it has passed.
    fn await_message(&mut self, endpoint: &mut SimEndpoint<'_>) -> Result<bool> {
        if self.at.take_if(|at| *at >= self.line.bytes()).is_some() {
            // The server has taken the turn of a process that continues.
            self.line.give_back();
        }
        if self.at.is_some() {
            return Ok(false);
        }
        let has_passed = endpoint.compute_concurrently();
        while !self.line.await_request(SLEEP) && !self.line.take_open() {
            self.processes.check()?;
        }
        Ok(has_passed)
    }

    /// Returns the next request, after the computing time of the process.
    fn next_of_any(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
    ) -> Result<(ProcessRequest, Data<'a>)> {
        let has_passed = self.await_message(endpoint)?;
        let read = message::read::<RequestHead<'_>>(self.line, self.at.unwrap_or(0));
        let unknown = || Error::Program("a process made a request that nobody knows".into());
        let read =
            read.ok_or_else(unknown).inspect_err(|error| self.processes.note_fatal(error))?;
        let RequestHead { before, ended, request } = read.head;
        let Before { is_deferred, computed_ns, polled } = before;
        self.at = is_deferred.then_some(read.end);
        ended.iter().for_each(|&one| self.end_request(endpoint, one));
        let request = request.into_owned();
        let step = self.step(&request);
        let span = self
            .computing
            .before(step, computed_ns)
            .inspect_err(|error| self.processes.note_fatal(error))?;
        if !has_passed && span + polled > TimeSpan::ZERO {
            endpoint.occupy(span + polled);
        }
        if span > TimeSpan::ZERO {
            self.notes.computed(span);
            self.account.computing = self.account.computing + span;
        }
        self.account.calls += 1;
        Ok((request, read.data))
    }

    /// Ends an operation that the process has ended.
    fn end_request(&mut self, endpoint: &mut SimEndpoint<'_>, own: Request) {
        // The process has only ended operations that were done, and so had begun.
        if let Ok(request) = self.operations.of_endpoint(own) {
            let envelope = endpoint.end(request);
            self.operations.forget(own);
            self.notes.ended(request, &envelope);
        }
    }

    /// Returns the meaning of a request for recorded computing.
    fn step(&mut self, request: &ProcessRequest) -> Step {
        use ProcessRequest as Process;
        let context = match *request {
            Process::PostSend { to, .. } => Some(to.context),
            Process::PostReceive { selector, .. } => Some(selector.context),
            _ => None,
        };
        if context.is_some_and(is_of_collectives) || self.notes.is_librarys() {
            return Step::Other;
        }
        let step = match *request {
            Process::PostSend { .. } | Process::Send(_) => Step::Call(Call::Send),
            Process::PostReceive { .. } | Process::Receive { .. } => Step::Call(Call::Receive),
            Process::Exchange { .. } => Step::Call(Call::Exchange),
            Process::Collective(ContextPlace::WORLD, _) => Step::Call(Call::Collective),
            Process::WaitUntilTime(_) => Step::Call(Call::Sleep),
            Process::WaitAny(_) | Process::WaitUntil => Step::Wait,
            Process::Finish { error: None, .. } => Step::End,
            _ => Step::Other,
        };
        if matches!(step, Step::Call(_)) {
            self.notes.leave_collective();
        }
        step
    }
}
