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
struct CallArguments {
    place: u32,
    index: u16,
    root: u32,
    bytes: u64,
}

impl Recorder {
    unsafe fn arguments_of(&mut self, data: &Data, root: Root, comm: Comm) -> CallArguments {
        let (place, index) = self.communicator(comm);
        let rank = self.root(place, root.rank);
        // If only the root contributes data, the arguments of the other ranks are ignored.
        let gives = !root.gives || self.is_me(rank);
        let communicator = self.communicators.at(place as usize);
        let members = if data.is_of_group { communicator.size } else { communicator.peers() };
        let bytes = if gives { data.bytes(members) } else { 0 };
        CallArguments { place, index, root: rank, bytes }
    }

    /// Returns the memory of this rank that a collective uses. Collectives of two groups are not checked.
    fn uses(
        &mut self,
        send: Data,
        receive: Data,
        root: Root,
        arguments: &CallArguments,
    ) -> [Use; 2] {
        let communicator = self.communicators.at(arguments.place as usize);
        let (members, own) = (communicator.size, communicator.rank);
        let is_checked = self.checks.is_some() && !communicator.is_inter;
        let is_root = self.is_me(arguments.root);
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

    fn noted(&mut self, span: &Span, kind: Kind, arguments: &CallArguments, number: u64) {
        self.count(span, Sizes::Collectives, arguments.bytes);
        let CallArguments { place, index, root, bytes } = *arguments;
        // A single rank does not wait for another.
        if self.communicators.at(place as usize).size == 1 && kind == Kind::Collective {
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
        let arguments = recorder.arguments_of(&send, root, comm);
        let number = recorder.count_collective(arguments.place);
        recorder.noted(span, Kind::Collective, &arguments, number);
        let uses = recorder.uses(send, receive, root, &arguments);
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
        let arguments = recorder.arguments_of(&send, root, comm);
        let number = recorder.count_collective(arguments.place);
        recorder.noted(span, Kind::CollectiveStarted, &arguments, number);
        recorder.requests.add(*request, pending(&arguments, number));
        let uses = recorder.uses(send, receive, root, &arguments);
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
        let arguments = recorder.arguments_of(&send, root, comm);
        recorder.requests.add(*request, pending(&arguments, 0).prepared());
        let uses = recorder.uses(send, receive, root, &arguments);
        recorder.check_prepared(*request, &uses);
    })
}

fn pending(arguments: &CallArguments, number: u64) -> Pending {
    Pending {
        bytes: arguments.bytes,
        peer: arguments.root,
        posted: number,
        ..Pending::new(Started::Collective, arguments.place, arguments.index)
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
        let window = self.windows.at(place as usize);
        window.collectives += 1;
        let posted = window.collectives;
        let event = Recorder::event(Kind::Collective, span);
        self.note(&Event { posted, communicator: index, ..event });
    }
}
