//! A rank that the launcher of `fabric-shm` has started, with everything that this crate uses of it.

use contract::{Endpoint, Error, Priority, PriorityGranted, Process, Rank, Result};
use fabric_shm::ShmEndpoint;
use hosts::Placement;

/// A rank of a run over shared memory, of which only the launcher and its supervision are used.
pub(crate) struct Launched(Process<ShmEndpoint>);

impl Launched {
    pub(crate) fn new(endpoint: ShmEndpoint) -> Self {
        Launched(Process::new(endpoint))
    }

    pub(crate) fn rank(&self) -> usize {
        Endpoint::rank(self.0.endpoint())
    }

    /// Sends the bytes of every rank to all, in the order of the ranks.
    pub(crate) fn exchange(&mut self, own: &[u8]) -> Result<Vec<u8>> {
        let mut world = self.0.world();
        let mut all = vec![0; world.size() * own.len()];
        world.allgather(own, &mut all)?;
        Ok(all)
    }

    /// Returns the rank over shared memory.
    pub(crate) fn endpoint_mut(&mut self) -> &mut ShmEndpoint {
        self.0.endpoint_mut()
    }

    /// Returns why the run was aborted, if it was.
    pub(crate) fn abort_reason(&self) -> Option<Error> {
        self.0.endpoint().abort_reason()
    }

    /// Returns the launcher's knowledge of the ranks' processors.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            processor: self.0.endpoint().processor(),
            every_rank_has_a_processor: self.0.endpoint().every_rank_has_a_processor(),
            hosts: 1,
        }
    }

    pub(crate) fn endpoint(&self) -> &ShmEndpoint {
        self.0.endpoint()
    }

    pub(crate) fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.0.endpoint_mut().set_priority(priority)
    }

    pub(crate) fn reporter(&self) -> fabric_shm::Reporter {
        self.0.endpoint().reporter()
    }

    /// Reports the outcome of this rank's part to the launcher, and returns the status that the process should exit
    /// with.
    pub(crate) fn finish(self, outcome: Result<()>) -> i32 {
        self.0.finish(outcome)
    }
}
