//! Messages between two ranks.

use std::ffi::c_int;

use profile::{Event, Kind};

use super::{around, around_status};
use crate::abi::*;
use crate::checks::{Access, Owner, Use};
use crate::data::{Call, Data, To};
use crate::recorder::{Probed, Recorder, Span};
use crate::requests::{Pending, Started};

/// Records a blocking send.
#[inline(always)]
pub(crate) unsafe fn send(call: Call, real: impl FnOnce() -> c_int, data: Data, to: To) -> c_int {
    around(call, real, |recorder, span| {
        if recorder.sent(span, Kind::Sent, data.bytes(1), to).is_some() {
            recorder.check_used(span, &[Use::of(data, Access::Reads)]);
        }
    })
}

/// Records the start of a send.
#[inline(always)]
pub(crate) unsafe fn start_send(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    to: To,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        let sent = recorder.sent(span, Kind::SendStarted, data.bytes(1), to);
        let Some(event) = sent else { return };
        let (place, index) = recorder.communicator(to.comm);
        recorder.requests.add(*request, pending_send(&event, place, index));
        let uses = [Use::of(data, Access::Reads)];
        recorder.check_posted(span, Owner::request(*request), &uses);
    })
}

fn pending_send(event: &Event, place: u32, index: u16) -> Pending {
    let Event { bytes, peer, tag, posted, .. } = *event;
    Pending { bytes, peer, tag, posted, ..Pending::new(Started::Send, place, index) }
}

/// Records the creation of a persistent send.
pub(crate) unsafe fn prepare_send(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    to: To,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        if to.rank < 0 {
            return;
        }
        let (place, index) = recorder.communicator(to.comm);
        let peer = recorder.world_rank(place, to.rank);
        let pending = Pending {
            bytes: data.bytes(1),
            peer,
            tag: to.tag,
            ..Pending::new(Started::Send, place, index).prepared()
        };
        recorder.requests.add(*request, pending);
        recorder.check_prepared(*request, &[Use::of(data, Access::Reads)]);
    })
}

/// Records a blocking receive.
#[inline(always)]
pub(crate) unsafe fn receive(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    data: Data,
    from: To,
    status: *mut Status,
) -> c_int {
    around_status(call, real, status, |recorder, span, status| {
        let (place, index) = recorder.communicator(from.comm);
        recorder.received(span, place, index, span.begin, &*status, true);
        if from.rank != PROC_NULL {
            recorder.check_used(span, &[Use::of(data, Access::Writes)]);
        }
    })
}

impl Recorder {
    /// Records that a receive has ended in this call, which is its own or one that completes it.
    pub(crate) fn received(
        &mut self,
        span: &Span,
        place: u32,
        index: u16,
        posted: u64,
        status: &Status,
        is_span: bool,
    ) {
        if status.source < 0 {
            if is_span {
                self.call(span);
            }
            return;
        }
        let peer = self.world_rank(place, status.source);
        let (tag, communicator) = (status.tag, index);
        let event = Event {
            is_span,
            posted,
            peer,
            tag,
            communicator,
            ..Recorder::event(Kind::Received, span)
        };
        // If the rank has probed for the message, it has waited in the probe.
        let same = |one: &Probed| (one.place, one.peer, one.tag) == (place, peer, tag);
        match self.probed.take_if(|one| same(one)) {
            Some(probed) => self.received_probed(span, &event, &probed),
            None => self.note(&event),
        }
    }

    /// Records the receive of a message that the rank waited for in a probe.
    fn received_probed(&mut self, span: &Span, event: &Event, probed: &Probed) {
        let Span { begin, end, site } = probed.span;
        let posted = event.posted.min(begin);
        self.note(&Event { begin, end, site, posted, is_span: false, ..*event });
        self.call(span);
    }
}

/// Records the start of a receive.
#[inline(always)]
pub(crate) unsafe fn start_receive(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    from: To,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        if from.rank == PROC_NULL {
            return;
        }
        let (place, index) = recorder.communicator(from.comm);
        let posted = span.begin;
        let pending = Pending { posted, ..Pending::new(Started::Receive, place, index) };
        recorder.requests.add(*request, pending);
        let uses = [Use::of(data, Access::Writes)];
        recorder.check_posted(span, Owner::request(*request), &uses);
    })
}

/// Records the creation of a persistent receive.
pub(crate) unsafe fn prepare_receive(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    from: To,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        if from.rank == PROC_NULL {
            return;
        }
        let (place, index) = recorder.communicator(from.comm);
        let pending = Pending::new(Started::Receive, place, index);
        recorder.requests.add(*request, pending.prepared());
        recorder.check_prepared(*request, &[Use::of(data, Access::Writes)]);
    })
}

/// Records a send and a receive in one call. Without memory of its own, the received message replaces the sent one. The
/// receive stands for the call, which may also have waited for the receiver of the send.
#[allow(clippy::too_many_arguments)] // As in the standard.
pub(crate) unsafe fn exchange(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    send: Data,
    receive: Option<Data>,
    to: To,
    from: To,
    status: *mut Status,
) -> c_int {
    around_status(call, real, status, |recorder, span, status| {
        recorder.sent_in_exchange(span, send, to);
        let (place, index) = recorder.communicator(from.comm);
        recorder.received(span, place, index, span.begin, &*status, true);
        recorder.check_used(span, &exchanged(send, receive, to, from));
    })
}

