//! How operations begin and end.

use contract::{
    Buffer, Completed, Error, Posted, Result, Source, Status, Tag, TagSelector, check_rank,
};

use super::connection::Target;
use super::matching::Content;
use super::operation::{Lent, Memory, Operation, Receiving, Sending};
use super::{Connection, Engine};
use crate::frame::{Header, Kind};

impl Engine {
    /// Starts a send of `bytes` bytes from `data`.
    pub(crate) fn start_send(
        &mut self,
        to: usize,
        tag: Tag,
        data: Memory,
        bytes: usize,
        lent: &mut Lent<'_>,
    ) -> Result<Posted> {
        let posted = self.queue_send(to, tag, data, bytes, lent)?;
        if to != self.rank {
            self.write_to(to, lent)?;
        }
        Ok(posted)
    }

    /// The same without writing yet: a window's messages go together.
    pub(crate) fn queue_send(
        &mut self,
        to: usize,
        tag: Tag,
        data: Memory,
        bytes: usize,
        lent: &mut Lent<'_>,
    ) -> Result<Posted> {
        self.check()?;
        check_rank(to, self.size())?;
        let send = Sending { to, tag, bytes, data, done: false };
        let posted = self.held.keep(Operation::Send(send));
        let index = self.held.index(&posted)?;
        let Some(peer) = &mut self.peers[to] else {
            self.send_to_self(index, lent);
            return Ok(posted);
        };
        let header = Header { tag: tag.value(), bytes: bytes as u64, ..Header::new(Kind::Eager) };
        if peer.lacks_credit(bytes) {
            // It may have come by now.
            self.read_from(to, lent)?;
        }
        let Some(peer) = &mut self.peers[to] else { return Ok(posted) };
        if peer.may_send_at_once(bytes) {
            peer.queue(header, Some((index, bytes)));
        } else {
            let asks = Header { kind: Kind::RequestToSend, id: index as u32, ..header };
            peer.queue(asks, None);
        }
        Ok(posted)
    }

    /// A message to this rank itself is received or kept at once, however long.
    fn send_to_self(&mut self, index: usize, lent: &mut Lent<'_>) {
        let Some(Operation::Send(send)) = self.held.at_mut(index) else { return };
        send.done = true;
        let message = Status { source: self.rank, tag: send.tag, bytes: send.bytes };
        let data = send.data(send.bytes, lent.send).to_vec();
        match self.matching.receive_for(message, &mut self.held) {
            Some(receive) => self.deliver(receive, &data, lent),
            None => self.matching.keep(message, Content::Here(data)),
        }
    }

    /// Ends a receive whose message is all here.
    fn deliver(&mut self, index: usize, data: &[u8], lent: &mut Lent<'_>) {
        let Some(Operation::Receive(receive)) = self.held.at_mut(index) else { return };
        let used = data.len().min(receive.room_bytes);
        receive.room(0, used, lent.receive).copy_from_slice(&data[..used]);
        receive.done = true;
    }

    /// Starts a receive into `room`.
    pub(crate) fn start_receive(
        &mut self,
        from: Source,
        tag: TagSelector,
        room: Memory,
        room_bytes: usize,
        lent: &mut Lent<'_>,
    ) -> Result<Posted> {
        self.check()?;
        if let Source::Rank(rank) = from {
            check_rank(rank, self.size())?;
        }
        let mut receive = Receiving { from, tag, room, room_bytes, message: None, done: false };
        let found = self.matching.message_for(&receive);
        receive.message = found.as_ref().map(|found| found.message);
        let posted = self.held.keep(Operation::Receive(receive));
        let index = self.held.index(&posted)?;
        let Some(found) = found else {
            self.matching.post(index);
            return Ok(posted);
        };
        let source = found.message.source;
        match found.content {
            Content::Here(data) => {
                self.deliver(index, &data, lent);
                self.consumed(source, data.len(), lent)?;
            }
            Content::Coming => self.redirect(source, index, lent),
            Content::Announced(id) => self.ask_for(index, found.message, id, lent)?,
        }
        Ok(posted)
    }

    /// The rest of the message that is coming in from `source` goes into the room of a receive; what has come is copied.
    fn redirect(&mut self, source: usize, index: usize, lent: &mut Lent<'_>) {
        let Some(Connection { body: Some(body), .. }) = &mut self.peers[source] else { return };
        let earlier = std::mem::replace(&mut body.target, Target::Receive(index));
        let (Target::Unexpected(memory), Some(Operation::Receive(receive))) =
            (earlier, self.held.at_mut(index))
        else {
            return;
        };
        let used = body.done.min(receive.room_bytes);
        receive.room(0, used, lent.receive).copy_from_slice(&memory[..used]);
    }

    /// Asks for as much of an announced message as there is room for.
    pub(super) fn ask_for(
        &mut self,
        index: usize,
        message: Status,
        id: u32,
        lent: &mut Lent<'_>,
    ) -> Result<()> {
        let Some(Operation::Receive(receive)) = self.held.at(index) else { return Ok(()) };
        let wanted = message.bytes.min(receive.room_bytes) as u64;
        let header =
            Header { id, tag: index as u32, bytes: wanted, ..Header::new(Kind::ClearToSend) };
        if let Some(peer) = &mut self.peers[message.source] {
            peer.queue(header, None);
        }
        self.write_to(message.source, lent)
    }

    /// Gives credit for a message back to its sender.
    pub(super) fn consumed(
        &mut self,
        source: usize,
        bytes: usize,
        lent: &mut Lent<'_>,
    ) -> Result<()> {
        let Some(peer) = &mut self.peers[source] else { return Ok(()) };
        peer.consumed(bytes);
        if peer.has_outgoing() { self.write_to(source, lent) } else { Ok(()) }
    }

    /// Takes out an operation that is done.
    pub(crate) fn end(&mut self, posted: &Posted) -> Result<(Status, Option<Buffer>)> {
        let own = |memory| match memory {
            Memory::Owned(buffer) => Some(buffer),
            Memory::Lent => None,
        };
        match self.held.take(posted)? {
            Operation::Send(send) => {
                let status = Status { source: self.rank, tag: send.tag, bytes: send.bytes };
                Ok((status, own(send.data)))
            }
            Operation::Receive(receive) => {
                receive.outcome().map(|message| (message, own(receive.room)))
            }
        }
    }

    /// The same for one that a program had posted.
    pub(crate) fn complete(&mut self, posted: &Posted) -> Result<Completed> {
        let (status, buffer) = self.end(posted)?;
        let buffer = buffer.ok_or(Error::UnknownRequest)?;
        Ok(Completed { buffer, status, in_place: None })
    }
}
