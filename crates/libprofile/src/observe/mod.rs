//! The recording of calls: one function for each kind of observed function of MPI.

mod collective;
mod neighbour;
mod object;
mod partitioned;
mod point;
mod start;
mod status;
mod wait;
mod window;

use std::ffi::c_int;

use crate::abi::*;
use crate::checks::Ends;
use crate::clock::{Untimed, ticks};
use crate::data::Call;
use crate::recorder::{Recorder, Span};
use crate::state::{self, Beginning, enter};

pub(crate) use collective::{
    collective, collective_of_window, prepare_collective, start_collective,
};
pub(crate) use neighbour::{neighbours, prepare_neighbours, start_neighbours};
pub(crate) use object::{free_communicator, free_type, make_communicator};
pub(crate) use partitioned::{prepare_parts, prepare_receive_of_parts, ready};
pub(crate) use point::{
    exchange, matched_poll, matched_probe, poll_message, prepare_receive, prepare_send, probe,
    receive, receive_matched, send, start_exchange, start_matched, start_receive, start_send,
};
pub(crate) use start::{cancel, forget, restart};
pub(crate) use status::{status, status_all, status_any, status_some};
pub(crate) use wait::{test, test_all, test_any, test_some, wait, wait_all, wait_any, wait_some};
pub(crate) use window::{access, end_accesses, fetch, free_window, lock, make_window, synchronise};

/// Calls the library's function, and records the call if it succeeds, or otherwise only its time.
#[inline(always)]
fn around(
    call: Call,
    real: impl FnOnce() -> c_int,
    note: impl FnOnce(&mut Recorder, &Span),
) -> c_int {
    around_ends(call, real, note, Ends::Requests(&[]))
}

/// As [`around`], for a call that may complete operations. If it fails, it is unknown which requests have ended.
#[inline(always)]
fn around_ends(
    call: Call,
    real: impl FnOnce() -> c_int,
    note: impl FnOnce(&mut Recorder, &Span),
    ends: Ends<'_>,
) -> c_int {
    let Some(state) = enter() else { return real() };
    let _untimed = Untimed::begin();
    state.before(call, ends);
    let begin = ticks();
    let code = real();
    let end = ticks();
    state.note(|recorder| {
        let span = recorder.span(call, begin, end);
        if code == SUCCESS {
            note(recorder, &span);
        } else {
            recorder.call(&span);
            if let Ends::Requests(requests) = ends {
                requests.iter().for_each(|&request| recorder.uncheck(request));
            }
        }
        recorder.check_after();
    });
    code
}

/// As [`around`], for a call that fills in a status: the program's, or one of ours if the program ignores it.
#[inline(always)]
fn around_status(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    status: *mut Status,
    note: impl FnOnce(&mut Recorder, &Span, *const Status),
) -> c_int {
    around_status_ends(call, real, status, note, &[])
}

/// As [`around_ends`] and [`around_status`], for a call that may complete some requests.
#[inline(always)]
fn around_status_ends(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    status: *mut Status,
    note: impl FnOnce(&mut Recorder, &Span, *const Status),
    requests: &[Request],
) -> c_int {
    let mut own = Status::empty();
    let status = if status.is_null() { &raw mut own } else { status };
    let note = |recorder: &mut Recorder, span: &Span| note(recorder, span, status);
    around_ends(call, || real(status), note, Ends::Requests(requests))
}

/// Records only the time of a call.
pub(crate) unsafe fn call(call: Call, real: impl FnOnce() -> c_int) -> c_int {
    around(call, real, Recorder::call)
}

/// Records only the time of a call with a flag, as an idle poll if the flag is 0. A status goes directly to the
/// program.
pub(crate) unsafe fn poll(call: Call, real: impl FnOnce() -> c_int, flag: *const c_int) -> c_int {
    // SAFETY: the function has filled in the flag.
    around(call, real, |recorder, span| match unsafe { *flag } {
        0 => recorder.poll(span),
        _ => recorder.call(span),
    })
}

/// Observes MPI_Init and MPI_Init_thread.
pub(crate) unsafe fn start(
    _call: Call,
    real: impl FnOnce() -> c_int,
    _provided: *const c_int,
) -> c_int {
    let beginning = Beginning::now();
    let code = real();
    if code == SUCCESS {
        state::begin(&beginning);
    }
    code
}

/// Observes MPI_Finalize.
pub(crate) unsafe fn finish(call: Call, real: impl FnOnce() -> c_int) -> c_int {
    let Some(state) = enter() else { return real() };
    state.note(Recorder::note_end);
    around(call, real, |recorder, span| {
        recorder.all_come(span, COMM_WORLD);
        recorder.note_finalized();
    })
}

/// Observes MPI_Abort, which does not return.
pub(crate) unsafe fn abort(call: Call, real: impl FnOnce() -> c_int) -> c_int {
    if let Some(state) = enter() {
        let now = ticks();
        state.note(|recorder| {
            let span = recorder.span(call, now, now);
            recorder.note(&Recorder::event(profile::Kind::Call, &span));
            recorder.note_abort();
        });
    }
    real()
}
