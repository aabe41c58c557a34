//! Starting, freeing and cancelling requests.

use std::ffi::c_int;

use super::{LIGHT_REQUESTS, REQUESTS, given};
use crate::abi::*;
use crate::failure::{Result, ensure};

pub(crate) unsafe fn start(request: *mut Request) -> Result {
    given(*request)?.request.start()
}

pub(crate) unsafe fn start_all(count: c_int, requests: *mut Request) -> Result {
    ensure!(count >= 0, ERR_COUNT, "{count} requests");
    (0..count as usize).try_for_each(|index| start(requests.add(index)))
}

pub(crate) unsafe fn free(request: *mut Request) -> Result {
    let object = given(*request)?;
    match object.generalized.as_ref().filter(|one| !mpi::Generalized::is_complete(&***one)) {
        // The program completes it by a copy of the handle.
        Some(active) => active.is_freed.set(true),
        None => drop(REQUESTS.borrow_mut().remove(*request)),
    }
    LIGHT_REQUESTS.take(*request);
    *request = REQUEST_NULL;
    object.request.free()
}

pub(crate) unsafe fn cancel(request: *mut Request) -> Result {
    let object = given(*request)?;
    object.request.cancel()?;
    let is_lightweight = LIGHT_REQUESTS.get(*request).is_some();
    if is_lightweight && object.request.is_cancelled() {
        LIGHT_REQUESTS.cancel(*request);
    }
    Ok(())
}
