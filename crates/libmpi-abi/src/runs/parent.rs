//! The run that has started this one, if a program has.

use mpi::Universe;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator::{get_object, register, set_parent};
use crate::failure::Result;

/// Where a rank finds the port of those who have started its run. Empty for a run that a person has started.
const VARIABLE: &str = "CORNERSTONE_MPI_PARENT";

/// Meets those who have started this run, as all its ranks do at their beginning.
pub(crate) fn join(universe: &Universe<Chosen>) -> Result {
    let Some(port) = std::env::var(VARIABLE).ok().filter(|port| !port.is_empty()) else {
        return Ok(());
    };
    let made = universe.connect(universe.world(), 0, || port.parse())?;
    made.set_name("MPI_COMM_PARENT");
    set_parent(register(Some(made), &get_object(COMM_WORLD)?));
    Ok(())
}
