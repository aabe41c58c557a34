//! Programs on ranks of the reference fabric.

use conformance::reference::{ReferenceEndpoint, run_endpoints};
use mpi::Communicator;

pub(crate) type World = Communicator<ReferenceEndpoint>;
pub(crate) type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

/// Runs a program on `ranks` ranks; each must succeed.
pub(crate) fn on(ranks: usize, program: impl Fn(&World) -> Outcome + Sync) {
    let ended = run_endpoints(ranks, |endpoint| {
        let status = mpi::run(endpoint, |world| program(world));
        assert_eq!(status, 0);
        Ok(())
    });
    assert_eq!(ended.map_err(|(rank, error)| (rank, error.to_string())), Ok(()), "{ranks} ranks");
}
