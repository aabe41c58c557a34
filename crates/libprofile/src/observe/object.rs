//! Communicators and datatypes.

use std::ffi::c_int;

use super::around;
use crate::abi::*;
use crate::data::Call;

/// Observes a call that creates a communicator. If it is a collective of all members of another one, `parent` is that
/// one.
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

/// Observes a call that frees a communicator.
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

/// Observes a call that frees a datatype.
pub(crate) unsafe fn free_type(
    call: Call,
    real: impl FnOnce() -> c_int,
    datatype: *const Datatype,
) -> c_int {
    let handle = datatype.as_ref().copied().unwrap_or(DATATYPE_NULL);
    around(call, real, |recorder, span| {
        recorder.call(span);
        recorder.forget_type(handle);
    })
}
