//! The networks of a machine.

use contract::TimeSpan;

use super::Machine;
use crate::message_kind::MessageKind;
use crate::quantity::{Cost, PerUnit};
use crate::topology::Shape;

/// A network, which carries messages between its nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name, by which faults and links refer to it if there are several networks.
    pub name: String,
    /// The shape, which determines the nodes that links join.
    pub shape: Shape,
    /// Maximum payload of a packet in bytes.
    pub packet_bytes: u32,
    /// Length of the header of each packet in bytes.
    pub header_bytes: u32,
    /// Time of a byte on a link.
    pub byte_time: PerUnit,
    /// Time of a packet on a link in addition to its bytes. The steps of a machine's own collectives do not have it.
    pub packet: TimeSpan,
    /// True if a link carries packets in one direction at a time (level L2). A node then drives all its links at once,
    /// even if its end point is simplex.
    pub simplex_links: bool,
    /// True if the nodes forward no messages, so that a program can send only to neighbours.
    pub single_hop: bool,
    /// Time from one end of a link to the other.
    pub latency: TimeSpan,
    /// Time of a node to forward a data packet.
    pub forward: TimeSpan,
    /// Time of a node to forward a control packet.
    pub forward_control: TimeSpan,
    /// The moment at which a node forwards a packet.
    pub switching: Switching,
    /// The order in which a link takes waiting packets.
    pub merge: MergePolicy,
    /// Number of packets that fit the buffer at each input of a node.
    pub buffer_packets: u32,
    /// Packets start only at multiples of this time (a bus with slots). Zero: at any time.
    pub slot: TimeSpan,
    /// Number of neighbouring nodes that share each of its ports, as the processors of one host do.
    pub nodes_per_port: usize,
    /// Time of the sender's engine before the first packet of a message: the software of this network.
    pub message: Cost,
    /// A message takes a network further out while this number of bytes of its node, or more, wait for this network.
    /// `None`: never.
    pub detour_bytes: Option<u64>,
    /// Time until a sender detects that packets were lost and sends them again.
    pub notice: TimeSpan,
}

/// A network that joins the nodes of each group.
#[derive(Clone, Debug, PartialEq)]
pub struct InnerNetwork {
    /// Number of neighbouring nodes in a group.
    pub group_nodes: usize,
    /// The network within each group.
    pub network: Network,
}

/// The moment at which a node forwards a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// When all of it has arrived.
    StoreAndForward,
    /// As soon as its header has arrived.
    CutThrough,
}

/// The order in which a link takes waiting packets.
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
    /// Returns the time of a packet with `bytes` bytes of payload on a link, in whole slots if the link has slots.
    pub fn serialisation(&self, bytes: u64, kind: MessageKind) -> TimeSpan {
        let fixed = if kind == MessageKind::Bare { TimeSpan::ZERO } else { self.packet };
        let time = fixed + self.byte_time.times(bytes + self.header(kind));
        match self.slot {
            TimeSpan::ZERO => time,
            slot => slot.times(time.as_ps().div_ceil(slot.as_ps())),
        }
    }

    /// Returns the time after which the header of a packet has passed a point, so that the next node may forward the
    /// packet. Returns zero if the node waits for the whole packet.
    pub fn head_time(&self, kind: MessageKind) -> TimeSpan {
        match self.switching {
            Switching::StoreAndForward => TimeSpan::ZERO,
            Switching::CutThrough => self.byte_time.times(self.header(kind)),
        }
    }

    /// Returns the time of a node to forward a packet.
    pub fn forwarding(&self, kind: MessageKind) -> TimeSpan {
        match kind {
            MessageKind::Data | MessageKind::Access => self.forward,
            MessageKind::Control => self.forward_control,
            MessageKind::Bare => TimeSpan::ZERO,
        }
    }

    /// Returns the number of packets of a message of `bytes` bytes.
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
    /// Returns all networks, from the innermost outwards, each with the number of nodes in a group of it. The network
    /// that joins all nodes is the last, with `nodes` nodes.
    pub fn networks(&self, nodes: usize) -> impl Iterator<Item = (usize, &Network)> {
        let inner = self.inner_networks.iter().map(|inner| (inner.group_nodes, &inner.network));
        inner.chain(std::iter::once((nodes, &self.network)))
    }

    /// Returns whether messages have several paths or paths break. Only level `packets` determines which path a message
    /// takes.
    pub fn has_variable_paths(&self) -> bool {
        !self.inner_networks.is_empty()
            || !self.faults.is_empty()
            || self.network.nodes_per_port > 1
    }

    /// Returns the same machine with only the network of this number, counted from the innermost, and without faults.
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
