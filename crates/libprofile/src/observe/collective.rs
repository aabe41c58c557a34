//! Collectives.

use std::ffi::c_int;

use profile::{Event, Kind};

use super::around;
use crate::abi::*;
use crate::data::{Call, Data, Root};
use crate::recorder::{Recorder, Sizes, Span};
use crate::requests::{Pending, Started};

/// The information about a collective from its arguments.
struct Known {
    place: u32,
    index: u16,
    root: u32,
    bytes: u64,
}

impl Recorder {
    unsafe fn known(&mut self, data: &Data, root: Root, comm: Comm) -> Known {
        let (place, index) = self.communicator(comm);
        let rank = self.root(place, root.rank);
        // Only the root's arguments say something, where it alone gives.
        let gives = !root.gives || self.is_me(rank);
        let size = self.communicators.known(place as usize).size;
        let bytes = if gives { data.bytes(size) } else { 0 };
        Known { place, index, root: rank, bytes }
    }

    fn noted(&mut self, span: &Span, kind: Kind, known: &Known, number: u64) {
        self.count(span, Sizes::Collectives, known.bytes);
        let Known { place, index, root, bytes } = *known;
        // A single rank waits for no other.
        if self.communicators.known(place as usize).size == 1 && kind == Kind::Collective {
            return self.call(span);
        }
        let event = Recorder::event(kind, span);
        self.note(&Event { posted: number, bytes, peer: root, communicator: index, ..event });
    }
}

/// A collective that is over when the call is.
pub(crate) unsafe fn collective(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    root: Root,
    comm: Comm,
) -> c_int {
    around(call, real, |recorder, span| {
        let known = recorder.known(&data, root, comm);
        let number = recorder.count_collective(known.place);
        recorder.noted(span, Kind::Collective, &known, number);
    })
}

/// A collective that is started.
pub(crate) unsafe fn start_collective(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    root: Root,
    comm: Comm,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let known = recorder.known(&data, root, comm);
        let number = recorder.count_collective(known.place);
        recorder.noted(span, Kind::CollectiveStarted, &known, number);
        recorder.requests.add(*request, pending(&known, number));
    })
}

/// A collective that is prepared, to be started often.
pub(crate) unsafe fn prepare_collective(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    root: Root,
    comm: Comm,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        let known = recorder.known(&data, root, comm);
        let pending = pending(&known, 0);
        recorder
            .requests
            .add(*request, Pending { is_persistent: true, is_active: false, ..pending });
    })
}

fn pending(known: &Known, number: u64) -> Pending {
    Pending {
        bytes: known.bytes,
        peer: known.root,
        posted: number,
        ..Pending::new(Started::Collective, known.place, known.index)
    }
}

/// A collective of the members of a window.
pub(crate) unsafe fn collective_of_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    win: Win,
) -> c_int {
    around(call, real, |recorder, span| recorder.all_come_of_window(span, win))
}

impl Recorder {
    /// Notes a call to which all members of a communicator come, and which gives no data.
    pub(crate) fn all_come(&mut self, span: &Span, comm: Comm) {
        let (place, index) = self.communicator(comm);
        let posted = self.count_collective(place);
        let event = Recorder::event(Kind::Collective, span);
        self.note(&Event { posted, communicator: index, ..event });
    }

    /// The same of a window, whose members it still has when it has been freed.
    pub(crate) fn all_come_of_window(&mut self, span: &Span, win: Win) {
        let (place, index) = self.window(win);
        let known = self.windows.known(place as usize);
        known.collectives += 1;
        let posted = known.collectives;
        let event = Recorder::event(Kind::Collective, span);
        self.note(&Event { posted, communicator: index, ..event });
    }
}
