//! Windows, and access to the memory of other ranks.

use std::ffi::c_int;

use super::{around, around_ends};
use crate::abi::*;
use crate::checks::{Access, Ends, Owner, Use};
use crate::data::{Call, Data};
use crate::recorder::{Recorder, Sizes, Span};

/// Observes a call that creates a window.
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

/// Observes a call that frees a window.
pub(crate) unsafe fn free_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    win: *const Win,
) -> c_int {
    let handle = win.as_ref().copied().unwrap_or(WIN_NULL);
    let note = |recorder: &mut Recorder, span: &Span| {
        recorder.check_accesses(span, handle, None);
        recorder.all_come_of_window(span, handle);
        recorder.windows.remove(handle);
    };
    around_ends(call, real, note, Ends::Accesses(handle, None))
}

/// Records an access to the memory of another rank. Its bytes count as sent to that rank, even if they come from there.
pub(crate) unsafe fn access(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    rank: c_int,
    win: Win,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.accessed(span, data, rank, win);
    })
}

/// Records an access that reads this rank's data until it has ended. It has a request if `request` is not null.
pub(crate) unsafe fn write(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    rank: c_int,
    win: Win,
    request: *const Request,
) -> c_int {
    checked(call, real, Use::of(data, Access::Reads), (win, rank), request)
}

/// Records an access that writes this rank's data until it has ended. It has a request if `request` is not null.
pub(crate) unsafe fn read(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    rank: c_int,
    win: Win,
    request: *const Request,
) -> c_int {
    checked(call, real, Use::of(data, Access::Writes), (win, rank), request)
}

/// Records an access that uses this rank's memory until it has ended. An access to the rank's own memory is not
/// checked: its two sides are in the same memory.
unsafe fn checked(
    call: Call,
    real: impl FnOnce() -> c_int,
    memory: Use,
    (win, rank): (Win, c_int),
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let peer = recorder.accessed(span, memory.data, rank, win);
        if rank >= 0 && !recorder.is_me(peer) {
            let request = request.as_ref().copied().unwrap_or(REQUEST_NULL);
            recorder.check_posted(span, Owner { request, window: Some((win, rank)) }, &[memory]);
        }
    })
}

/// Observes a call that ends accesses to the memory of a rank, or of all.
pub(crate) unsafe fn end_accesses(
    call: Call,
    real: impl FnOnce() -> c_int,
    rank: Option<c_int>,
    win: Win,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span| {
        recorder.call(span);
        recorder.check_accesses(span, win, rank);
    };
    around_ends(call, real, note, Ends::Accesses(win, rank))
}

impl Recorder {
    /// Counts an access. Returns the rank of the world that owns the accessed memory.
    unsafe fn accessed(&mut self, span: &Span, data: Data, rank: c_int, win: Win) -> u32 {
        self.call(span);
        let (place, _) = self.window(win);
        let peer = self.windows.known(place as usize).world_rank(rank);
        let bytes = data.bytes(1);
        self.count(span, Sizes::Windows, bytes);
        self.count_peer(peer, bytes);
        peer
    }
}
