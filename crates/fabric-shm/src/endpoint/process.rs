//! A process that is a rank of a program over the contract.

use contract::{Error, Member, Process, Result};

use super::{Reporter, ShmEndpoint};

/// A process that the launcher has started as one rank of a run.
pub struct ShmProcess(Process<ShmEndpoint>);

impl ShmProcess {
    pub(super) fn new(endpoint: ShmEndpoint) -> Self {
        ShmProcess(Process::new(endpoint))
    }

    /// This process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, ShmEndpoint> {
        self.0.world()
    }

    /// Its end of the fabric.
    pub fn endpoint(&self) -> &ShmEndpoint {
        self.0.endpoint()
    }

    /// The same, to change.
    pub fn endpoint_mut(&mut self) -> &mut ShmEndpoint {
        self.0.endpoint_mut()
    }

    /// The bytes that the launcher gave to every rank.
    pub fn job(&self) -> &[u8] {
        self.0.endpoint().job()
    }

    /// Hands `bytes` to the launcher, whole, and in the order of this rank's calls.
    ///
    /// # Errors
    /// [`Error::System`] if the launcher no longer reads.
    pub fn report(&self, bytes: &[u8]) -> Result<()> {
        self.0.endpoint().reporter.report(bytes)
    }

    /// What hands reports to the launcher while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.0.endpoint().reporter()
    }

    /// Why the run was given up, if it was: for a rank that waits outside the calls of this fabric.
    pub fn given_up(&self) -> Option<Error> {
        self.0.endpoint().given_up()
    }

    /// Its end of the fabric alone, for another face.
    ///
    /// # Panics
    /// If an operation that was posted has not been completed.
    pub fn into_endpoint(self) -> ShmEndpoint {
        self.0.into_endpoint()
    }

    /// Ends this rank's part of the run: completes what is still under way, tells the others and the launcher
    /// of a failure, and gives the status that the process should exit with.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        self.0.finish(outcome)
    }
}
