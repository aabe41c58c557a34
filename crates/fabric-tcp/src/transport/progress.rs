//! Progress without waiting: reading and writing.

use contract::{AgreedCall, CallId, Envelope, Error, Result};
use engine::{CallNote, CallNoteKind, Contents, Location, Messages, Rts, Unexpected};

use super::connection::{Body, Target};
use super::start::cleared_bytes;
use super::{Connection, Connections};
use crate::frame::{ArrivedHeader, Header, Kind};

impl Connections {
    /// Writes as much as possible to one rank.
    pub(crate) fn write_to(&mut self, messages: &mut Messages, to: usize) -> Result<()> {
        let Some(peer) = &mut self.peers[to] else { return Ok(()) };
        match peer.flush(&mut messages.transfers) {
            Ok(moved) => {
                self.activity += u64::from(moved);
                self.may_wait_to_write |= peer.waits_to_write();
                Ok(())
            }
            Err(_) if peer.goodbye => {
                peer.forget_outgoing();
                Ok(())
            }
            // What it sent before the end, perhaps a goodbye, can still be read, and is more informative than the
            // failed write.
            Err(error) => {
                while self.read_from(messages, to)? {}
                match &mut self.peers[to] {
                    Some(peer) if peer.goodbye => {
                        peer.forget_outgoing();
                        Ok(())
                    }
                    _ => self.connection_lost(messages, to, &error.to_string()),
                }
            }
        }
    }

    /// Reads what has arrived from one rank. Returns whether anything has.
    pub(super) fn read_from(&mut self, messages: &mut Messages, from: usize) -> Result<bool> {
        let mut moved = false;
        loop {
            let Some(peer) = &mut self.peers[from] else { return Ok(moved) };
            if peer.is_closed() {
                return Ok(moved);
            }
            match peer.read(&mut messages.transfers) {
                Ok(None) => return Ok(moved),
                Ok(Some((_, 0))) => {
                    self.end_of_stream(messages, from)?;
                    return Ok(true);
                }
                Ok(Some((room, bytes))) => {
                    moved = true;
                    self.activity += 1;
                    self.take_frames(messages, from)?;
                    // Less than the room: nothing more is there yet.
                    if bytes < room {
                        return Ok(true);
                    }
                }
                Err(_) if peer.goodbye && peer.body.is_none() => {
                    peer.close();
                    return Ok(true);
                }
                Err(error) => {
                    self.connection_lost(messages, from, &error.to_string())?;
                    return Ok(true);
                }
            }
        }
    }

    /// Processes what was read from one rank.
    fn take_frames(&mut self, messages: &mut Messages, from: usize) -> Result<()> {
        loop {
            let Some(peer) = &mut self.peers[from] else { return Ok(()) };
            if peer.body.is_some() {
                if !peer.fill_body(&mut messages.transfers) {
                    return Ok(());
                }
                self.end_body(messages, from)?;
                continue;
            }
            match peer.next_header() {
                None => return Ok(()),
                Some(Ok(header)) => self.begin_frame(messages, from, header)?,
                Some(Err(bytes)) => {
                    self.refuse(messages, from, &format!("a frame that begins {bytes:02x?}"))?;
                }
            }
        }
    }

    fn begin_frame(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: ArrivedHeader,
    ) -> Result<()> {
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        if peer.add_credit(header.credit).is_none() {
            return self.refuse(messages, from, &format!("{:?} bytes of credit", header.credit));
        }
        match header.kind {
            Kind::Credit => {}
            Kind::Leaving => {
                self.others_left += usize::from(!peer.has_left);
                peer.has_left = true;
            }
            Kind::Goodbye => peer.goodbye = true,
            Kind::Eager => return self.begin_eager(messages, from, header),
            Kind::Rts => return self.begin_rendezvous(messages, from, header),
            Kind::Cts => return self.send_data(messages, from, header),
            Kind::Data => return self.begin_data(messages, from, header),
            Kind::Collective | Kind::CollectiveQuestion | Kind::CollectiveAnswer => {
                self.activity += 1;
                let Some(note) = note_in(header) else {
                    return self.refuse(messages, from, "a call of impossible length");
                };
                if let Some(reply) = messages.take_call_note(from, note) {
                    return self.queue_call_note(messages, from, reply);
                }
            }
        }
        Ok(())
    }

    fn begin_eager(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: ArrivedHeader,
    ) -> Result<()> {
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        let Some(bytes) = peer.use_their_credit(header.bytes) else {
            let what = format!("{:?} bytes without an RTS or beyond its credit", header.bytes);
            return self.refuse(messages, from, &what);
        };
        let envelope = envelope(from, &header, bytes);
        let target = match messages.match_receive(&envelope) {
            Some(request) => Target::Receive(request),
            None => {
                let contents = Contents::Arriving;
                messages.unexpected.add(Unexpected { envelope, contents });
                Target::Unexpected(vec![0; bytes])
            }
        };
        self.begin_body(from, Body { target, bytes, done: 0, eager: true });
        Ok(())
    }

    fn begin_rendezvous(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: ArrivedHeader,
    ) -> Result<()> {
        // No memory is taken for the message before the program has lent some.
        let Some(bytes) = header.bytes.at_most(isize::MAX as u64) else {
            return self.refuse(messages, from, "an RTS of impossible length");
        };
        let envelope = envelope(from, &header, bytes as usize);
        match messages.match_receive(&envelope) {
            Some(request) => self.send_cts(messages, request, from, header.request.sent_back()),
            None => {
                let rts = Rts { request: header.request.sent_back(), location: Location::Remote };
                let contents = Contents::Rts(rts);
                messages.unexpected.add(Unexpected { envelope, contents });
                Ok(())
            }
        }
    }

