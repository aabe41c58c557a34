//! Level L2: packets over channels with finite buffers and credits.
//!
//! The engine of the sender cuts a message into packets. Each packet goes from channel to channel along its route. A
//! channel carries one packet at a time, and only if the buffer at its far end has a free place (a credit). The packets
//! at the heads of a node's inputs request their next channel. When all requests of an instant have arrived, the
//! arbiter of the channel grants one. The credit is returned when the last byte of the packet has left the buffer.
//!
//! In a closed ring of buffers all could be full, and no packet could move. A packet that enters such a ring therefore
//! needs two free places, and one that stays in it needs one (bubble flow control, Carrion et al. 1997).
//!
//! If several networks lead from a node to another, the message takes the innermost that is whole and has a short
//! queue. On a machine whose processors forward, a packet that must be forwarded takes time of the node's processor
//! first, and each link has a queue of its own at its node, in memory without limit.
//!
//! A node has an engine for each network. Data that are lost are sent again, and messages between two nodes keep their
//! order.

mod engine;
mod faults;
mod links;
mod queues;

use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Time, TimeSpan};

use super::merge::{self, Merge};
use super::order::Order;
use super::{Outcome, Parcel};
use crate::agenda::{Agenda, Event};
use crate::machine::Machine;
use crate::message_kind::MessageKind;
use crate::network::networks::Networks;
use faults::Faults;
use queues::LinkQueue;

const UNLIMITED: u32 = u32::MAX;

pub(crate) struct Packets {
    machine: Rc<Machine>,
    networks: Networks,
    /// The engines: for each network, those of all nodes.
    nodes: Vec<Node>,
    channels: Vec<Channel>,
    /// The packets at each input. Input c holds those from channel c. After these there is one input for each engine,
    /// and if processors forward, one for each channel with the packets that will go over it.
    inputs: Vec<VecDeque<u32>>,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    /// Transfers by message.
    parcels: Vec<ParcelState>,
    /// Channels that may grant a request in this instant, each once.
    touched: Vec<u32>,
    /// Free channels whose packet waits for a node that sends or takes in another.
    blocked: Vec<u32>,
    /// The state of faults.
    faults: Faults,
    /// The order of the messages between two nodes, if they may overtake each other.
    order: Option<Order>,
    launches: u64,
    busy_spans: Option<Vec<(u32, Time, Time)>>,
}

struct Channel {
    merge: Box<dyn Merge>,
    /// Number of free places in the buffer behind it.
    credits: u32,
    /// The input whose packet it carries. `None`: it is free.
    serves: Option<u32>,
    /// Number of faults that break it now.
    broken: u32,
    touched: bool,
    busy: TimeSpan,
    carried: u64,
    /// The packets that wait for it, at any input.
    queue: LinkQueue,
    /// True if the last packet of its simplex link was carried in this direction.
    yields: bool,
}

#[derive(Default)]
struct Node {
    /// Messages to cut into packets. The first of them has been started.
    to_send: VecDeque<u32>,
    /// Packets that have arrived and wait to be taken in.
    to_receive: VecDeque<u32>,
    sending: bool,
    receiving: bool,
    /// True if a packet of it is on a channel, for a node that sends and takes in one after the other.
    occupied: bool,
    /// Number of bytes of its messages that have not yet left it.
    waiting_bytes: u64,
}

#[derive(Clone, Copy)]
struct Packet {
    message: u32,
    bytes: u32,
    /// Number of channels of the route that it has passed.
    hop: u32,
    first: bool,
    last: bool,
    /// True if a link that it used broke.
    lost: bool,
}

/// A parcel under way.
#[derive(Default)]
struct ParcelState {
    parcel: Option<Parcel>,
    /// The network that it uses.
    network: u32,
    route: Vec<u32>,
    /// Number of bytes not yet cut into packets.
    uncut: u64,
    is_started: bool,
    /// Number of packets between the sender's engine and the receiver's.
    inside: u32,
    /// Number of bytes that the receiver's engine has taken in.
    delivered: u64,
    /// Number of bytes of lost packets, and whether its route is broken. If so, it is sent again once nothing of it is
    /// inside.
    lost_bytes: u64,
    is_broken: bool,
    /// Number of parcels that were launched before it.
    sequence: u64,
    /// Time of its launch. All its packets have this age, so that the later packets of a long message are not younger.
    sent_at: Time,
}

