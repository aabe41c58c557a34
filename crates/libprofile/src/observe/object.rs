//! Communicators and windows.

use std::ffi::c_int;

use super::around;
use crate::abi::*;
use crate::data::{Call, Data};
use crate::recorder::Sizes;

/// A call that makes a communicator. If it is a collective of all members of another one, `parent` is that.
pub(crate) unsafe fn make_communicator(
    call: Call,
    real: impl FnOnce() -> c_int,
    parent: Option<Comm>,
    comm: *const Comm,
) -> c_int {
    around(call, real, |recorder, span| {
        match parent {
            Some(parent) => recorder.all_come(span, parent),
            None => recorder.call(span),
        }
        if *comm != COMM_NULL {
            recorder.communicators.remove(*comm);
            recorder.communicator(*comm);
        }
    })
}

/// A call that ends a communicator.
pub(crate) unsafe fn free_communicator(
    call: Call,
    real: impl FnOnce() -> c_int,
    comm: *const Comm,
) -> c_int {
    let handle = comm.as_ref().copied().unwrap_or(COMM_NULL);
    around(call, real, |recorder, span| {
        recorder.call(span);
        recorder.communicators.remove(handle);
    })
}

/// A call that makes a window.
pub(crate) unsafe fn make_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    comm: Comm,
    win: *const Win,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.all_come(span, comm);
        if *win != WIN_NULL {
            recorder.windows.remove(*win);
            recorder.window(*win);
        }
    })
}

/// A call that ends a window.
pub(crate) unsafe fn free_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    win: *const Win,
) -> c_int {
    let handle = win.as_ref().copied().unwrap_or(WIN_NULL);
    around(call, real, |recorder, span| {
        recorder.all_come_of_window(span, handle);
        recorder.windows.remove(handle);
    })
}

/// Access to the memory of another rank. Its bytes are counted as sent to that rank, also those that come from there.
pub(crate) unsafe fn access(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    rank: c_int,
    win: Win,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        let (place, _) = recorder.window(win);
        let peer = recorder.windows.known(place as usize).world_rank(rank);
        let bytes = data.bytes(1);
        recorder.count(span, Sizes::Windows, bytes);
        recorder.count_peer(peer, bytes);
    })
}
