//! A process that is a rank of a program over the contract.

use contract::{Member, Process, Result};
use hosts::Skew;

use crate::MpiEndpoint;

/// A process that is one rank of a run over an MPI.
pub struct MpiProcess(Process<MpiEndpoint>);

impl MpiProcess {
    /// Returns the process at this end of an MPI. It finds out, together with the others, who is where and what time it
    /// is.
    pub(crate) fn new(endpoint: MpiEndpoint, skew: Option<Skew>) -> Result<Self> {
        let mut process = Process::new(endpoint);
        let places = hosts::settle(&mut process.world())?;
        process.endpoint_mut().set_places(places);
        let clock = hosts::shared_clock(&mut process.world(), skew)?;
        process.endpoint_mut().set_clock(clock);
        Ok(MpiProcess(process))
    }

    /// This process as a rank of the context of all ranks.
    pub fn world(&mut self) -> Member<'_, MpiEndpoint> {
        self.0.world()
    }

    /// Its end of the MPI.
    pub fn endpoint(&self) -> &MpiEndpoint {
        self.0.endpoint()
    }

    /// The same, to change.
    pub fn endpoint_mut(&mut self) -> &mut MpiEndpoint {
        self.0.endpoint_mut()
    }

    /// Its end of the MPI alone, for another face.
    ///
    /// # Panics
    /// If an operation that was posted has not been completed.
    pub fn into_endpoint(self) -> MpiEndpoint {
        self.0.into_endpoint()
    }

    /// Ends this rank's part: completes its sends, takes its receives back, and frees what the MPI keeps for it. All
    /// ranks call it, when all is well; after an error the run is given up instead
    /// ([`World::finish`](crate::World::finish)).
    ///
    /// # Errors
    /// What MPI reports.
    pub fn end(mut self) -> Result<()> {
        // The buffers of what is still under way last until this returns.
        self.0.endpoint_mut().end_in_order()
    }
}
