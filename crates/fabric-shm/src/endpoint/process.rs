//! The process of a rank whose program uses the contract.

use contract::{Error, Member, Process, Result};

use super::{Reporter, ShmEndpoint};

/// A process that the launcher has started as one rank of a run.
pub struct ShmProcess(Process<ShmEndpoint>);

impl ShmProcess {
    pub(super) fn new(endpoint: ShmEndpoint) -> Self {
        ShmProcess(Process::new(endpoint))
    }

    /// Returns this process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, ShmEndpoint> {
        self.0.world()
    }

    /// Returns its endpoint.
    pub fn endpoint(&self) -> &ShmEndpoint {
        self.0.endpoint()
    }

    /// Returns its endpoint mutably.
    pub fn endpoint_mut(&mut self) -> &mut ShmEndpoint {
        self.0.endpoint_mut()
    }

    /// Returns the bytes that the launcher gave to every rank.
    pub fn job(&self) -> &[u8] {
        self.0.endpoint().job()
    }

    /// Passes `bytes` to the launcher as one report. Reports arrive in the order of this rank's calls.
    ///
    /// # Errors
    /// [`Error::System`] if the launcher no longer reads.
    pub fn report(&self, bytes: &[u8]) -> Result<()> {
        self.0.endpoint().reporter.report(bytes)
    }

    /// Returns a handle that passes reports to the launcher while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.0.endpoint().reporter()
    }

    /// Returns why the run was aborted, if it was: for a rank that waits outside the calls of this fabric.
    pub fn abort_reason(&self) -> Option<Error> {
        self.0.endpoint().abort_reason()
    }

    /// Returns the endpoint alone, for another face.
    ///
    /// # Panics
    /// If an operation that was posted has not been completed.
    pub fn into_endpoint(self) -> ShmEndpoint {
        self.0.into_endpoint()
    }

    /// Ends this rank's part of the run: completes what is still in progress, reports a failure to the other ranks and
    /// the launcher, and returns the status that the process should exit with.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        self.0.finish(outcome)
    }
}
