//! Progress without waiting: reading and writing.

use contract::{Envelope, Error, Request, Result};

use super::connection::{Body, EAGER_MAX, Target};
use super::matching::Content;
use super::{Connection, Engine};
use crate::frame::{Header, Kind};

impl Engine {
    /// Writes as much as possible to one rank.
    pub(crate) fn write_to(&mut self, to: usize) -> Result<()> {
        let Some(peer) = &mut self.peers[to] else { return Ok(()) };
        match peer.flush(&mut self.operations) {
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
                while self.read_from(to)? {}
                match &mut self.peers[to] {
                    Some(peer) if peer.goodbye => {
                        peer.forget_outgoing();
                        Ok(())
                    }
                    _ => self.connection_lost(to, &error.to_string()),
                }
            }
        }
    }

    /// Reads what has arrived from one rank. Returns whether anything has.
    pub(super) fn read_from(&mut self, from: usize) -> Result<bool> {
        let mut moved = false;
        loop {
            let Some(peer) = &mut self.peers[from] else { return Ok(moved) };
            if peer.is_closed() {
                return Ok(moved);
            }
            match peer.read(&mut self.operations) {
                Ok(None) => return Ok(moved),
                Ok(Some((_, 0))) => {
                    self.end_of_stream(from)?;
                    return Ok(true);
                }
                Ok(Some((room, bytes))) => {
                    moved = true;
                    self.activity += 1;
                    self.take_frames(from)?;
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
                    self.connection_lost(from, &error.to_string())?;
                    return Ok(true);
                }
            }
        }
    }

    /// Processes what was read from one rank.
    fn take_frames(&mut self, from: usize) -> Result<()> {
        loop {
            let Some(peer) = &mut self.peers[from] else { return Ok(()) };
            if peer.body.is_some() {
                if !peer.fill_body(&mut self.operations) {
                    return Ok(());
                }
                self.end_body(from)?;
                continue;
            }
            match peer.next_header() {
                None => return Ok(()),
                Some(Ok(header)) => self.begin_frame(from, header)?,
                Some(Err(bytes)) => {
                    let what = format!("a frame that begins {bytes:02x?}");
                    return Err(self.protocol_violation(from, &what));
                }
            }
        }
    }

    fn begin_frame(&mut self, from: usize, header: Header) -> Result<()> {
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        peer.add_credit(header.credit);
        match header.kind {
            Kind::Credit => {}
            Kind::Leaving => {
                self.others_left += usize::from(!peer.has_left);
                peer.has_left = true;
            }
            Kind::Goodbye => peer.goodbye = true,
            Kind::Eager => return self.begin_eager(from, header),
            Kind::Rts => return self.begin_rendezvous(from, header),
            Kind::Cts => return self.send_data(from, header),
            Kind::Data => return self.begin_data(from, header),
            Kind::Collective => return self.take_call_id(from, header),
            Kind::CollectiveQuestion => return self.answer_call_id(from, header),
            Kind::CollectiveAnswer => self.take_answered_call_id(from, header),
        }
        Ok(())
    }

    fn begin_eager(&mut self, from: usize, header: Header) -> Result<()> {
        let envelope = envelope(from, header);
        let bytes = envelope.bytes;
        if bytes > EAGER_MAX {
            return Err(self.protocol_violation(from, &format!("{bytes} bytes without an RTS")));
        }
        let target = match self.match_receive(envelope) {
            Some(request) => Target::Receive(request),
            None => {
                self.matching.keep(envelope, Content::Arriving);
                Target::Unexpected(vec![0; bytes])
            }
        };
        self.begin_body(from, Body { target, bytes, done: 0, eager: true });
        Ok(())
    }

    fn begin_rendezvous(&mut self, from: usize, header: Header) -> Result<()> {
        let envelope = envelope(from, header);
        match self.match_receive(envelope) {
            Some(request) => self.send_cts(request, from, header.request),
            None => {
                self.matching.keep(envelope, Content::Rts(header.request));
                Ok(())
            }
        }
    }

    fn begin_data(&mut self, from: usize, header: Header) -> Result<()> {
        let (request, bytes) = (Request(header.request), header.bytes as usize);
        let awaited = self.operations.receive(request).is_some_and(|receive| {
            let sends_it = |one: Envelope| one.source as usize == from && one.bytes >= bytes;
            !receive.done && receive.envelope.is_some_and(sends_it)
        });
        if !awaited {
            return Err(self.protocol_violation(from, "data that were not cleared"));
        }
        let target = Target::Receive(request);
        self.begin_body(from, Body { target, bytes, done: 0, eager: false });
        Ok(())
    }

    /// Returns the oldest receive that accepts a message, and records the match.
    pub(super) fn match_receive(&mut self, envelope: Envelope) -> Option<Request> {
        let request = self.matching.receive_for(&envelope)?;
        let receive = self.operations.receive_mut(request)?;
        receive.envelope = Some(Envelope { room: receive.room.bytes(), ..envelope });
        Some(request)
    }

    fn begin_body(&mut self, from: usize, body: Body) {
        if let Some(peer) = &mut self.peers[from] {
            peer.body = Some(body);
        }
    }

    /// Sends a message for which a CTS has arrived.
    fn send_data(&mut self, to: usize, header: Header) -> Result<()> {
        let (request, bytes) = (Request(header.request), header.bytes as usize);
        let waits = self
            .operations
            .send(request)
            .is_some_and(|send| !send.done && send.to == to && send.envelope.bytes >= bytes);
        if !waits {
            return Err(self.protocol_violation(to, "a CTS for a message without an RTS"));
        }
        let data = Header { request: header.tag, bytes: header.bytes, ..Header::new(Kind::Data) };
        if let Some(peer) = &mut self.peers[to] {
            peer.queue(data, Some((request, bytes)));
        }
        self.write_to(to)
    }

    fn end_body(&mut self, from: usize) -> Result<()> {
        let Some(Connection { body, .. }) = &mut self.peers[from] else { return Ok(()) };
        let Some(body) = body.take() else { return Ok(()) };
        match body.target {
            Target::Unexpected(memory) => self.matching.arrived(from, memory),
            Target::Receive(request) => {
                if let Some(receive) = self.operations.receive_mut(request) {
                    receive.done = true;
                }
                if body.eager {
                    return self.return_credit(from, body.bytes);
                }
            }
        }
        Ok(())
    }

    fn end_of_stream(&mut self, from: usize) -> Result<()> {
        match &mut self.peers[from] {
            Some(peer) if peer.goodbye && peer.body.is_none() => {
                peer.close();
                Ok(())
            }
            _ => self.connection_lost(from, "its connection ended without a goodbye"),
        }
    }

    /// Handles a broken connection to a rank. The supervision of the run knows the reason best.
    #[cold]
    fn connection_lost(&mut self, rank: usize, how: &str) -> Result<()> {
        if self.supervision.is_nobody() {
            self.lose(rank);
            return Ok(());
        }
        let known = self.supervision.wait_for_cause();
        let error = known.unwrap_or_else(|| Error::RankDied { rank, how: how.into() });
        Err(self.fail(error))
    }

    #[cold]
    fn protocol_violation(&mut self, rank: usize, what: &str) -> Error {
        let reason = format!("rank {rank} sent what no rank sends: {what}");
        self.fail(Error::System { what: "reading from another rank".into(), reason })
    }
}

/// Returns the envelope of the message that a frame begins.
fn envelope(from: usize, header: Header) -> Envelope {
    let bytes = header.bytes as usize;
    Envelope { context: header.context, source: from as u32, tag: header.tag, bytes, room: bytes }
}
