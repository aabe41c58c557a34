//! The run that has started this one, if a program has started it.

use mpi::Universe;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator::{get_object, register, set_parent};
use crate::failure::Result;

/// Environment variable with the port of the processes that have started the run. Unset if a person has started it.
const VARIABLE: &str = "CORNERSTONE_MPI_PARENT";

/// Connects to the processes that have started this run. All its ranks call this at their beginning.
pub(crate) fn join(universe: &Universe<Chosen>) -> Result {
    let Some(port) = std::env::var(VARIABLE).ok().filter(|port| !port.is_empty()) else {
        return Ok(());
    };
    let made = universe.connect(universe.world(), 0, || port.parse())?;
    made.set_name("MPI_COMM_PARENT");
    set_parent(register(Some(made), &get_object(COMM_WORLD)?));
    Ok(())
}
