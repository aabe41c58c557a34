//! The start of operations.

use contract::{Envelope, Request, Result};
use engine::{Contents, Messages, Unexpected};

use super::connection::Target;
use super::{Connection, Connections};
use crate::frame::{Header, Kind};

impl Connections {
    /// Queues a message to another rank, or the RTS for it.
    pub(super) fn queue_send(
        &mut self,
        messages: &mut Messages,
        to: usize,
        request: Request,
    ) -> Result<()> {
        self.activity += 1;
        let send = messages.transfers[request];
        let (bytes, is_eager) = (send.room, !send.is_synchronous);
        let Some(peer) = &mut self.peers[to] else { return Ok(()) };
        if is_eager && peer.lacks_credit(bytes) {
            // It may have arrived by now.
            self.read_from(messages, to)?;
        }
        let Some(peer) = &mut self.peers[to] else { return Ok(()) };
        let (context, tag) = (send.envelope.context, send.envelope.tag);
        let header = Header { context, tag, bytes: bytes as u64, ..Header::new(Kind::Eager) };
        if is_eager && peer.use_credit(bytes) {
            peer.queue(header, Some((request, bytes)));
        } else {
            messages.transfers.announce(request);
            peer.queue(Header { kind: Kind::Rts, request: request.0, ..header }, None);
        }
        Ok(())
    }

    /// Receives an unexpected message that a new receive has matched.
    pub(super) fn receive_unexpected(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        self.activity += 1;
        let source = message.envelope.source as usize;
        match message.contents {
            Contents::Copy(data) => {
                messages.transfers[request].append(&data);
                self.return_credit(messages, source, data.len())
            }
            Contents::Arriving => {
                self.redirect(messages, source, request);
                Ok(())
            }
            Contents::Rts(rts) => self.send_cts(messages, request, source, rts.request),
            Contents::Own(_) => unreachable!("no connection adds such messages"),
        }
    }

    /// Directs the rest of the message that arrives from `source` into the memory of a receive, and copies what has
    /// arrived.
    fn redirect(&mut self, messages: &mut Messages, source: usize, request: Request) {
        let Some(Connection { body: Some(body), .. }) = &mut self.peers[source] else { return };
        let earlier = std::mem::replace(&mut body.target, Target::Receive(request));
        if let Target::Unexpected(memory) = earlier {
            let room = messages.transfers[request].room_mut(0..body.done);
            room.copy_from_slice(&memory[..room.len()]);
        }
    }

    /// Sends a CTS for the message that rank `to` keeps as its request `sender`, limited to the receive's room.
    pub(super) fn send_cts(
        &mut self,
        messages: &mut Messages,
        request: Request,
        to: usize,
        sender: u32,
    ) -> Result<()> {
        messages.transfers.announce(request);
        let bytes = cleared_bytes(&messages.transfers[request].envelope) as u64;
        let header = Header { request: sender, tag: request.0, bytes, ..Header::new(Kind::Cts) };
        if let Some(peer) = &mut self.peers[to] {
            peer.queue(header, None);
        }
        self.write_to(messages, to)
    }

    /// Returns the credit of an eager message to its sender.
    pub(super) fn return_credit(
        &mut self,
        messages: &mut Messages,
        source: usize,
        bytes: usize,
    ) -> Result<()> {
        let Some(peer) = &mut self.peers[source] else { return Ok(()) };
        peer.return_credit(bytes);
        if peer.has_outgoing() { self.write_to(messages, source) } else { Ok(()) }
    }
}

/// Returns the number of bytes of a message that its receive has room for, which its sender is asked for.
pub(super) fn cleared_bytes(message: &Envelope) -> usize {
    message.bytes.min(message.room)
}
