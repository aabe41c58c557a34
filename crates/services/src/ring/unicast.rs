//! Messages to one node or several. The sender waits until each receiver has reported that it is ready (RTS), and then
//! sends (stop and wait).

use contract::check_rank;

use super::RingNode;
use super::links::IncomingMessage;
use super::packet::{Header, Opcode};
use crate::limits::RING_PACKET_BYTES;
use crate::{Error, Result};

impl RingNode<'_> {
    /// Sends `data` to node `to`, which receives it with the same tag. Returns when the data may be changed.
    ///
    /// # Errors
    /// As of [`send_to_many`](RingNode::send_to_many).
    pub fn send(&mut self, to: usize, tag: u32, data: &[u8]) -> Result<()> {
        check_rank(to, self.nodes())?;
        self.send_to_many(1 << to, tag, data)
    }

    /// Sends `data` to all nodes whose bits are set in `destinations`, once around the ring, after all of them are
    /// ready.
    ///
    /// # Errors
    /// [`Error::NotOnRing`], without any effect, if `destinations` is empty, or has this node or one that does not
    /// exist. Those of the fabric.
    pub fn send_to_many(&mut self, destinations: u32, tag: u32, data: &[u8]) -> Result<()> {
        let nodes = self.nodes();
        let others = (u64::MAX >> (64 - nodes)) as u32 & !(1 << self.me());
        if destinations == 0 || destinations & !others != 0 {
            return Err(Error::NotOnRing { destinations, me: self.me(), nodes });
        }
        for to in (0..nodes).filter(|to| destinations >> to & 1 == 1) {
            self.await_ready(to, tag)?;
        }
        let sources = 1 << self.me();
        let packets = data.len().div_ceil(RING_PACKET_BYTES).max(1);
        for index in 0..packets {
            let start = index * RING_PACKET_BYTES;
            let part = &data[start..data.len().min(start + RING_PACKET_BYTES)];
            let is_last = index + 1 == packets;
            let header = Header {
                sources,
                destinations,
                bytes: part.len() as u16,
                number: index as u16,
                opcode: if is_last { Opcode::LastData } else { Opcode::Data },
                tag,
            };
            self.inject(header, part)?;
        }
        self.flush()
    }

    fn await_ready(&mut self, to: usize, tag: u32) -> Result<()> {
        loop {
            if let Some(place) = self.links.ready.iter().position(|&one| one == (to, tag)) {
                self.links.ready.remove(place);
                return Ok(());
            }
            self.step()?;
        }
    }

    /// Receives a message of node `from` with this tag into the beginning of `room`, after it has reported to the
    /// sender that it is ready. Returns the message's length.
    ///
    /// # Errors
    /// [`Error::NotOnRing`] from this node itself or one that does not exist, before anything is sent;
    /// [`Error::RingMessageTooLong`] if the message is longer than `room`, which then has its beginning; those of the
    /// fabric.
    pub fn receive(&mut self, from: usize, tag: u32, room: &mut [u8]) -> Result<usize> {
        let (me, nodes) = (self.me(), self.nodes());
        check_rank(from, nodes)?;
        if from == me {
            return Err(Error::NotOnRing { destinations: 1 << from, me, nodes });
        }
        let (data, room_bytes) = (Vec::with_capacity(room.len()), room.len());
        let message = IncomingMessage {
            from,
            tag,
            data,
            room: room_bytes,
            bytes: 0,
            packets: 0,
            is_complete: false,
        };
        self.links.message = Some(message);
        let opcode = Opcode::ReadyToSend;
        let (sources, destinations) = (1 << me, 1 << from);
        self.inject(Header { sources, destinations, bytes: 0, number: 0, opcode, tag }, &[])?;
        let message = loop {
            if let Some(message) = self.links.message.take_if(|message| message.is_complete) {
                break message;
            }
            self.step()?;
        };
        room[..message.data.len()].copy_from_slice(&message.data);
        if message.bytes > room_bytes {
            return Err(Error::RingMessageTooLong { from, tag, bytes: message.bytes, room_bytes });
        }
        Ok(message.bytes)
    }
}
