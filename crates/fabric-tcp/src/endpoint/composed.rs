//! What a fabric needs that is composed of this one, between hosts, and another for the ranks of each.

use std::os::fd::OwnedFd;
use std::time::Duration;

use contract::{Error, Request, Result};

use super::TcpEndpoint;

impl TcpEndpoint {
    /// Returns a descriptor that is readable while a message has come and was not read, or word that the run was given
    /// up.
    ///
    /// # Errors
    /// The system's.
    pub fn descriptor(&mut self) -> Result<OwnedFd> {
        self.engine.descriptor().map_err(|error| Error::System {
            what: "watching the connections".into(),
            reason: error.to_string(),
        })
    }

    /// Returns a number that the ranks of this run share, and no other run of this host has; none where ranks are on
    /// several hosts.
    pub fn run_number(&self) -> Option<u64> {
        self.engine.supervision.launched()?.run_number()
    }

    /// How long the sleeps of this rank may last from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.sleep_at_most(limit);
    }

    /// Returns whether something waits to be written, which [`descriptor`](TcpEndpoint::descriptor) does not tell of.
    pub fn has_outgoing(&self) -> bool {
        self.engine.has_outgoing()
    }

    /// Returns whether a receive that was posted has found its message, all of which need not be here.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.is_matched(receive)
    }

    /// Returns the other rank of a request, where there is but one.
    pub fn partner(&self, request: Request) -> Option<usize> {
        self.engine.partner(request)
    }

    /// Takes in what has come, mostly from `partner` alone.
    ///
    /// # Errors
    /// Those of [`progress`](contract::Endpoint::progress).
    pub fn poll_with(&mut self, partner: Option<usize>) -> Result<()> {
        self.engine.check()?;
        self.engine.poll_with(partner).map(drop)
    }

    /// Fails if the run was given up.
    ///
    /// # Errors
    /// Why it was.
    pub fn check_run(&mut self) -> Result<()> {
        self.engine.check_run()
    }

    /// Returns the error that every call returns from now on, if there is one.
    pub fn failure(&self) -> Option<Error> {
        self.engine.check().err()
    }

    /// Returns whether anything that this rank has sent may still be taken.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }

    /// Tells all others that nothing follows, after [`leave`](contract::Endpoint::leave).
    ///
    /// # Errors
    /// Those of messages.
    pub fn say_goodbye(&mut self) -> Result<()> {
        self.engine.say_goodbye()
    }

    /// Returns whether everybody has said goodbye: then this rank may end.
    pub fn is_through(&self) -> bool {
        self.engine.is_through()
    }

    /// Ends this rank's part of the run, which both fabrics have completed; the status of its process.
    pub fn close(self, outcome: Result<()>) -> i32 {
        self.engine.close(outcome)
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> usize {
        self.placement.hosts
    }
}
