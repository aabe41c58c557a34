//! The process of a rank whose program uses the contract.

use contract::{Member, Process, Result};
use launcher::{Reporter, Seat};

use super::ShmEndpoint;

/// A process that the launcher has started as one rank of a run.
pub struct ShmProcess(Process<ShmEndpoint>);

impl ShmProcess {
    /// Joins the run ([`ShmEndpoint::join`]).
    ///
    /// # Errors
    /// As of [`ShmEndpoint::join`].
    pub fn join(seat: Seat) -> Result<Self> {
        Ok(ShmProcess(Process::new(ShmEndpoint::join(seat)?)))
    }

    /// Returns this process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, ShmEndpoint> {
        self.0.world()
    }

    /// Returns its endpoint mutably.
    pub fn endpoint_mut(&mut self) -> &mut ShmEndpoint {
        self.0.endpoint_mut()
    }

    /// Returns the bytes that the launcher gave to every rank.
    pub fn job(&self) -> &[u8] {
        self.0.endpoint().seat().job()
    }

    /// Returns a handle that passes reports to the launcher while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.0.endpoint().seat().reporter()
    }

    /// Ends this rank's part of the run: completes what is still in progress, reports a failure to the other ranks and
    /// the launcher, and returns the status that the process should exit with.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        self.0.finish(outcome)
    }
}
