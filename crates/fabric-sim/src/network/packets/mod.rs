//! Level L2: packets over channels with finite buffers and credits.
//!
//! The engine of the sender cuts a message into packets. Each packet goes from channel to channel along its route. A
//! channel carries one packet at a time, and only if the buffer at its far end has a free place (a credit). The packets
//! at the heads of a node's inputs request their next channel. When all requests of an instant have arrived, the
//! arbiter of the channel grants one. The credit is returned when the last byte of the packet has left the buffer.
//!
//! In a closed ring of buffers all could be full, and no packet could move. A packet that enters such a ring therefore
//! needs two free places, and one that stays in it needs one (bubble flow control, Carrion et al. 1997).

mod engine;
mod links;

use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Time, TimeSpan};

use super::merge::{self, Merge};
use super::{ChannelUse, Outcome, Parcel};
use crate::agenda::{Agenda, Event};
use crate::machine::Machine;
use crate::message_kind::MessageKind;
use crate::topology::Topology;

const UNLIMITED: u32 = u32::MAX;

pub(crate) struct Packets {
    machine: Rc<Machine>,
    topology: Topology,
    nodes: Vec<Node>,
    channels: Vec<Channel>,
    /// The packets at each input. Input c holds those from channel c; after these there is one input for the engine of
    /// each node.
    inputs: Vec<VecDeque<u32>>,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    /// By message.
    travels: Vec<Travel>,
    /// Channels that may grant a request in this instant, each once.
    touched: Vec<u32>,
    /// Free channels whose packet waits for a node that sends or takes in another.
    blocked: Vec<u32>,
    busy_spans: Option<Vec<(u32, Time, Time)>>,
}

struct Channel {
    merge: Box<dyn Merge>,
    /// Free places in the buffer behind it.
    credits: u32,
    /// The input whose packet it carries. `None`: it is free.
    serves: Option<u32>,
    touched: bool,
    busy: TimeSpan,
    carried: u64,
}

#[derive(Default)]
struct Node {
    /// Messages to cut into packets. The first of them has been started.
    to_send: VecDeque<u32>,
    /// Packets that have arrived and are to be taken in.
    to_take_in: VecDeque<u32>,
    sending: bool,
    taking_in: bool,
    /// Whether a packet of it is on a channel, where it sends and takes in one after the other.
    occupied: bool,
}

#[derive(Clone, Copy)]
struct Packet {
    message: u32,
    bytes: u32,
    /// How many channels of the route it has passed.
    hop: u32,
    first: bool,
    last: bool,
}

/// A parcel under way.
#[derive(Default)]
struct Travel {
    parcel: Option<Parcel>,
    route: Vec<u32>,
    /// Bytes not yet cut into packets.
    uncut: u64,
    cut_any: bool,
    /// When it was launched. All its packets have this age, so that the later packets of a long message are not
    /// younger.
    born: Time,
}

impl Travel {
    fn next_packet_bytes(&self, machine: &Machine) -> u64 {
        match self.parcel {
            Some(Parcel { kind: MessageKind::Bare, .. }) => self.uncut,
            _ => self.uncut.min(u64::from(machine.network.packet_bytes)),
        }
    }
}

impl Packets {
    pub(crate) fn new(machine: Rc<Machine>, topology: Topology) -> Self {
        let policy = machine.network.merge;
        let channel = |_| Channel {
            merge: merge::new(policy),
            credits: machine.network.buffer_packets,
            serves: None,
            touched: false,
            busy: TimeSpan::ZERO,
            carried: 0,
        };
        let mut channels: Vec<Channel> = (0..topology.channels()).map(channel).collect();
        if machine.endpoint.packet_receive.is_zero() {
            // No packet waits for an engine that takes no time.
            topology.last_channels().for_each(|last| channels[last].credits = UNLIMITED);
        }
        Packets {
            nodes: (0..topology.nodes()).map(|_| Node::default()).collect(),
            inputs: vec![VecDeque::new(); channels.len() + topology.nodes()],
            channels,
            machine,
            topology,
            packets: Vec::new(),
            free_packets: Vec::new(),
            travels: Vec::new(),
            touched: Vec::new(),
            blocked: Vec::new(),
            busy_spans: None,
        }
    }

    pub(crate) fn launch(
        &mut self,
        agenda: &mut Agenda,
        parcel: Parcel,
        outcomes: &mut Vec<Outcome>,
    ) {
        let index = parcel.message as usize;
        if index >= self.travels.len() {
            self.travels.resize_with(index + 1, Travel::default);
        }
        let travel = &mut self.travels[index];
        travel.parcel = Some(parcel);
        travel.uncut = parcel.bytes;
        travel.cut_any = false;
        travel.born = agenda.now();
        travel.route.clear();
        self.topology.route(parcel.from as usize, parcel.to as usize, &mut travel.route);
        self.nodes[parcel.from as usize].to_send.push_back(parcel.message);
        self.work(agenda, parcel.from, outcomes);
    }

    pub(crate) fn handle(
        &mut self,
        agenda: &mut Agenda,
        event: Event,
        outcomes: &mut Vec<Outcome>,
    ) {
        match event {
            Event::Prepared(node) => {
                self.nodes[node as usize].sending = false;
                self.inject(node);
                self.work(agenda, node, outcomes);
            }
            Event::ChannelFree(channel) => self.free(agenda, channel, outcomes),
            Event::AtNode(packet) => {
                let Packet { message, hop, .. } = self.packets[packet as usize];
                let input = self.travels[message as usize].route[hop as usize - 1];
                self.enter(input, packet);
            }
            Event::AtEnd(packet) => {
                let to = self.parcel(self.packets[packet as usize].message).to;
                self.nodes[to as usize].to_take_in.push_back(packet);
                self.work(agenda, to, outcomes);
            }
            Event::TakenIn(node) => {
                self.nodes[node as usize].taking_in = false;
                self.took_in(node, outcomes);
                self.work(agenda, node, outcomes);
            }
            other => unreachable!("no event of this level: {other:?}"),
        }
    }

    fn parcel(&self, message: u32) -> Parcel {
        self.travels[message as usize].parcel.expect("a packet's message is under way")
    }

    pub(crate) fn packets_inside(&self) -> usize {
        self.packets.len() - self.free_packets.len()
    }

    pub(crate) fn channel_use(&self) -> Vec<ChannelUse> {
        let used = self.channels.iter().enumerate().filter(|(_, channel)| channel.carried > 0);
        used.map(|(number, channel)| ChannelUse {
            name: self.topology.channel_name(number as u32),
            busy: channel.busy,
            packets: channel.carried,
        })
        .collect()
    }

    pub(crate) fn keep_busy_spans(&mut self) {
        self.busy_spans = Some(Vec::new());
    }

    pub(crate) fn take_busy_spans(&mut self) -> Vec<(String, Time, Time)> {
        let spans = self.busy_spans.take().unwrap_or_default();
        let named = |(number, from, to)| (self.topology.channel_name(number), from, to);
        spans.into_iter().map(named).collect()
    }
}
