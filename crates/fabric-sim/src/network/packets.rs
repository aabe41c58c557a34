//! Level L2: packets over channels with finite buffers and credits.
//!
//! A message is cut into packets by its sender's engine. Each packet goes from channel to channel along its route; a
//! channel carries one at a time, and only if the buffer at its far end has a place (a credit). The packets that wait
//! at the head of a node's inputs ask for their next channel; once all requests of an instant are there, the channel's
//! arbiter grants one. A place is given back when the packet's last byte has left it.
//!
//! In a closed ring of buffers all could be full and none could move. So a packet that enters such a ring needs two free
//! places, one that stays in it only one (bubble flow control, Carrion et al. 1997).

use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Time, TimeSpan};

use super::merge::{self, Merge, Request};
use super::{ChannelUse, Kind, Outcome, Parcel};
use crate::agenda::{Agenda, Event};
use crate::machine::{Machine, Switching};
use crate::topology::Topology;

/// How many prepared packets wait for a node's first channel: one on it, and one ready to follow at once.
const PREPARED_MAX: usize = 2;
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

    /// Lets a node's engine do what it can: take in before sending where one engine does both.
    fn work(&mut self, agenda: &mut Agenda, node: u32, outcomes: &mut Vec<Outcome>) {
        while self.take_in_next(agenda, node, outcomes) || self.prepare_next(agenda, node, outcomes)
        {
        }
    }

    fn take_in_next(
        &mut self,
        agenda: &mut Agenda,
        node: u32,
        outcomes: &mut Vec<Outcome>,
    ) -> bool {
        let own = &self.nodes[node as usize];
        let engine_busy = own.taking_in || (own.sending && !self.machine.endpoint.co_processor);
        let Some(&packet) = own.to_take_in.front().filter(|_| !engine_busy) else { return false };
        let packet = self.packets[packet as usize];
        let cost = engine_time(self.machine.endpoint.packet_receive, packet.bytes, packet.first);
        if cost == TimeSpan::ZERO {
            self.took_in(node, outcomes);
        } else {
            self.nodes[node as usize].taking_in = true;
            agenda.push(agenda.now() + cost, Event::TakenIn(node));
        }
        true
    }

    fn took_in(&mut self, node: u32, outcomes: &mut Vec<Outcome>) {
        let taken = self.nodes[node as usize].to_take_in.pop_front();
        let number = taken.expect("the engine takes in the first packet");
        let packet = self.packets[number as usize];
        self.free_packets.push(number);
        let last = self.travels[packet.message as usize].route[packet.hop as usize - 1];
        if self.channels[last as usize].credits != UNLIMITED {
            self.channels[last as usize].credits += 1;
            self.touch(last);
        }
        // Packets of a message follow one route and never pass each other, so the last one ends it.
        if packet.last {
            outcomes.push(Outcome::Arrived(packet.message));
        }
    }

    /// Cuts the next packet, if the engine is free and there is room for it; says whether it did.
    fn prepare_next(
        &mut self,
        agenda: &mut Agenda,
        node: u32,
        outcomes: &mut Vec<Outcome>,
    ) -> bool {
        let own = &self.nodes[node as usize];
        let endpoint = &self.machine.endpoint;
        let engine_busy = own.sending || (own.taking_in && !endpoint.co_processor);
        let waiting = self.inputs[self.own_input(node)].len();
        let room = if endpoint.engine_overlaps_link { PREPARED_MAX } else { 1 };
        let Some(&message) = own.to_send.front().filter(|_| !engine_busy && waiting < room) else {
            return false;
        };
        let travel = &mut self.travels[message as usize];
        let first = !travel.cut_any;
        let bytes = travel.next_packet_bytes(&self.machine) as u32;
        if first {
            travel.cut_any = true;
            outcomes.push(Outcome::Started(message));
        }
        let kind = travel.parcel.map_or(Kind::Data, |parcel| parcel.kind);
        let setup = match travel.parcel {
            Some(parcel) if first && kind != Kind::Bare => endpoint.setup.of(parcel.bytes),
            _ => TimeSpan::ZERO,
        };
        let cost = setup + engine_time(endpoint.packet_send, bytes, first);
        if cost == TimeSpan::ZERO {
            self.inject(node);
        } else {
            self.nodes[node as usize].sending = true;
            agenda.push(agenda.now() + cost, Event::Prepared(node));
        }
        true
    }

    /// Puts the packet that the engine has prepared before the node's first channel.
    fn inject(&mut self, node: u32) {
        let message = *self.nodes[node as usize].to_send.front().expect("its packet was prepared");
        let travel = &mut self.travels[message as usize];
        let parcel = travel.parcel.expect("a message to send has its parcel");
        let bytes = travel.next_packet_bytes(&self.machine);
        let first = travel.uncut == parcel.bytes;
        travel.uncut -= bytes;
        let last = travel.uncut == 0;
        if last {
            self.nodes[node as usize].to_send.pop_front();
        }
        let packet = Packet { message, bytes: bytes as u32, hop: 0, first, last };
        let number = match self.free_packets.pop() {
            Some(number) => {
                self.packets[number as usize] = packet;
                number
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u32 - 1
            }
        };
        self.enter(self.own_input(node) as u32, number);
    }

    fn own_input(&self, node: u32) -> usize {
        self.channels.len() + node as usize
    }

    /// A packet joins an input's queue.
    fn enter(&mut self, input: u32, packet: u32) {
        self.inputs[input as usize].push_back(packet);
        if self.inputs[input as usize].len() == 1 {
            self.request(input);
        }
    }

    /// The packet at an input's head asks for its next channel.
    fn request(&mut self, input: u32) {
        let Some(&number) = self.inputs[input as usize].front() else { return };
        let packet = self.packets[number as usize];
        let travel = &self.travels[packet.message as usize];
        let (channel, born) = (travel.route[packet.hop as usize], travel.born);
        let injected = input as usize >= self.channels.len();
        let enters_ring = self.topology.in_ring(channel)
            && (injected || !self.topology.same_ring(input, channel));
        let places = if enters_ring { 2 } else { 1 };
        let request = Request { input, born, injected, places };
        self.channels[channel as usize].merge.add(request);
        self.touch(channel);
    }

    fn touch(&mut self, channel: u32) {
        let own = &mut self.channels[channel as usize];
        if !own.touched {
            own.touched = true;
            self.touched.push(channel);
        }
    }

    pub(crate) fn is_unsettled(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Grants each free channel that was touched in this instant.
    pub(crate) fn settle(&mut self, agenda: &mut Agenda) {
        for index in 0..self.touched.len() {
            let number = self.touched[index];
            let channel = &mut self.channels[number as usize];
            channel.touched = false;
            if channel.serves.is_none()
                && let Some(granted) = channel.merge.arbitrate(channel.credits)
            {
                channel.merge.update(granted);
                self.carry(agenda, number, granted.input);
            }
        }
        self.touched.clear();
    }

    /// A channel begins to carry the packet at the head of `input`.
    fn carry(&mut self, agenda: &mut Agenda, number: u32, input: u32) {
        let packet_number =
            *self.inputs[input as usize].front().expect("a packet asked for the channel");
        let packet = &mut self.packets[packet_number as usize];
        packet.hop += 1;
        let travel = &self.travels[packet.message as usize];
        let network = &self.machine.network;
        let kind = travel.parcel.map_or(Kind::Data, |parcel| parcel.kind);
        let time = network.serialisation(u64::from(packet.bytes), kind);
        let start = next_slot(agenda.now(), network.slot);

        let channel = &mut self.channels[number as usize];
        channel.serves = Some(input);
        channel.busy = channel.busy + time;
        channel.carried += 1;
        if channel.credits != UNLIMITED {
            channel.credits -= 1;
        }
        agenda.push(start + time, Event::ChannelFree(number));
        if let Some(spans) = &mut self.busy_spans {
            spans.push((number, start, start + time));
        }
        if packet.hop as usize == travel.route.len() {
            agenda.push(start + time + network.latency, Event::AtEnd(packet_number));
        } else {
            let head = match network.switching {
                Switching::StoreAndForward => time,
                Switching::CutThrough => network.head_time(kind),
            };
            agenda.push(
                start + head + network.latency + network.forwarding(kind),
                Event::AtNode(packet_number),
            );
        }
    }

    /// A channel has carried its packet: the packet leaves the input it came from, and the next one there moves up.
    fn free(&mut self, agenda: &mut Agenda, number: u32, outcomes: &mut Vec<Outcome>) {
        let served = self.channels[number as usize].serves.take();
        let input = served.expect("a busy channel serves an input");
        let packet = self.inputs[input as usize].pop_front().expect("it was served there");
        self.touch(number);
        self.request(input);
        if (input as usize) < self.channels.len() {
            self.channels[input as usize].credits += 1;
            self.touch(input);
            return;
        }
        let Packet { message, last, .. } = self.packets[packet as usize];
        if last {
            outcomes.push(Outcome::Left(message));
        }
        self.work(agenda, input - self.channels.len() as u32, outcomes);
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

fn engine_time(cost: crate::quantity::Cost, bytes: u32, first: bool) -> TimeSpan {
    let fixed = if first { TimeSpan::ZERO } else { cost.fixed };
    fixed + cost.per_byte.times(u64::from(bytes))
}

fn next_slot(now: Time, slot: TimeSpan) -> Time {
    match slot.as_ps() {
        0 => now,
        ps => Time::from_ps(now.as_ps().div_ceil(ps) * ps),
    }
}
