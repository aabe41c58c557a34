//! Calls that report whether requests have completed, without freeing them. The program may use their memory from then
//! on.

use std::ffi::c_int;

use super::around_ends;
use super::wait::reported;
use crate::abi::*;
use crate::checks::Ends;
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
    status_any(call, real, 1, &request, &0, flag, status)
}

/// Observes MPI_Request_get_status_any.
pub(crate) unsafe fn status_any(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    index: *const c_int,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span| match *flag {
        0 => recorder.poll(span),
        _ => recorder.have_ended(span, requests, [*index]),
    };
    around_ends(call, || real(status), note, Ends::Requests(all(count, requests)))
}

/// Observes MPI_Request_get_status_all.
pub(crate) unsafe fn status_all(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    flag: *const c_int,
    statuses: *mut Status,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span| match *flag {
        0 => recorder.poll(span),
        _ => recorder.have_ended(span, requests, 0..count),
    };
    around_ends(call, || real(statuses), note, Ends::Requests(all(count, requests)))
}

/// Observes MPI_Request_get_status_some.
pub(crate) unsafe fn status_some(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    count: c_int,
    requests: *const Request,
    ended: *const c_int,
    indices: *const c_int,
    statuses: *mut Status,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span| match reported(ended, indices) {
        [] => recorder.poll(span),
        ended => recorder.have_ended(span, requests, ended.iter().copied()),
    };
    around_ends(call, || real(statuses), note, Ends::Requests(all(count, requests)))
}

/// Returns the requests of a call.
unsafe fn all<'a>(count: c_int, requests: *const Request) -> &'a [Request] {
    match usize::try_from(count) {
        Ok(count) if count > 0 && !requests.is_null() => {
            std::slice::from_raw_parts(requests, count)
        }
        _ => &[],
    }
}

impl Recorder {
    /// Records that the requests with these indices have completed.
    unsafe fn have_ended(
        &mut self,
        span: &Span,
        requests: *const Request,
        indices: impl IntoIterator<Item = c_int>,
    ) {
        self.call(span);
        for index in indices {
            if let Ok(index) = usize::try_from(index) {
                self.check_ended(span, *requests.add(index));
            }
        }
    }
}
