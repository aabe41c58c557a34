//! The process of a rank whose program uses the contract.

use contract::{Member, Process, Rank, Result};

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
        self.0.endpoint().transport().reporter()
    }

    /// Sends `word` to all ranks, and returns the words of all ranks in their order. All must have the same length.
    ///
    /// # Errors
    /// Those of messages.
    pub fn exchange(&mut self, word: &[u8]) -> Result<Vec<u8>> {
        let mut world = self.world();
        let mut words = vec![0; word.len() * world.size()];
        world.allgather(word, &mut words)?;
        Ok(words)
    }

    /// Returns its endpoint, for another face.
    pub fn into_endpoint(self) -> TcpEndpoint {
        self.0.into_endpoint()
    }

    /// Ends this rank's part of the run: completes what is still in progress, waits until all ranks have reached the
    /// end, reports a failure, and returns the status that the process should exit with.
    pub fn finish(self, outcome: Result<()>) -> i32 {
        self.0.finish(outcome)
    }
}
