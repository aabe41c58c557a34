//! The two links of a node. A node takes packets from the left, keeps those for itself, and stores the others and
//! passes them on to the right.
//!
//! A node sends packets of its own only while it stores none of others, and it takes packets only while it has a place
//! to store one. So the places of the ring are never all taken: when the last own packet was sent, its sender stored
//! none, and the packets in the ring cannot fill the places of all others and its own. Some node can always take a
//! packet, so all packets move.

use std::collections::VecDeque;

use contract::{Buffer, Completed, Posted, Progress, Source, Tag, TagSelector};

use super::RingNode;
use super::packet::{HEADER_BYTES, Header, Opcode, PACKET_BYTES_MAX};
use crate::limits::RING_TRANSIT_PACKETS;
use crate::{Error, Result};

/// The tag of packets with a header.
const PACKETS: Tag = Tag::new(0);

/// The state of a node's links.
#[derive(Default)]
pub(super) struct Links {
    /// The receive that waits for the next packet from the left.
    receiving: Option<Posted>,
    /// The send of a packet to the right.
    sending: Option<Posted>,
    /// Packets to pass on.
    transit: VecDeque<Buffer>,
    /// Buffers for reuse.
    spare: Vec<Buffer>,
    /// Receivers that are ready for a message of this node, with the tag.
    pub(super) ready: Vec<(usize, u32)>,
    /// The message that this node receives.
    pub(super) message: Option<IncomingMessage>,
    /// The token of a barrier, with its data.
    pub(super) token: Option<(Opcode, Vec<u8>)>,
    /// True if the left neighbour sends nothing more.
    has_ended: bool,
}

/// A message that its receiver has requested.
pub(super) struct IncomingMessage {
    pub(super) from: usize,
    pub(super) tag: u32,
    /// The beginning of its data, as far as there is room.
    pub(super) data: Vec<u8>,
    pub(super) room: usize,
    /// Number of its bytes that have arrived, with or without room, and number of its packets.
    pub(super) bytes: usize,
    pub(super) packets: u16,
    pub(super) is_complete: bool,
}

