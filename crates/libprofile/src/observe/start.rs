//! Calls that start persistent operations, and that end requests without completing them.

use std::ffi::c_int;

use profile::{Event, Kind};

use super::around;
use crate::abi::*;
use crate::data::Call;
use crate::recorder::{Recorder, Sizes, Span};
use crate::requests::{Pending, Started};

/// Observes MPI_Start and MPI_Startall.
pub(crate) unsafe fn restart(
    call: Call,
    real: impl FnOnce() -> c_int,
    count: c_int,
    requests: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        for index in 0..usize::try_from(count).unwrap_or(0) {
            recorder.restarted(span, *requests.add(index));
            recorder.check_restarted(span, *requests.add(index));
        }
    })
}

impl Recorder {
    /// Records the start of a persistent operation.
    fn restarted(&mut self, span: &Span, request: Request) {
        let Some(pending) = self.requests.get_mut(request) else { return };
        pending.is_active = true;
        pending.posted = span.begin;
        pending.ready = 0;
        let Pending { what, communicator: place, index, bytes, peer, tag, .. } = *pending;
        let mut event = Recorder::event(Kind::SendStarted, span);
        let communicator = index;
        event = Event { bytes, peer, tag, communicator, is_span: false, ..event };
        match what {
            Started::Receive | Started::Parts | Started::ReceiveOfParts => {}
            Started::Neighbours => {
                let bytes = self.prepared_bytes.get(&request).cloned().unwrap_or_default();
                self.sent_to_neighbours(span, (place, index), &bytes);
            }
            Started::Send => {
                self.note_message(span, &event);
            }
            Started::Collective => {
                let number = self.count_collective(place);
                if let Some(pending) = self.requests.get_mut(request) {
                    pending.posted = number;
                }
                self.count(span, Sizes::Collectives, bytes);
                self.note(&Event { kind: Kind::CollectiveStarted, posted: number, ..event });
            }
        }
    }
}

/// Observes MPI_Request_free.
pub(crate) unsafe fn forget(
    call: Call,
    real: impl FnOnce() -> c_int,
    request: *const Request,
) -> c_int {
    let handle = request.as_ref().copied().unwrap_or(REQUEST_NULL);
    around(call, real, |recorder, span| {
        recorder.check_freed(span, handle);
        recorder.lose(span, handle);
    })
}

/// Observes MPI_Cancel. It is unknown until later whether the operation is cancelled, so nothing more is recorded for
/// it.
pub(crate) unsafe fn cancel(
    call: Call,
    real: impl FnOnce() -> c_int,
    request: *const Request,
) -> c_int {
    let handle = request.as_ref().copied().unwrap_or(REQUEST_NULL);
    around(call, real, |recorder, span| recorder.lose(span, handle))
}

impl Recorder {
    /// Records a call after which nothing more is recorded for a request.
    fn lose(&mut self, span: &Span, request: Request) {
        self.call(span);
        self.uncheck(request);
        self.requests.remove(request);
        self.prepared_bytes.remove(&request);
    }
}
