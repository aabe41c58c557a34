//! Reading and writing: all that moves without waiting.

use contract::{Error, Result, Status, Tag};

use super::connection::{Body, EAGER_MAX, Target};
use super::matching::Content;
use super::operation::{Lent, Operation};
use super::{Connection, Engine};
use crate::frame::{Header, Kind};

impl Engine {
    /// Writes what can be written to one rank.
    pub(super) fn write_to(&mut self, to: usize, lent: &mut Lent<'_>) -> Result<()> {
        let Some(peer) = &mut self.peers[to] else { return Ok(()) };
        match peer.flush(&mut self.held, lent.send) {
            Ok(_) => Ok(()),
            Err(_) if peer.goodbye => {
                peer.forget_outgoing();
                Ok(())
            }
            // What it said before the end, perhaps a goodbye, can still be read, and tells more than the failed write.
            Err(error) => {
                self.read_all_from(to, lent)?;
                match &mut self.peers[to] {
                    Some(peer) if peer.goodbye => {
                        peer.forget_outgoing();
                        Ok(())
                    }
                    _ => Err(self.lost(to, &error.to_string())),
                }
            }
        }
    }

    fn read_all_from(&mut self, from: usize, lent: &mut Lent<'_>) -> Result<()> {
        while self.read_from(from, lent)? {}
        Ok(())
    }

    /// Reads what has come from one rank; whether that was anything.
    pub(super) fn read_from(&mut self, from: usize, lent: &mut Lent<'_>) -> Result<bool> {
        let mut moved = false;
        loop {
            let Some(peer) = &mut self.peers[from] else { return Ok(moved) };
            if peer.closed {
                return Ok(moved);
            }
            match peer.read(&mut self.held, lent.receive) {
                Ok(None) => return Ok(moved),
                Ok(Some((_, 0))) => {
                    self.end_of_stream(from)?;
                    return Ok(true);
                }
                Ok(Some((room, bytes))) => {
                    moved = true;
                    self.take_in(from, lent)?;
                    // Less than there was room for: nothing more is there yet.
                    if bytes < room {
                        return Ok(true);
                    }
                }
                Err(error) => return Err(self.lost(from, &error.to_string())),
            }
        }
    }

    /// Goes through what lies in the stage.
    fn take_in(&mut self, from: usize, lent: &mut Lent<'_>) -> Result<()> {
        loop {
            let Some(peer) = &mut self.peers[from] else { return Ok(()) };
            if peer.body.is_some() {
                if !peer.fill_body(&mut self.held, lent.receive) {
                    return Ok(());
                }
                self.end_body(from, lent)?;
                continue;
            }
            match peer.next_header() {
                None => return Ok(()),
                Some(Ok(header)) => self.begin(from, header, lent)?,
                Some(Err(bytes)) => {
                    return Err(self.nonsense(from, &format!("a frame that begins {bytes:02x?}")));
                }
            }
        }
    }

    fn begin(&mut self, from: usize, header: Header, lent: &mut Lent<'_>) -> Result<()> {
        let bytes = header.bytes as usize;
        let message = Status { source: from, tag: Tag::from_wire(header.tag), bytes };
        let Some(peer) = &mut self.peers[from] else { return Ok(()) };
        peer.take_credit(header.credit);
        match header.kind {
            Kind::Credit => Ok(()),
            Kind::Goodbye => {
                peer.goodbye = true;
                Ok(())
            }
            Kind::Eager if bytes > EAGER_MAX => {
                Err(self.nonsense(from, &format!("{bytes} bytes without asking")))
            }
            Kind::Eager => {
                let target = match self.matching.receive_for(message, &mut self.held) {
                    Some(index) => Target::Receive(index),
                    None => {
                        self.matching.keep(message, Content::Coming);
                        Target::Unexpected(vec![0; bytes])
                    }
                };
                self.begin_body(from, Body { target, bytes, done: 0, eager: true })
            }
            Kind::RequestToSend => {
                match self.matching.receive_for(message, &mut self.held) {
                    Some(index) => self.ask_for(index, message, header.id, lent)?,
                    None => self.matching.keep(message, Content::Announced(header.id)),
                }
                Ok(())
            }
            Kind::ClearToSend => self.hand_over(from, header, lent),
            Kind::Data => {
                let index = header.id as usize;
                let awaited = matches!(self.held.at(index), Some(Operation::Receive(receive))
                    if !receive.done && receive.message.is_some_and(|m| m.source == from && m.bytes >= bytes));
                if !awaited {
                    return Err(self.nonsense(from, "a message that was not asked for"));
                }
                let target = Target::Receive(index);
                self.begin_body(from, Body { target, bytes, done: 0, eager: false })
            }
        }
    }

    fn begin_body(&mut self, from: usize, body: Body) -> Result<()> {
        if let Some(peer) = &mut self.peers[from] {
            peer.body = Some(body);
        }
        Ok(())
    }

    /// Sends a message that was asked for.
    fn hand_over(&mut self, to: usize, header: Header, lent: &mut Lent<'_>) -> Result<()> {
        let (index, bytes) = (header.id as usize, header.bytes as usize);
        let waits = matches!(self.held.at(index), Some(Operation::Send(send))
            if !send.done && send.to == to && send.bytes >= bytes);
        if !waits {
            return Err(self.nonsense(to, "a question for a message that was not announced"));
        }
        let data = Header { id: header.tag, bytes: header.bytes, ..Header::new(Kind::Data) };
        if let Some(peer) = &mut self.peers[to] {
            peer.queue(data, Some((index, bytes)));
        }
        self.write_to(to, lent)
    }

    fn end_body(&mut self, from: usize, lent: &mut Lent<'_>) -> Result<()> {
        let Some(Connection { body, .. }) = &mut self.peers[from] else { return Ok(()) };
        let Some(body) = body.take() else { return Ok(()) };
        match body.target {
            Target::Unexpected(memory) => {
                self.matching.arrived(from, memory);
                Ok(())
            }
            Target::Receive(index) => {
                if let Some(Operation::Receive(receive)) = self.held.at_mut(index) {
                    receive.done = true;
                }
                if body.eager { self.consumed(from, body.bytes, lent) } else { Ok(()) }
            }
        }
    }

    fn end_of_stream(&mut self, from: usize) -> Result<()> {
        match &mut self.peers[from] {
            Some(peer) if peer.goodbye && peer.body.is_none() => {
                peer.closed = true;
                Ok(())
            }
            _ => Err(self.lost(from, "its connection ended without a goodbye")),
        }
    }

    /// The connection to a rank broke. Whoever watches over the run knows best why.
    #[cold]
    fn lost(&mut self, rank: usize, how: &str) -> Error {
        let known = self.supervision.verdict();
        let error = known.unwrap_or_else(|| Error::RankDied { rank, how: how.into() });
        self.fail(error)
    }

    #[cold]
    fn nonsense(&mut self, rank: usize, what: &str) -> Error {
        let explanation = format!("rank {rank} sent what no rank sends: {what}");
        self.fail(Error::System { what: "reading from another rank".into(), reason: explanation })
    }
}
