//! The communicator with the processes that have started this run.

use std::cell::Cell;

use crate::abi::*;
use crate::failure::Result;
use crate::shared::Shared;

static PARENT: Shared<Cell<Comm>> = Shared::new(|| Cell::new(COMM_NULL));

pub(crate) fn set_parent(comm: Comm) {
    PARENT.set(comm);
}

pub(crate) fn has_parent() -> bool {
    PARENT.get() != COMM_NULL
}

/// Clears the handle of the communicator with the parent if that communicator was freed.
pub(super) fn forget_parent(comm: Comm) {
    if PARENT.get() == comm {
        PARENT.set(COMM_NULL);
    }
}

/// Implements MPI_Comm_get_parent.
pub(crate) unsafe fn get_parent(parent: *mut Comm) -> Result {
    *parent = PARENT.get();
    Ok(())
}
