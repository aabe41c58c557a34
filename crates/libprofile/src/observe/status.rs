//! Calls that report whether requests have completed, without freeing them. The program may use their memory from then
//! on.

use std::ffi::c_int;

use super::wait::reported;
use super::{around, around_status};
use crate::abi::*;
use crate::data::Call;
use crate::recorder::{Recorder, Span};

/// Observes MPI_Request_get_status.
pub(crate) unsafe fn status(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    request: Request,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    status_any(call, real, &request, &0, flag, status)
}

/// Observes MPI_Request_get_status_any.
pub(crate) unsafe fn status_any(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    requests: *const Request,
    index: *const c_int,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    around_status(call, real, status, |recorder, span, status| match *flag {
        0 => recorder.poll(span),
        _ => recorder.have_ended(span, requests, [*index], &|_| status),
    })
}

/// Observes MPI_Request_get_status_all. Its statuses may be ignored, and are not needed for sends.
pub(crate) unsafe fn status_all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    flag: *const c_int,
    statuses: *mut Status,
) -> c_int {
    around(
        call,
        || real(statuses),
        |recorder, span| match *flag {
            0 => recorder.poll(span),
            _ => recorder
                .have_ended(span, requests, 0..count, &|number| statuses_at(statuses, number)),
        },
    )
}

/// Observes MPI_Request_get_status_some.
pub(crate) unsafe fn status_some(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    requests: *const Request,
    ended: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
) -> c_int {
    around(
        call,
        || real(statuses),
        |recorder, span| match reported(ended, indices) {
            [] => recorder.poll(span),
            all => {
                let all = all.iter().copied();
                recorder.have_ended(span, requests, all, &|number| statuses_at(statuses, number))
            }
        },
    )
}

/// Returns a status of an array, or null if the program ignores them.
fn statuses_at(statuses: *const Status, number: usize) -> *const Status {
    if statuses.is_null() { statuses } else { statuses.wrapping_add(number) }
}

impl Recorder {
    /// Records that the requests with these indices have completed.
    unsafe fn have_ended(
        &mut self,
        span: &Span,
        requests: *const Request,
        indices: impl IntoIterator<Item = c_int>,
        status: &dyn Fn(usize) -> *const Status,
    ) {
        self.call(span);
        for (number, index) in indices.into_iter().enumerate() {
            if let Ok(index) = usize::try_from(index) {
                self.check_ended(span, *requests.add(index), status(number));
            }
        }
    }
}
