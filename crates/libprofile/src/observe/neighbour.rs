//! Neighbourhood collectives. Each is recorded as messages to and from the neighbours, because a rank waits for its own
//! neighbours only.

use std::ffi::c_int;

use profile::{Event, Kind};

use super::around;
use crate::abi::*;
use crate::data::{Call, Data};
use crate::recorder::{Recorder, Span};
use crate::requests::{Pending, Started};

/// Tag of these messages. No other message has it: the tags of partitioned messages are above it.
const TAG: c_int = c_int::MIN;

/// Records a blocking collective.
pub(crate) unsafe fn neighbours(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    comm: Comm,
) -> c_int {
    around(call, real, |recorder, span| {
        let (place, index) = recorder.communicator(comm);
        let bytes = recorder.bytes_to_neighbours(place, comm, &send);
        recorder.note(&Recorder::event(Kind::Call, span));
        recorder.sent_to_neighbours(span, (place, index), &bytes);
        recorder.received_from_neighbours(span, (place, index), span.begin);
    })
}

/// Records the start of a collective.
pub(crate) unsafe fn start_neighbours(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    comm: Comm,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let (place, index) = recorder.communicator(comm);
        let bytes = recorder.bytes_to_neighbours(place, comm, &send);
        recorder.note(&Recorder::event(Kind::Call, span));
        recorder.sent_to_neighbours(span, (place, index), &bytes);
        let pending = Pending::new(Started::Neighbours, place, index);
        recorder.requests.add(*request, Pending { posted: span.begin, ..pending });
    })
}

/// Records the creation of a persistent collective.
pub(crate) unsafe fn prepare_neighbours(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    comm: Comm,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        let (place, index) = recorder.communicator(comm);
        let bytes = recorder.bytes_to_neighbours(place, comm, &send);
        let pending = Pending::new(Started::Neighbours, place, index);
        recorder.requests.add(*request, pending.prepared());
        recorder.prepared_bytes.insert(*request, bytes);
    })
}

impl Recorder {
    /// Returns the number of bytes for each neighbour.
    unsafe fn bytes_to_neighbours(&mut self, place: u32, comm: Comm, send: &Data) -> Vec<u64> {
        let communicator = self.communicators.at(place as usize);
        let count = communicator.neighbours(comm).destinations.len();
        (0..count).map(|index| send.bytes_of(index)).collect()
    }

    /// Records a message to each neighbour of a communicator, by its place and index.
    pub(super) fn sent_to_neighbours(
        &mut self,
        span: &Span,
        (place, index): (u32, u16),
        bytes: &[u64],
    ) {
        let Some(all) = self.communicators.at(place as usize).known_neighbours() else { return };
        for (&peer, &bytes) in all.destinations.iter().zip(bytes) {
            if peer != profile::NOBODY {
                let event = Event { bytes, peer, ..Recorder::event(Kind::SendStarted, span) };
                self.note_message(span, &with_neighbour(event, index));
            }
        }
    }

    /// Records that the message of each neighbour has been received in this call.
    pub(super) fn received_from_neighbours(
        &mut self,
        span: &Span,
        (place, index): (u32, u16),
        posted: u64,
    ) {
        let Some(all) = self.communicators.at(place as usize).known_neighbours() else { return };
        for &peer in all.sources.iter().filter(|&&peer| peer != profile::NOBODY) {
            let event = Event { posted, peer, ..Recorder::event(Kind::Received, span) };
            self.note(&with_neighbour(event, index));
        }
    }
}

/// Returns the event as one of a message between neighbours, which does not stand for the call.
fn with_neighbour(event: Event, communicator: u16) -> Event {
    Event { tag: TAG, communicator, is_span: false, ..event }
}