impl ParcelState {
    fn next_packet_bytes(&self, networks: &Networks) -> u64 {
        match self.parcel {
            Some(Parcel { kind: MessageKind::Bare, .. }) => self.uncut,
            _ => self.uncut.min(u64::from(networks.network(self.network as usize).packet_bytes)),
        }
    }
}

impl Packets {
    pub(crate) fn new(machine: Rc<Machine>, networks: Networks) -> Self {
        let channel = |number: u32| {
            let network = networks.network_of(number);
            Channel {
                merge: merge::new(network.merge),
                credits: network.buffer_packets,
                serves: None,
                broken: 0,
                touched: false,
                busy: TimeSpan::ZERO,
                carried: 0,
                queue: LinkQueue::default(),
                yields: false,
            }
        };
        let mut channels: Vec<Channel> = (0..networks.channels() as u32).map(channel).collect();
        if machine.endpoint.processor_forwards {
            channels.iter_mut().for_each(|channel| channel.credits = UNLIMITED);
        } else if machine.endpoint.packet_receive.is_zero() {
            // No packet waits for an engine that takes no time.
            networks.last_channels().for_each(|last| channels[last].credits = UNLIMITED);
        }
        let engines = networks.count() * networks.nodes();
        let queues = if machine.endpoint.processor_forwards { channels.len() } else { 0 };
        let inputs = channels.len() + engines + queues;
        Packets {
            nodes: (0..engines).map(|_| Node::default()).collect(),
            inputs: vec![VecDeque::new(); inputs],
            channels,
            faults: Faults::default(),
            order: machine.has_variable_paths().then(Order::default),
            launches: 0,
            machine,
            networks,
            packets: Vec::new(),
            free_packets: Vec::new(),
            parcels: Vec::new(),
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
        if index >= self.parcels.len() {
            self.parcels.resize_with(index + 1, ParcelState::default);
        }
        let state = &mut self.parcels[index];
        let route = std::mem::take(&mut state.route);
        *state = ParcelState {
            parcel: Some(parcel),
            route,
            uncut: parcel.bytes,
            sequence: self.launches,
            sent_at: agenda.now(),
            ..ParcelState::default()
        };
        self.launches += 1;
        if let Some(order) = &mut self.order {
            order.begin(parcel);
        }
        self.start_transfer(agenda, parcel.message, outcomes);
    }

    /// Sends the uncut bytes of a message over the best available network.
    fn start_transfer(&mut self, agenda: &mut Agenda, message: u32, outcomes: &mut Vec<Outcome>) {
        let parcel = self.parcel(message);
        let Some(network) = self.best_network(parcel, message) else {
            return self.await_repair(message, outcomes);
        };
        let engine = self.engine(network, parcel.from);
        self.parcels[message as usize].network = network as u32;
        let own = &mut self.nodes[engine as usize];
        own.waiting_bytes += self.parcels[message as usize].uncut;
        let newest = self.parcels[message as usize].sequence + 1 == self.launches;
        if newest {
            own.to_send.push_back(message);
            return self.work(agenda, engine, outcomes);
        }
        // A message that is sent again goes before later ones, because these wait for it at the receiver.
        let sequence = |message: u32| self.parcels[message as usize].sequence;
        let later =
            own.to_send.iter().rev().take_while(|&&other| sequence(other) > sequence(message));
        let place = own.to_send.len() - later.count();
        let begun =
            own.to_send.front().is_some_and(|&first| self.parcels[first as usize].is_started);
        own.to_send.insert(place.max(usize::from(begun)), message);
        self.work(agenda, engine, outcomes);
    }

    /// Returns the engine of a node at a network.
    fn engine(&self, network: usize, node: u32) -> u32 {
        (network * self.networks.nodes()) as u32 + node
    }

    /// Returns the engine that sends a message, and the one that takes it in.
    fn engines(&self, message: u32) -> (u32, u32) {
        let (network, parcel) =
            (self.parcels[message as usize].network as usize, self.parcel(message));
        (self.engine(network, parcel.from), self.engine(network, parcel.to))
    }

    /// Returns the innermost network that leads from node to node, is whole on its route and has a short queue at the
    /// sender. If all queues are long, returns the innermost whole one. Stores the route with the message.
    fn best_network(&mut self, parcel: Parcel, message: u32) -> Option<usize> {
        let (from, to) = (parcel.from as usize, parcel.to as usize);
        let mut route = std::mem::take(&mut self.parcels[message as usize].route);
        let mut best = None;
        if self.order.is_none() {
            // There is one network, and nothing of it breaks.
            route.clear();
            self.networks.route(0, from, to, &mut route);
            self.parcels[message as usize].route = route;
            return Some(0);
        }
        for network in
            (0..self.networks.count()).filter(|&network| self.networks.reaches(network, from, to))
        {
            route.clear();
            self.networks.route(network, from, to, &mut route);
            if route.iter().any(|&channel| self.channels[channel as usize].broken > 0) {
                continue;
            }
            let waiting = self.nodes[self.engine(network, parcel.from) as usize].waiting_bytes;
            let detour_bytes = self.networks.network(network).detour_bytes;
            if detour_bytes.is_none_or(|most| waiting < most) {
                best = Some(network);
                break;
            }
            best = best.or(Some(network));
        }
        if let Some(network) = best {
            route.clear();
            self.networks.route(network, from, to, &mut route);
        }
        self.parcels[message as usize].route = route;
        best
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
                self.inject(agenda, node, outcomes);
                self.work(agenda, node, outcomes);
            }
            Event::ChannelFree(channel) => self.free(agenda, channel, outcomes),
            Event::AtNode(packet) => {
                let Packet { message, hop, lost, .. } = self.packets[packet as usize];
                let input = self.parcels[message as usize].route[hop as usize - 1];
                if lost {
                    self.return_credit(input);
                    self.drop_packet(agenda, packet, outcomes);
                } else {
                    self.forward(agenda, input, packet, outcomes);
                }
            }
            Event::Forwarded(packet) => self.forwarded(agenda, packet, outcomes),
            Event::AtEnd(packet) => {
                let Packet { message, hop, lost, .. } = self.packets[packet as usize];
                if lost {
                    let last = self.parcels[message as usize].route[hop as usize - 1];
                    self.return_credit(last);
                    return self.drop_packet(agenda, packet, outcomes);
                }
                let to = self.engines(message).1;
                self.nodes[to as usize].to_receive.push_back(packet);
                self.work(agenda, to, outcomes);
            }
            Event::Received(node) => {
                self.nodes[node as usize].receiving = false;
                self.complete_reception(agenda, node, outcomes);
                self.work(agenda, node, outcomes);
            }
            Event::Fault(fault) => self.handle_fault(agenda, fault, outcomes),
            Event::Retransmit(message) => self.retransmit(agenda, message, outcomes),
            other => unreachable!("no event of this level: {other:?}"),
        }
    }

    fn parcel(&self, message: u32) -> Parcel {
        self.parcels[message as usize].parcel.expect("a packet's message is under way")
    }

    pub(crate) fn packets_inside(&self) -> usize {
        self.packets.len() - self.free_packets.len() - self.faults.lost_packets()
    }

    pub(crate) fn keep_busy_spans(&mut self) {
        self.busy_spans = Some(Vec::new());
    }

    pub(crate) fn take_busy_spans(&mut self) -> Vec<(String, Time, Time)> {
        let spans = self.busy_spans.take().unwrap_or_default();
        let named = |(number, from, to)| (self.networks.channel_name(number), from, to);
        spans.into_iter().map(named).collect()
    }
}
