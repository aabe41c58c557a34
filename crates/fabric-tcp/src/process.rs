//! The process of a rank whose program uses the contract.

use contract::{Member, Process, Result};

use crate::{Reporter, TcpEndpoint};

/// A process that is one rank of a run over TCP.
pub struct TcpProcess(Process<TcpEndpoint>);

impl TcpProcess {
    pub(crate) fn new(process: Process<TcpEndpoint>) -> Self {
        TcpProcess(process)
    }

    /// Returns this process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, TcpEndpoint> {
        self.0.world()
    }

    /// Returns its endpoint mutably.
    pub fn endpoint_mut(&mut self) -> &mut TcpEndpoint {
        self.0.endpoint_mut()
    }

    /// Returns a handle that passes reports to the process that started the run while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.0.endpoint().reporter()
    }

    /// Returns its endpoint, for another face.
    pub(crate) fn into_endpoint(self) -> TcpEndpoint {
        self.0.into_endpoint()
    }

    /// Ends this rank's part of the run: completes what is still in progress, waits until all ranks have reached the
    /// end, reports a failure, and returns the status that the process should exit with.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        self.0.finish(outcome)
    }
}