impl RingNode<'_> {
    /// Sends a packet of this node's own, once it stores none of others.
    pub(super) fn inject(&mut self, header: Header, data: &[u8]) -> Result<()> {
        while self.links.sending.is_some() || !self.links.transit.is_empty() {
            self.step()?;
        }
        let mut packet = self.buffer();
        packet.resize(HEADER_BYTES + data.len());
        packet[..HEADER_BYTES].copy_from_slice(&header.encode());
        packet[HEADER_BYTES..].copy_from_slice(data);
        self.begin_sending(packet)
    }

    /// Waits until the packet to the right has been sent.
    pub(super) fn flush(&mut self) -> Result<()> {
        while self.links.sending.is_some() {
            self.step()?;
        }
        Ok(())
    }

    fn buffer(&mut self) -> Buffer {
        self.links.spare.pop().unwrap_or_else(|| Buffer::zeroed(PACKET_BYTES_MAX))
    }

    fn begin_sending(&mut self, packet: Buffer) -> Result<()> {
        let right = self.right();
        self.links.sending = Some(self.rank.post_send(right, PACKETS, packet)?);
        Ok(())
    }

    /// Starts the receive and the send that are possible now.
    fn start_links(&mut self) -> Result<()> {
        let has_place = self.links.transit.len() < RING_TRANSIT_PACKETS;
        if self.links.receiving.is_none() && has_place && !self.links.has_ended {
            let mut room = self.buffer();
            room.resize(PACKET_BYTES_MAX);
            let left = Source::Rank(self.left());
            self.links.receiving =
                Some(self.rank.post_receive(left, TagSelector::Is(PACKETS), room)?);
        }
        if self.links.sending.is_none()
            && let Some(packet) = self.links.transit.pop_front()
        {
            self.begin_sending(packet)?;
        }
        Ok(())
    }

    /// Waits until a packet has been received or sent.
    pub(super) fn step(&mut self) -> Result<()> {
        self.start_links()?;
        let Links { receiving, sending, .. } = &mut *self.links;
        let has_send = sending.is_some();
        let mut posted: Vec<Posted> = sending.take().into_iter().chain(receiving.take()).collect();
        let (index, completed) = self.rank.wait_any(&mut posted)?;
        let is_send = has_send && index == 0;
        let other = posted.pop();
        let place = if is_send { &mut self.links.receiving } else { &mut self.links.sending };
        *place = other;
        self.transfer_completed(is_send, completed)
    }

    /// Receives and passes on packets as far as possible without waiting. Returns whether there was anything to do.
    ///
    /// # Errors
    /// Those of the fabric.
    pub fn serve(&mut self) -> Result<bool> {
        let mut has_moved = false;
        if self.nodes() == 1 {
            return Ok(false);
        }
        loop {
            self.start_links()?;
            let mut moved_now = false;
            for is_send in [true, false] {
                let Links { receiving, sending, .. } = &mut *self.links;
                let place = if is_send { sending } else { receiving };
                let Some(posted) = place.take() else { continue };
                match self.rank.test(posted)? {
                    Progress::Pending(same) if is_send => self.links.sending = Some(same),
                    Progress::Pending(same) => self.links.receiving = Some(same),
                    Progress::Done(completed) => {
                        self.transfer_completed(is_send, completed)?;
                        moved_now = true;
                    }
                }
            }
            if !moved_now {
                return Ok(has_moved);
            }
            has_moved = true;
        }
    }

    fn transfer_completed(&mut self, is_send: bool, completed: Completed) -> Result<()> {
        let Completed { mut buffer, status, .. } = completed;
        if is_send {
            self.links.spare.push(buffer);
            return Ok(());
        }
        buffer.resize(status.bytes);
        self.packet_received(buffer)
    }

    /// Keeps a packet that is for this node, and stores it if it is also for others.
    fn packet_received(&mut self, mut packet: Buffer) -> Result<()> {
        let (left, own) = (self.left(), 1 << self.me());
        let malformed = |what: &str| Error::Malformed { from: left, what: what.into() };
        let mut header = Header::decode(&packet).ok_or_else(|| malformed("it is no packet"))?;
        if header.destinations & own != 0 {
            self.deliver(&header, &packet[HEADER_BYTES..]).map_err(malformed)?;
        }
        header.destinations &= !own;
        if header.destinations == 0 {
            self.links.spare.push(packet);
            return Ok(());
        }
        if header.sources & own != 0 {
            return Err(malformed("it went all the way round and met no receiver"));
        }
        packet[..HEADER_BYTES].copy_from_slice(&header.encode());
        self.links.transit.push_back(packet);
        Ok(())
    }

    /// Takes in a packet that is for this node. Returns the mistake in it, if there is one.
    fn deliver(&mut self, header: &Header, data: &[u8]) -> std::result::Result<(), &'static str> {
        let source = header.sources.trailing_zeros() as usize;
        match header.opcode {
            Opcode::ReadyToSend => self.links.ready.push((source, header.tag)),
            Opcode::Data | Opcode::LastData => {
                let wanted = |one: &&mut IncomingMessage| {
                    (one.from, one.tag, one.packets) == (source, header.tag, header.number)
                };
                let message = self.links.message.as_mut().filter(wanted);
                let message = message.ok_or("nobody has asked for it")?;
                let fits = data.len().min(message.room - message.data.len());
                message.data.extend_from_slice(&data[..fits]);
                message.bytes += data.len();
                message.packets = message.packets.wrapping_add(1);
                message.is_complete = header.opcode == Opcode::LastData;
            }
            Opcode::Collect | Opcode::Release => {
                let token = (header.opcode, data.to_vec());
                if self.links.token.replace(token).is_some() {
                    return Err("it is a second token");
                }
            }
            Opcode::End => self.links.has_ended = true,
        }
        Ok(())
    }

    /// Reports to the right neighbour that nothing follows, and waits until the left neighbour has reported it.
    pub(super) fn end_links(&mut self) -> Result<()> {
        let (sources, destinations) = (1 << self.me(), 1 << self.right());
        let opcode = Opcode::End;
        let end = Header { sources, destinations, bytes: 0, number: 0, opcode, tag: 0 };
        self.inject(end, &[])?;
        while !self.links.has_ended || self.links.sending.is_some() {
            self.step()?;
        }
        Ok(())
    }
}
