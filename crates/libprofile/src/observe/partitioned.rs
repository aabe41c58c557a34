//! Partitioned messages. A message counts as sent when its last partition is ready, because its receiver waits for
//! that.

use std::ffi::c_int;

use profile::{Event, Kind};

use super::around;
use crate::abi::*;
use crate::data::{Call, Data, To};
use crate::recorder::{Recorder, Span};
use crate::requests::{Pending, Started};

/// Returns the recorded tag of a partitioned message. It is below 0, because partitioned messages match no others.
fn own_tag(tag: c_int) -> c_int {
    !tag
}

/// Observes MPI_Psend_init, with the data of a partition.
pub(crate) unsafe fn prepare_parts(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    partitions: c_int,
    to: To,
    request: *const Request,
) -> c_int {
    let parts = u32::try_from(partitions).unwrap_or(0);
    let bytes = data.bytes(1) * u64::from(parts);
    prepare(call, real, Started::Parts, to, request, |pending| Pending { bytes, parts, ..pending })
}

/// Observes MPI_Precv_init.
pub(crate) unsafe fn prepare_receive_of_parts(
    call: Call,
    real: impl FnOnce() -> c_int,
    from: To,
    request: *const Request,
) -> c_int {
    prepare(call, real, Started::ReceiveOfParts, from, request, |pending| pending)
}

unsafe fn prepare(
    call: Call,
    real: impl FnOnce() -> c_int,
    what: Started,
    with: To,
    request: *const Request,
    complete: impl FnOnce(Pending) -> Pending,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        if with.rank < 0 {
            return;
        }
        let (place, index) = recorder.communicator(with.comm);
        let (peer, tag) = (recorder.world_rank(place, with.rank), own_tag(with.tag));
        let pending = Pending { peer, tag, ..Pending::new(what, place, index) };
        recorder.requests.add(*request, complete(pending).prepared());
    })
}

/// Observes MPI_Pready, MPI_Pready_list and MPI_Pready_range, which mark `count` partitions as ready.
pub(crate) unsafe fn ready(
    call: Call,
    real: impl FnOnce() -> c_int,
    count: c_int,
    request: Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        recorder.parts_ready(span, u32::try_from(count).unwrap_or(0), request);
    })
}

impl Recorder {
    fn parts_ready(&mut self, span: &Span, count: u32, request: Request) {
        let Some(pending) = self.requests.get_mut(request) else { return };
        if pending.what != Started::Parts || pending.ready >= pending.parts {
            return;
        }
        pending.ready = pending.ready.saturating_add(count);
        if pending.ready < pending.parts {
            return;
        }
        pending.posted = span.begin;
        let Pending { bytes, peer, tag, index: communicator, .. } = *pending;
        let event = Recorder::event(Kind::SendStarted, span);
        self.note_message(span, &Event { bytes, peer, tag, communicator, is_span: false, ..event });
    }
}
