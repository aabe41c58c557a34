//! Operations for a fabric that uses this one beside another.

use std::os::fd::OwnedFd;
use std::time::Duration;

use contract::{Error, Result};
use engine::{MessageEngine, Transport};
use hosts::{Clock, Placement};
use launcher::{PollState, Seat};

use super::TcpEndpoint;
use crate::Connections;

impl TcpEndpoint {
    /// Returns its parts: the message engine, where the ranks are, and their common clock.
    pub fn into_parts(self) -> (MessageEngine<Connections>, Placement, Clock) {
        (self.engine, self.placement, self.clock)
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.sleep_at_most(limit);
    }

    /// Returns where the ranks are, and their common clock.
    pub fn placement_and_clock(&self) -> (Placement, Clock) {
        (self.placement, self.clock)
    }

    /// Returns a descriptor that is readable while an unread message has arrived, or the news that the run was aborted.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn descriptor(&mut self) -> Result<OwnedFd> {
        self.engine.transport_mut().descriptor()
    }

    /// Returns a number that the ranks of this run share and that no other run of this host has, or `None` if ranks are
    /// on several hosts.
    pub fn run_number(&self) -> Option<u64> {
        self.seat()?.run_number()
    }

    /// Returns the state of the messages after an idle poll, for a report of a long wait.
    pub fn poll_state(&self) -> PollState {
        self.engine.poll_state()
    }

    /// Returns this rank's seat, if the launcher of this host has started it.
    pub fn seat(&self) -> Option<&Seat> {
        self.engine.transport().seat()
    }

    /// Receives what has arrived, and fails if the run was aborted.
    ///
    /// # Errors
    /// As for [`progress`](contract::Endpoint::progress), and why the run was aborted.
    pub fn poll_and_check_run(&mut self) -> Result<()> {
        self.engine.poll()?;
        let (messages, connections) = self.engine.parts_mut();
        connections.check_supervision(messages)
    }

    /// Returns the error that every call returns from now on, if there is one.
    pub fn failure(&self) -> Option<Error> {
        self.engine.check().err()
    }

    /// Returns why the run was aborted, if that is known without a system call.
    pub fn abort_reason_at_hand(&mut self) -> Option<Error> {
        self.engine.transport_mut().abort_reason()
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