/// As [`exchange`], only started.
#[allow(clippy::too_many_arguments)] // As in the standard.
pub(crate) unsafe fn start_exchange(
    call: Call,
    real: impl FnOnce() -> c_int,
    send: Data,
    receive: Option<Data>,
    to: To,
    from: To,
    request: *const Request,
) -> c_int {
    around(call, real, |recorder, span| {
        recorder.call(span);
        recorder.sent_in_exchange(span, send, to);
        if from.rank != PROC_NULL {
            let (place, index) = recorder.communicator(from.comm);
            let pending = Pending::new(Started::Receive, place, index);
            recorder.requests.add(*request, Pending { posted: span.begin, ..pending });
        }
        let uses = exchanged(send, receive, to, from);
        recorder.check_posted(span, Owner::request(*request), &uses);
    })
}

/// Returns the memory of an exchange. If the received data replace the sent ones, the memory counts only as written.
fn exchanged(send: Data, receive: Option<Data>, to: To, from: To) -> [Use; 2] {
    let is_replaced = receive.is_none() && from.rank != PROC_NULL;
    let read = if to.rank >= 0 && !is_replaced { send } else { Data::none() };
    let written = if from.rank == PROC_NULL { Data::none() } else { receive.unwrap_or(send) };
    [Use::of(read, Access::Reads), Use::of(written, Access::Writes)]
}

impl Recorder {
    /// Records the send of a call that has another event of its own.
    unsafe fn sent_in_exchange(&mut self, span: &Span, data: Data, to: To) {
        if to.rank < 0 {
            return;
        }
        let bytes = data.bytes(1);
        let event = Event { is_span: false, ..Recorder::event(Kind::SendStarted, span) };
        self.sent_as(span, event, bytes, to);
    }
}

/// Returns the result of a probe.
unsafe fn found(recorder: &mut Recorder, span: &Span, from: To, status: &Status) -> Option<Probed> {
    if status.source < 0 {
        return None;
    }
    let (place, index) = recorder.communicator(from.comm);
    let peer = recorder.world_rank(place, status.source);
    Some(Probed { span: *span, place, index, peer, tag: status.tag })
}

/// Records a probe that waits.
pub(crate) unsafe fn probe(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    from: To,
    status: *mut Status,
) -> c_int {
    around_status(call, real, status, |recorder, span, status| {
        recorder.call(span);
        recorder.probed = found(recorder, span, from, &*status);
    })
}

/// Records a matched probe that waits.
pub(crate) unsafe fn matched_probe(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    from: To,
    message: *const Message,
    status: *mut Status,
) -> c_int {
    around_status(call, real, status, |recorder, span, status| {
        recorder.call(span);
        if let Some(probed) = found(recorder, span, from, &*status) {
            recorder.matched.insert(*message, probed);
        }
    })
}

/// Records a probe that does not wait.
pub(crate) unsafe fn poll_message(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    _from: To,
    flag: *const c_int,
    status: *mut Status,
) -> c_int {
    super::poll(call, || real(status), flag)
}

/// Records a matched probe that does not wait.
pub(crate) unsafe fn matched_poll(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    from: To,
    flag: *const c_int,
    message: *const Message,
    status: *mut Status,
) -> c_int {
    around_status(call, real, status, |recorder, span, status| {
        if *flag == 0 {
            return recorder.poll(span);
        }
        recorder.call(span);
        if let Some(probed) = found(recorder, span, from, &*status) {
            recorder.matched.insert(*message, probed);
        }
    })
}

/// Records the receive of a message that a matched probe has taken. The handle is read before the call, which changes
/// it.
pub(crate) unsafe fn receive_matched(
    call: Call,
    real: impl FnOnce(*mut Status) -> c_int,
    data: Data,
    message: *const Message,
    status: *mut Status,
) -> c_int {
    let handle = message.as_ref().copied().unwrap_or(MESSAGE_NULL);
    let real = || real(status);
    around(call, real, |recorder, span| match recorder.matched.remove(&handle) {
        None => recorder.call(span),
        Some(probed) => {
            recorder.received_matched(span, &probed);
            recorder.check_used(span, &[Use::of(data, Access::Writes)]);
        }
    })
}

impl Recorder {
    fn received_matched(&mut self, span: &Span, probed: &Probed) {
        let (peer, tag, communicator) = (probed.peer, probed.tag, probed.index);
        let event = Recorder::event(Kind::Received, span);
        self.received_probed(span, &Event { peer, tag, communicator, ..event }, probed);
    }
}

/// As [`receive_matched`], only started. The message has arrived, so there is no wait for it.
pub(crate) unsafe fn start_matched(
    call: Call,
    real: impl FnOnce() -> c_int,
    data: Data,
    message: *const Message,
    request: *const Request,
) -> c_int {
    let handle = message.as_ref().copied().unwrap_or(MESSAGE_NULL);
    around(call, real, |recorder, span| match recorder.matched.remove(&handle) {
        None => recorder.call(span),
        Some(probed) => {
            recorder.received_matched(span, &probed);
            let uses = [Use::of(data, Access::Writes)];
            recorder.check_posted(span, Owner::request(*request), &uses);
        }
    })
}
