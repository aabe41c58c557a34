//! Collectives.

use std::ffi::c_int;

use profile::{Event, Kind};

use super::{around, around_ends};
use crate::abi::*;
use crate::checks::{Access, Ends, Owner, Use};
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
        // If only the root contributes data, the arguments of the other ranks are ignored.
        let gives = !root.gives || self.is_me(rank);
        let communicator = self.communicators.known(place as usize);
        let members = if data.is_of_group { communicator.size } else { communicator.peers() };
        let bytes = if gives { data.bytes(members) } else { 0 };
        Known { place, index, root: rank, bytes }
    }

    /// Returns the memory of this rank that a collective uses. Collectives of two groups are not checked.
    fn uses(&mut self, send: Data, receive: Data, root: Root, known: &Known) -> [Use; 2] {
        let communicator = self.communicators.known(known.place as usize);
        let (members, own) = (communicator.size, communicator.rank);
        let is_checked = self.checks.is_some() && !communicator.is_inter;
        let is_root = self.is_me(known.root);
        let reads = is_checked && (!root.gives || is_root);
        let writes = is_checked
            && match (root.rank, root.gives) {
                (None, _) => !(receive.is_of_others && own == 0),
                (Some(_), true) => !(receive.is_of_others && is_root),
                (Some(_), false) => is_root,
            };
        let one = |data: Data, access, is_used: bool| {
            let data = if is_used { data.with_own(own) } else { Data::none() };
            Use { data, access, members }
        };
        [one(send, Access::Reads, reads), one(receive, Access::Writes, writes)]
    }

    fn noted(&mut self, span: &Span, kind: Kind, known: &Known, number: u64) {
        self.count(span, Sizes::Collectives, known.bytes);
        let Known { place, index, root, bytes } = *known;
        // A single rank does not wait for another.
        if self.communicators.known(place as usize).size == 1 && kind == Kind::Collective {
            return self.call(span);
        }
        let event = Recorder::event(kind, span);
        self.note(&Event { posted: number, bytes, peer: root, communicator: index, ..event });
    }
}

/// Records a blocking collective.
pub(crate) unsafe fn collective(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    receive: Data,
    root: Root,
    comm: Comm,
) -> c_int {
    around(call, real, |recorder, span| {
        let known = recorder.known(&send, root, comm);
        let number = recorder.count_collective(known.place);
        recorder.noted(span, Kind::Collective, &known, number);
        let uses = recorder.uses(send, receive, root, &known);
        recorder.check_used(span, &uses);
    })
}

/// Records the start of a collective.
pub(crate) unsafe fn start_collective(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    receive: Data,
    root: Root,
    comm: Comm,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let known = recorder.known(&send, root, comm);
        let number = recorder.count_collective(known.place);
        recorder.noted(span, Kind::CollectiveStarted, &known, number);
        recorder.requests.add(*request, pending(&known, number));
        let uses = recorder.uses(send, receive, root, &known);
        recorder.check_posted(span, Owner::request(*request), &uses);
    })
}

/// Records the creation of a persistent collective.
pub(crate) unsafe fn prepare_collective(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    receive: Data,
    root: Root,
    comm: Comm,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        let known = recorder.known(&send, root, comm);
        recorder.requests.add(*request, pending(&known, 0).prepared());
        let uses = recorder.uses(send, receive, root, &known);
        recorder.check_prepared(*request, &uses);
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

/// Records a collective of the members of a window.
pub(crate) unsafe fn collective_of_window(
    call: Call,
    real: impl FnOnce() -> c_int,
    win: Win,
) -> c_int {
    let note = |recorder: &mut Recorder, span: &Span| {
        recorder.all_come_of_window(span, win);
        recorder.check_accesses(span, win, None);
    };
    around_ends(call, real, note, Ends::Accesses(win, None))
}

impl Recorder {
    /// Records a call of all members of a communicator that transfers no data.
    pub(crate) fn all_come(&mut self, span: &Span, comm: Comm) {
        let (place, index) = self.communicator(comm);
        let posted = self.count_collective(place);
        let event = Recorder::event(Kind::Collective, span);
        self.note(&Event { posted, communicator: index, ..event });
    }

    /// As [`Recorder::all_come`], for a window. Its members remain known after it has been freed.
    pub(crate) fn all_come_of_window(&mut self, span: &Span, win: Win) {
        let (place, index) = self.window(win);
        let known = self.windows.known(place as usize);
        known.collectives += 1;
        let posted = known.collectives;
        let event = Recorder::event(Kind::Collective, span);
        self.note(&Event { posted, communicator: index, ..event });
    }
}
