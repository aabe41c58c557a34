//! Operations for a fabric that is composed of this one, between hosts, and of another for the ranks of each host.

use std::os::fd::OwnedFd;
use std::time::Duration;

use contract::{Awaited, Envelope, Error, Request, Result};
use engine::Transport;
use launcher::{PollState, Seat};

use super::TcpEndpoint;

impl TcpEndpoint {
    /// Returns a descriptor that is readable while an unread message has arrived, or the news that the run was aborted.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn descriptor(&mut self) -> Result<OwnedFd> {
        self.engine.transport_mut().descriptor().map_err(|error| Error::System {
            what: "watching the connections".into(),
            reason: error.to_string(),
        })
    }

    /// Returns a number that the ranks of this run share and that no other run of this host has, or `None` if ranks are
    /// on several hosts.
    pub fn run_number(&self) -> Option<u64> {
        self.seat()?.run_number()
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.transport_mut().sleep_at_most(limit);
    }

    /// Returns whether there are unwritten data, for which [`descriptor`](TcpEndpoint::descriptor) does not become
    /// readable.
    pub fn has_outgoing(&self) -> bool {
        self.engine.transport().has_outgoing()
    }

    /// Returns whether a posted receive has matched a message, which need not have arrived completely.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.messages().transfers[receive].is_matched()
    }

    /// Returns what a request waits for, if it is not done.
    pub fn awaited_by(&self, request: Request) -> Option<Awaited> {
        self.engine.messages().awaited_by(request)
    }

    /// Returns the state of the messages after an idle poll, for a report of a long wait.
    pub fn poll_state(&self) -> PollState {
        self.engine.poll_state()
    }

    /// Returns the messages that no receive matches.
    pub fn unexpected(&self) -> Vec<Envelope> {
        self.engine.unexpected()
    }

    /// Returns this rank's seat, if the launcher of this host has started it.
    pub fn seat(&self) -> Option<&Seat> {
        self.engine.transport().seat()
    }

    /// Returns the other rank of a request, if there is exactly one.
    pub fn partner(&self, request: Request) -> Option<usize> {
        self.engine.messages().partner(request)
    }

    /// Receives what has arrived, mostly from `partner` only.
    ///
    /// # Errors
    /// As for [`progress`](contract::Endpoint::progress).
    pub fn poll_with(&mut self, partner: Option<usize>) -> Result<()> {
        self.engine.check()?;
        let (messages, connections) = self.engine.parts_mut();
        connections.poll_with(messages, partner).map(drop)
    }

    /// Fails if the run was aborted.
    ///
    /// # Errors
    /// The reason why it was aborted.
    pub fn check_run(&mut self) -> Result<()> {
        let (messages, connections) = self.engine.parts_mut();
        connections.check_supervision(messages)
    }

    /// Returns why the run was aborted, if that is known without a system call.
    pub fn abort_reason_at_hand(&mut self) -> Option<Error> {
        self.engine.transport_mut().abort_reason()
    }

    /// Returns the error that every call returns from now on, if there is one.
    pub fn failure(&self) -> Option<Error> {
        self.engine.check().err()
    }

    /// Ends the run for this rank because of an error of the other fabric, or because of the cause of that error, such
    /// as a dead rank, if it is known in time. Returns the cause, else `error`.
    pub fn cause_of(&mut self, error: Error) -> Error {
        match self.engine.check() {
            Err(known) => known,
            Ok(()) => {
                let cause = self.engine.transport_mut().supervision.wait_for_cause();
                self.engine.fail(cause.unwrap_or(error))
            }
        }
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }

    /// Announces to all others that nothing follows, after [`leave`](contract::Endpoint::leave).
    ///
    /// # Errors
    /// Errors of messages.
    pub fn say_goodbye(&mut self) -> Result<()> {
        let (messages, connections) = self.engine.parts_mut();
        connections.say_goodbye(messages)
    }

    /// Returns whether all ranks have said goodbye, so that this rank may end.
    pub fn is_through(&self) -> bool {
        self.engine.transport().is_through()
    }

    /// Ends this rank's part of the run, which both fabrics have completed, and returns the status of its process.
    pub fn close(self, outcome: Result<()>) -> i32 {
        self.engine.into_transport().close(outcome)
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> usize {
        self.placement.hosts
    }
}
