//! A process that is a rank of a program over the contract.

use contract::{Member, Process, Result};
use hosts::Skew;

use crate::MpiEndpoint;

/// A process that is one rank of a run over an MPI.
pub struct MpiProcess(Process<MpiEndpoint>);

impl MpiProcess {
    /// Creates the process at an endpoint. Together with the others, it determines the locations of ranks and
    /// synchronizes the clocks.
    pub(crate) fn new(endpoint: MpiEndpoint, skew: Option<Skew>) -> Result<Self> {
        let mut process = Process::new(endpoint);
        let places = hosts::discover_placement(&mut process.world())?;
        process.endpoint_mut().set_places(places);
        let clock = hosts::shared_clock(&mut process.world(), skew)?;
        process.endpoint_mut().set_clock(clock);
        Ok(MpiProcess(process))
    }

    /// Returns this process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, MpiEndpoint> {
        self.0.world()
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &MpiEndpoint {
        self.0.endpoint()
    }

    /// Returns the endpoint mutably.
    pub fn endpoint_mut(&mut self) -> &mut MpiEndpoint {
        self.0.endpoint_mut()
    }

    /// Returns the endpoint alone, for use by another interface.
    ///
    /// # Panics
    /// If a posted operation has not been completed.
    pub fn into_endpoint(self) -> MpiEndpoint {
        self.0.into_endpoint()
    }

    /// Ends this rank's part: completes its sends, cancels its receives, and frees the MPI's resources of this rank.
    /// All ranks call it in the absence of errors. After an error the run is aborted instead
    /// ([`World::finish`](crate::World::finish)).
    ///
    /// # Errors
    /// Errors that MPI reports.
    pub fn end(mut self) -> Result<()> {
        // The buffers of incomplete operations live until this call returns.
        self.0.endpoint_mut().end_in_order()
    }
}