    fn begin_data(
        &mut self,
        messages: &mut Messages,
        from: usize,
        header: ArrivedHeader,
    ) -> Result<()> {
        let receive = messages.transfers.answered_receive(header.request, from);
        let cleared = receive.map(|one| (one, cleared_bytes(&messages.transfers[one].envelope)));
        match cleared.filter(|(_, bytes)| header.bytes.is(*bytes as u64)) {
            Some((request, bytes)) => {
                let target = Target::Receive(request);
                self.begin_body(from, Body { target, bytes, done: 0, eager: false });
                Ok(())
            }
            None => self.refuse(messages, from, "data that were not cleared"),
        }
    }

    fn begin_body(&mut self, from: usize, body: Body) {
        if let Some(peer) = &mut self.peers[from] {
            peer.body = Some(body);
        }
    }

    /// Sends a message for which a CTS has arrived.
    fn send_data(
        &mut self,
        messages: &mut Messages,
        to: usize,
        header: ArrivedHeader,
    ) -> Result<()> {
        let send = messages.transfers.answered_send(header.request, to);
        let requested = send.and_then(|send| {
            let bytes = header.bytes.at_most(messages.transfers[send].room as u64)?;
            Some((send, bytes))
        });
        let Some((request, requested_bytes)) = requested else {
            return self.refuse(messages, to, "a CTS for a message without an RTS");
        };
        let bytes = requested_bytes as usize;
        let data =
            Header { request: header.tag, bytes: requested_bytes, ..Header::new(Kind::Data) };
        if let Some(peer) = &mut self.peers[to] {
            peer.queue(data, Some((request, bytes)));
        }
        self.write_to(messages, to)
    }

    fn end_body(&mut self, messages: &mut Messages, from: usize) -> Result<()> {
        let Some(Connection { body, .. }) = &mut self.peers[from] else { return Ok(()) };
        let Some(body) = body.take() else { return Ok(()) };
        match body.target {
            Target::Unexpected(memory) => messages.unexpected.arrived(from, memory),
            Target::Receive(request) => {
                messages.transfers[request].done = true;
                if body.eager {
                    return self.return_credit(messages, from, body.bytes);
                }
            }
        }
        Ok(())
    }

    /// Tells a rank about a call, unless it has ended.
    pub(super) fn queue_call_note(
        &mut self,
        messages: &mut Messages,
        to: usize,
        note: CallNote,
    ) -> Result<()> {
        match &mut self.peers[to] {
            Some(peer) if !peer.goodbye => {
                peer.queue(header_of(note), None);
                self.write_to(messages, to)
            }
            _ => Ok(()),
        }
    }

    fn end_of_stream(&mut self, messages: &mut Messages, from: usize) -> Result<()> {
        match &mut self.peers[from] {
            Some(peer) if peer.goodbye && peer.body.is_none() => {
                peer.close();
                Ok(())
            }
            _ => self.connection_lost(messages, from, "its connection ended without a goodbye"),
        }
    }

    /// Handles what no rank sends. A rank of this run has failed, which ends the run. The connection to a process of
    /// another run is closed, and calls that need it fail.
    #[cold]
    fn refuse(&mut self, messages: &mut Messages, from: usize, what: &str) -> Result<()> {
        if self.supervision.is_nobody() {
            if let Some(peer) = &mut self.peers[from] {
                peer.fault = Some(format!("sent what no process sends: {what}"));
            }
            self.lose(from);
            return Ok(());
        }
        Err(messages.refuse(from, what))
    }

    /// Handles a broken connection to a rank. The supervision of the run knows the reason best.
    #[cold]
    fn connection_lost(&mut self, messages: &mut Messages, rank: usize, how: &str) -> Result<()> {
        if self.supervision.is_nobody() {
            self.lose(rank);
            return Ok(());
        }
        let cause = self.supervision.wait_for_cause();
        let error = cause.unwrap_or_else(|| Error::RankDied { rank, how: how.into() });
        Err(messages.fail(error))
    }
}

/// Returns what a frame tells about a call, or `None` if there is no such call.
fn note_in(header: ArrivedHeader) -> Option<CallNote> {
    let ArrivedHeader { context, tag: number, request, .. } = header;
    let bytes = header.bytes.at_most(isize::MAX as u64)? as usize;
    let kind = match header.kind {
        Kind::CollectiveQuestion => CallNoteKind::Question,
        Kind::CollectiveAnswer => CallNoteKind::Answer,
        _ => CallNoteKind::Report,
    };
    let call = AgreedCall { id: CallId::from_bits(request.sent_back()), bytes };
    let call = Some(call).filter(|call| call.id != CallId::NONE);
    Some(CallNote { kind, context, number, call })
}

/// Returns the frame that tells about a call.
fn header_of(note: CallNote) -> Header {
    let kind = match note.kind {
        CallNoteKind::Report => Kind::Collective,
        CallNoteKind::Question => Kind::CollectiveQuestion,
        CallNoteKind::Answer => Kind::CollectiveAnswer,
    };
    let AgreedCall { id, bytes } = note.call.unwrap_or(AgreedCall { id: CallId::NONE, bytes: 0 });
    let (context, tag, request) = (note.context, note.number, id.bits());
    Header { context, tag, request, bytes: bytes as u64, ..Header::new(kind) }
}

/// Returns the envelope of the message that a frame begins.
fn envelope(from: usize, header: &ArrivedHeader, bytes: usize) -> Envelope {
    Envelope { context: header.context, source: from as u32, tag: header.tag, bytes, room: bytes }
}
