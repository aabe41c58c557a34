//! Level L2: packets over channels with finite buffers and credits.
//!
//! A message is cut into packets by its sender's engine. Each packet goes from channel to channel along its route; a
//! channel carries one at a time, and only if the buffer at its far end has a place (a credit). The packets that wait
//! at the head of a node's inputs ask for their next channel; once all requests of an instant are there, the channel's
//! arbiter grants one. A place is given back when the packet's last byte has left it.
//!
//! In a closed ring of buffers all could be full and none could move. So a packet that enters such a ring needs two free
//! places, one that stays in it only one (bubble flow control, Carrion et al. 1997).

mod engine;
mod links;

use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Time, TimeSpan};

use super::merge::{self, Merge};
use super::{ChannelUse, Kind, Outcome, Parcel};
use crate::agenda::{Agenda, Event};
use crate::machine::Machine;
use crate::topology::Topology;

const UNLIMITED: u32 = u32::MAX;

pub(crate) struct Packets {
    machine: Rc<Machine>,
    topology: Topology,
    nodes: Vec<Node>,
    channels: Vec<Channel>,
    /// Input c holds what came over channel c; after these, one for each node's own engine.
    inputs: Vec<VecDeque<u32>>,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    /// By message.
    travels: Vec<Travel>,
    /// Channels that may have something to decide in this instant, each once.
    touched: Vec<u32>,
    busy_spans: Option<Vec<(u32, Time, Time)>>,
}

struct Channel {
    merge: Box<dyn Merge>,
    /// Free places behind it.
    credits: u32,
    /// The input that it serves; none: it is free.
    serves: Option<u32>,
    touched: bool,
    busy: TimeSpan,
    carried: u64,
}

#[derive(Default)]
struct Node {
    /// Messages to cut into packets, the first of them under way.
    to_send: VecDeque<u32>,
    /// Packets that came and are to be taken in.
    to_take_in: VecDeque<u32>,
    sending: bool,
    taking_in: bool,
}

#[derive(Clone, Copy)]
struct Packet {
    message: u32,
    bytes: u32,
    /// How many channels of the route it has taken.
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
    /// When it was launched: the age of all its packets, so that a long message does not grow younger as it goes.
    born: Time,
}

impl Travel {
    fn next_packet_bytes(&self, machine: &Machine) -> u64 {
        match self.parcel {
            Some(Parcel { kind: Kind::Bare, .. }) => self.uncut,
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
            // Nothing waits for an engine that takes no time.
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
