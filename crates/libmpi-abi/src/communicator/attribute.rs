//! Attributes of communicators.

use std::ffi::{c_int, c_void};

use super::get;
use crate::abi::*;
use crate::attribute::{self, For};
use crate::codes;
use crate::failure::{Result, ensure};
use crate::process;
use crate::shared::Shared;

/// Returns the value of a predefined key: the address of a number that lives as long as the process.
fn predefined(key: c_int) -> Option<Option<usize>> {
    static TAG_BOUND: c_int = c_int::MAX;
    static ANY: c_int = ANY_SOURCE;
    static NUMBERS: [c_int; 2] = [1, PROC_NULL];
    /// Maximum number of processes of a program at once, if it starts one more for each processor.
    static UNIVERSE: Shared<c_int> = Shared::new(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (processors + process::size()) as c_int
    });
    /// Number of this program among several that were started together, which `cornerstone launch` passes.
    static PROGRAM_NUMBER: Shared<Option<c_int>> =
        Shared::new(|| std::env::var("CORNERSTONE_MPI_APPNUM").ok()?.parse().ok());
    let place: *const c_int = match key {
        TAG_UB => &TAG_BOUND,
        IO => &ANY,
        HOST => &NUMBERS[1],
        WTIME_IS_GLOBAL => &NUMBERS[0],
        LASTUSEDCODE => codes::last_used(),
        UNIVERSE_SIZE => &*UNIVERSE,
        APPNUM => {
            return Some(PROGRAM_NUMBER.as_ref().map(|number| number as *const c_int as usize));
        }
        _ => return None,
    };
    Some(Some(place as usize))
}

pub(crate) unsafe fn get_attribute(
    comm: Comm,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> Result {
    let communicator = get(comm)?;
    let found = match predefined(key) {
        Some(found) => found,
        None => attribute::find(communicator.attributes(), For::Communicator, key)?,
    };
    attribute::give(found, value, flag);
    Ok(())
}

pub(crate) unsafe fn set_attribute(comm: Comm, key: c_int, value: *mut c_void) -> Result {
    let communicator = get(comm)?;
    ensure!(predefined(key).is_none(), ERR_KEYVAL, "attribute {key} cannot be changed");
    attribute::set(communicator.attributes(), For::Communicator, comm, key, value)
}

pub(crate) unsafe fn delete_attribute(comm: Comm, key: c_int) -> Result {
    let communicator = get(comm)?;
    ensure!(predefined(key).is_none(), ERR_KEYVAL, "attribute {key} cannot be deleted");
    attribute::delete(communicator.attributes(), For::Communicator, comm, key)
}
