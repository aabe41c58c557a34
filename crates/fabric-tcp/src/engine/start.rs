//! The start of operations.

use contract::{Completion, Destination, Envelope, Readable, Request, Result, Selector, Writable};

use super::connection::Target;
use super::matching::{Content, Unexpected};
use super::operation::{Operation, Receiving, Sending};
use super::{Connection, Engine};
use crate::frame::{Header, Kind};

impl Engine {
    /// Starts to send `data`.
    pub(crate) fn post_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let request = self.queue_send(to, data, until)?;
        self.write_to(to.rank)?;
        Ok(request)
    }

    /// As `post_send`, without writing: the messages of a window are written together.
    pub(crate) fn queue_send(
        &mut self,
        to: Destination,
        data: Readable,
        until: Completion,
    ) -> Result<Request> {
        let Destination { rank: to, context, tag } = to;
        self.check()?;
        self.activity += 1;
        let bytes = data.bytes();
        let envelope = Envelope { context, source: self.rank as u32, tag, bytes, room: bytes };
        let send = Sending { to, envelope, data, done: false };
        let request = self.operations.start(Operation::Send(send));
        let Some(peer) = &mut self.peers[to] else {
            self.send_to_self(request, envelope, data, until);
            return Ok(request);
        };
        let eager = until == Completion::Local;
        if eager && peer.lacks_credit(bytes) {
            // It may have arrived by now.
            self.read_from(to)?;
        }
        let Some(peer) = &mut self.peers[to] else { return Ok(request) };
        let header = Header { context, tag, bytes: bytes as u64, ..Header::new(Kind::Eager) };
        if eager && peer.use_credit(bytes) {
            peer.queue(header, Some((request, bytes)));
        } else {
            peer.queue(Header { kind: Kind::Rts, request: request.0, ..header }, None);
        }
        Ok(request)
    }

    /// Sends a message to this rank itself. A synchronous one waits for its receive. Any other is copied, whatever its
    /// length.
    fn send_to_self(
        &mut self,
        request: Request,
        envelope: Envelope,
        data: Readable,
        completion: Completion,
    ) {
        let is_done = match (self.match_receive(envelope), completion) {
            (Some(receive), _) => {
                self.deliver(receive, data.as_slice());
                true
            }
            (None, Completion::Local) => {
                self.matching.keep(envelope, Content::Copy(data.as_slice().to_vec()));
                true
            }
            (None, Completion::Synchronous) => {
                self.matching.keep(envelope, Content::Own(request));
                false
            }
        };
        if let Some(send) = self.operations.send_mut(request) {
            send.done = is_done;
        }
    }

    /// Ends a receive whose message has arrived completely.
    fn deliver(&mut self, request: Request, data: &[u8]) {
        if let Some(receive) = self.operations.receive_mut(request) {
            receive.room.write(0, data);
            receive.done = true;
        }
    }

    /// Starts to receive into `room`.
    pub(crate) fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.check()?;
        self.activity += 1;
        let found = self.matching.message_for(&selector);
        let with_room = |one: &Unexpected| Envelope { room: room.bytes(), ..one.envelope };
        let envelope = found.as_ref().map(with_room);
        let receive = Receiving { selector, room, envelope, done: false };
        let request = self.operations.start(Operation::Receive(receive));
        match found {
            Some(message) => self.receive_unexpected(request, message)?,
            None => self.matching.post(selector, request),
        }
        Ok(request)
    }

    fn receive_unexpected(&mut self, request: Request, message: Unexpected) -> Result<()> {
        let source = message.envelope.source as usize;
        match message.content {
            Content::Copy(data) => {
                self.deliver(request, &data);
                self.return_credit(source, data.len())
            }
            Content::Arriving => {
                self.redirect(source, request);
                Ok(())
            }
            Content::Rts(sender) => self.send_cts(request, source, sender),
            Content::Own(send) => {
                self.receive_own(request, send);
                Ok(())
            }
        }
    }

    /// Receives a synchronous message of this rank to itself.
    fn receive_own(&mut self, request: Request, send: Request) {
        let Some(send) = self.operations.send_mut(send) else { return };
        send.done = true;
        let data = send.data;
        self.deliver(request, data.as_slice());
    }

    /// Directs the rest of the message that arrives from `source` into the memory of a receive, and copies what has
    /// arrived.
    fn redirect(&mut self, source: usize, request: Request) {
        let Some(Connection { body: Some(body), .. }) = &mut self.peers[source] else { return };
        let earlier = std::mem::replace(&mut body.target, Target::Receive(request));
        if let (Target::Unexpected(memory), Some(receive)) =
            (earlier, self.operations.receive_mut(request))
        {
            receive.room.write(0, &memory[..body.done]);
        }
    }

    /// Sends a CTS for the message that rank `to` keeps as its request `sender`, limited to the receive's room.
    pub(super) fn send_cts(&mut self, request: Request, to: usize, sender: u32) -> Result<()> {
        let envelope = self.operations.envelope(request);
        let bytes = envelope.bytes.min(envelope.room) as u64;
        let header = Header { request: sender, tag: request.0, bytes, ..Header::new(Kind::Cts) };
        if let Some(peer) = &mut self.peers[to] {
            peer.queue(header, None);
        }
        self.write_to(to)
    }

    /// Returns the credit of an eager message to its sender.
    pub(super) fn return_credit(&mut self, source: usize, bytes: usize) -> Result<()> {
        let Some(peer) = &mut self.peers[source] else { return Ok(()) };
        peer.return_credit(bytes);
        if peer.has_outgoing() { self.write_to(source) } else { Ok(()) }
    }
}
