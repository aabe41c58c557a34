//! The networks of a machine.

use contract::TimeSpan;

use super::Machine;
use crate::message_kind::MessageKind;
use crate::quantity::{Cost, PerUnit};
use crate::topology::Shape;

/// What lies between the ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name, by which faults and links are told apart where there are several.
    pub name: String,
    /// Which nodes are joined by links.
    pub shape: Shape,
    /// The longest packet, in bytes of payload.
    pub packet_bytes: u32,
    /// The header of each packet, in bytes.
    pub header_bytes: u32,
    /// The time of a byte on a link.
    pub byte_time: PerUnit,
    /// The time of a packet on a link beside its bytes; not for the steps of a machine's own collectives.
    pub packet: TimeSpan,
    /// Whether a link carries packets one way at a time (level L2). A node then drives all its links at once, even
    /// where its end point is simplex.
    pub simplex_links: bool,
    /// Whether the nodes pass no messages on, so that a program can send to neighbours only.
    pub single_hop: bool,
    /// The time from one end of a link to the other.
    pub latency: TimeSpan,
    /// The time of a node to pass a data packet on.
    pub forward: TimeSpan,
    /// The time of a node to pass a control packet on.
    pub forward_control: TimeSpan,
    /// When a node passes a packet on.
    pub switching: Switching,
    /// Which of several waiting packets a link takes first.
    pub merge: MergePolicy,
    /// How many packets fit the buffer at each input of a node.
    pub buffer_packets: u32,
    /// Packets start only at multiples of this time (a bus with slots). Zero: at any time.
    pub slot: TimeSpan,
    /// How many neighbouring nodes share each of its ports, as the processors of one host do.
    pub nodes_per_port: usize,
    /// The time of the sender's engine before the first packet of a message: the software of this network.
    pub message: Cost,
    /// A message goes by a network further out while so many bytes of this node, or more, wait for this one. `None`:
    /// never.
    pub detour_bytes: Option<u64>,
    /// The time until a sender knows that packets were lost, and sends again.
    pub notice: TimeSpan,
}

/// A network that joins the nodes of each group.
#[derive(Clone, Debug, PartialEq)]
pub struct InnerNetwork {
    /// How many neighbouring nodes are a group.
    pub group_nodes: usize,
    /// What joins them, in each group.
    pub network: Network,
}

/// When a node passes a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// When all of it has arrived.
    StoreAndForward,
    /// As soon as its header has arrived.
    CutThrough,
}

/// Which of several waiting packets a link takes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergePolicy {
    /// One from each input in turn. This is fair at the link, and unfair to packets from far away.
    RoundRobin,
    /// A packet of the message that was sent first.
    Age,
    /// A packet that passes through before one of the node's own.
    FixedPriority,
}

impl Network {
    /// The time of a packet with `bytes` bytes of payload on a link, in whole slots where the link has slots.
    pub fn serialisation(&self, bytes: u64, kind: MessageKind) -> TimeSpan {
        let fixed = if kind == MessageKind::Bare { TimeSpan::ZERO } else { self.packet };
        let time = fixed + self.byte_time.times(bytes + self.header(kind));
        match self.slot {
            TimeSpan::ZERO => time,
            slot => slot.times(time.as_ps().div_ceil(slot.as_ps())),
        }
    }

    /// The time after which the header of a packet has passed a point, so that the next node may pass it on. Zero where
    /// the node waits for the whole packet.
    pub fn head_time(&self, kind: MessageKind) -> TimeSpan {
        match self.switching {
            Switching::StoreAndForward => TimeSpan::ZERO,
            Switching::CutThrough => self.byte_time.times(self.header(kind)),
        }
    }

    /// The time of a node to pass a packet on.
    pub fn forwarding(&self, kind: MessageKind) -> TimeSpan {
        match kind {
            MessageKind::Data | MessageKind::Access => self.forward,
            MessageKind::Control => self.forward_control,
            MessageKind::Bare => TimeSpan::ZERO,
        }
    }

    /// The number of packets of a message of `bytes` bytes.
    pub fn packets(&self, bytes: u64, kind: MessageKind) -> u64 {
        match kind {
            MessageKind::Bare => 1,
            MessageKind::Data | MessageKind::Control | MessageKind::Access => {
                bytes.div_ceil(u64::from(self.packet_bytes)).max(1)
            }
        }
    }

    fn header(&self, kind: MessageKind) -> u64 {
        if kind == MessageKind::Bare { 0 } else { u64::from(self.header_bytes) }
    }
}

impl Machine {
    /// All networks, from the innermost outwards, each with the number of nodes in a group of it: the one that joins
    /// all is the last, with `nodes` nodes.
    pub fn networks(&self, nodes: usize) -> impl Iterator<Item = (usize, &Network)> {
        let inner = self.inner_networks.iter().map(|inner| (inner.group_nodes, &inner.network));
        inner.chain(std::iter::once((nodes, &self.network)))
    }

    /// Whether messages have several ways, or ways break: only level `packets` knows which one is taken.
    pub fn has_ways(&self) -> bool {
        !self.inner_networks.is_empty()
            || !self.faults.is_empty()
            || self.network.nodes_per_port > 1
    }

    /// The same machine with nothing but its network of this number, counted from the innermost.
    #[must_use]
    pub fn over(&self, number: usize) -> Machine {
        let chosen = self.inner_networks.get(number).map_or(&self.network, |inner| &inner.network);
        Machine {
            network: chosen.clone(),
            inner_networks: Vec::new(),
            faults: Vec::new(),
            ..self.clone()
        }
    }
}
