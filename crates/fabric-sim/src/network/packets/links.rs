//! The channels: requests, grants and credits.

use contract::{Time, TimeSpan};

use super::{Packet, Packets, UNLIMITED};
use crate::agenda::{Agenda, Event};
use crate::machine::Switching;
use crate::message_kind::MessageKind;
use crate::network::Outcome;
use crate::network::merge::Request;

impl Packets {
    pub(super) fn own_input(&self, node: u32) -> usize {
        self.channels.len() + node as usize
    }

    /// Appends a packet to the queue of an input, or to that of its next channel if channels have their own.
    pub(super) fn enter(
        &mut self,
        agenda: &mut Agenda,
        input: u32,
        packet: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let channel = self.next_channel(packet);
        self.channels[channel as usize].queue.grow(agenda.now());
        let input = self.queue_of(channel).unwrap_or(input);
        self.inputs[input as usize].push_back(packet);
        if self.inputs[input as usize].len() == 1 {
            self.request(agenda, input, outcomes);
        }
    }

    /// Requests the next channel of the packet at the head of an input. Packets that are lost, or whose next channel is
    /// broken, leave the input.
    pub(super) fn request(&mut self, agenda: &mut Agenda, input: u32, outcomes: &mut Vec<Outcome>) {
        while let Some(&number) = self.inputs[input as usize].front() {
            let packet = self.packets[number as usize];
            let (channel, injected) = (self.next_channel(number), packet.hop == 0);
            let sent_at = self.parcels[packet.message as usize].sent_at;
            if packet.lost || self.channels[channel as usize].broken > 0 {
                self.inputs[input as usize].pop_front();
                self.channels[channel as usize].queue.shrink(agenda.now());
                self.packets[number as usize].lost = true;
                self.release_input(agenda, input, (number, false), outcomes);
                self.drop_packet(agenda, number, outcomes);
                continue;
            }
            let enters_ring = self.networks.enters_ring((!injected).then_some(input), channel);
            let places = if enters_ring { 2 } else { 1 };
            let request = Request { input, sent_at, injected, places };
            self.channels[channel as usize].merge.add(request);
            self.touch(channel);
            return;
        }
    }

    /// Records that a packet has left an input, carried or lost there, so that there is room for another.
    fn release_input(
        &mut self,
        agenda: &mut Agenda,
        input: u32,
        (packet, carried): (u32, bool),
        outcomes: &mut Vec<Outcome>,
    ) {
        let Packet { message, last, bytes, lost, hop, .. } = self.packets[packet as usize];
        let (channels, engines) = (self.channels.len() as u32, self.nodes.len() as u32);
        let engine = match input {
            channel if channel < channels => return self.return_credit(channel),
            engine if engine < channels + engines => engine - channels,
            // The queue of a link holds the node's own packets, and those that it forwards.
            _ if hop > u32::from(carried) => return,
            _ => self.engines(message).0,
        };
        self.nodes[engine as usize].waiting_bytes -= u64::from(bytes);
        if last && !lost {
            outcomes.push(Outcome::Left(message));
        }
        self.work(agenda, engine, outcomes);
    }

    pub(super) fn touch(&mut self, channel: u32) {
        let own = &mut self.channels[channel as usize];
        if !own.touched {
            own.touched = true;
            self.touched.push(channel);
        }
    }

    pub(crate) fn must_arbitrate(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Grants a request of each free channel that was touched in this instant.
    pub(crate) fn arbitrate(&mut self, agenda: &mut Agenda) {
        let mut index = 0;
        while let Some(&number) = self.touched.get(index) {
            index += 1;
            let channel = &mut self.channels[number as usize];
            channel.touched = false;
            if channel.serves.is_some() {
                continue;
            }
            let Some(granted) = channel.merge.arbitrate(channel.credits) else { continue };
            if self.yields_to_other_direction(number) {
                continue;
            }
            if self.simplex_ends(granted.input).any(|node| self.nodes[node as usize].occupied) {
                self.blocked.push(number);
                continue;
            }
            self.channels[number as usize].merge.update(granted);
            self.carry(agenda, number, granted.input);
        }
        self.touched.clear();
    }

    /// Returns the nodes that can do nothing else while the packet at the head of `input` is on its next channel: the
    /// one that sends it and the one that takes it in, if they do one after the other. Nodes in between forward it
    /// beside their own packets.
    fn simplex_ends(&self, input: u32) -> impl Iterator<Item = u32> + use<> {
        let number = *self.inputs[input as usize].front().expect("a packet waits at the input");
        let packet = self.packets[number as usize];
        let (parcel, channels) =
            (self.parcel(packet.message), self.parcels[packet.message as usize].route.len());
        let of_links =
            self.networks.network(self.parcels[packet.message as usize].network as usize);
        let is_simplex = self.machine.endpoint.is_simplex(parcel.bytes) && !of_links.simplex_links;
        let (from, to) = self.engines(packet.message);
        let sends = (is_simplex && packet.hop == 0).then_some(from);
        let takes = (is_simplex && packet.hop as usize + 1 == channels).then_some(to);
        sends.into_iter().chain(takes)
    }

    /// Starts a channel with the packet at the head of `input`.
    fn carry(&mut self, agenda: &mut Agenda, number: u32, input: u32) {
        for node in self.simplex_ends(input) {
            self.nodes[node as usize].occupied = true;
        }
        let packet_number =
            *self.inputs[input as usize].front().expect("a packet asked for the channel");
        let packet = &mut self.packets[packet_number as usize];
        packet.hop += 1;
        let state = &self.parcels[packet.message as usize];
        let network = self.networks.network_of(number);
        let kind = state.parcel.map_or(MessageKind::Data, |parcel| parcel.kind);
        let time = network.serialisation(u64::from(packet.bytes), kind);
        let start = next_slot(agenda.now(), network.slot);

        let channel = &mut self.channels[number as usize];
        channel.serves = Some(input);
        channel.busy = channel.busy + time;
        channel.carried += 1;
        channel.yields = true;
        channel.queue.shrink(agenda.now());
        if channel.credits != UNLIMITED {
            channel.credits -= 1;
        }
        agenda.push(start + time, Event::ChannelFree(number));
        if let Some(other) = self.networks.other_direction(number) {
            self.channels[other as usize].yields = false;
        }
        if let Some(spans) = &mut self.busy_spans {
            spans.push((number, start, start + time));
        }
        if packet.hop as usize == state.route.len() {
            agenda.push(start + time + network.latency, Event::AtEnd(packet_number));
        } else {
            let head = match network.switching {
                Switching::StoreAndForward => time,
                Switching::CutThrough => network.head_time(kind),
            };
            let forwarding = match self.machine.endpoint.processor_forwards {
                true => TimeSpan::ZERO,
                false => network.forwarding(kind),
            };
            agenda.push(start + head + network.latency + forwarding, Event::AtNode(packet_number));
        }
    }

    /// Frees a channel that has carried its packet. The packet leaves its input, and the next one there moves up.
    pub(super) fn free(&mut self, agenda: &mut Agenda, number: u32, outcomes: &mut Vec<Outcome>) {
        let served = self.channels[number as usize].serves.take();
        let input = served.expect("a busy channel serves an input");
        self.release_ends(input);
        let packet = self.inputs[input as usize].pop_front().expect("it was served there");
        self.touch(number);
        if let Some(other) = self.networks.other_direction(number) {
            self.touch(other);
        }
        self.request(agenda, input, outcomes);
        self.release_input(agenda, input, (packet, true), outcomes);
    }
}

impl Packets {
    /// Frees the ends of the packet at the head of `input`, which has passed its channel. Packets that waited for the
    /// ends come before the next ones there, so that sending and taking in alternate.
    fn release_ends(&mut self, input: u32) {
        if self.machine.endpoint.simplex_from_bytes.is_none() {
            return;
        }
        let number = *self.inputs[input as usize].front().expect("it was served there");
        // The packet's count of channels has increased by one since it was granted.
        self.packets[number as usize].hop -= 1;
        for node in self.simplex_ends(input) {
            self.nodes[node as usize].occupied = false;
        }
        self.packets[number as usize].hop += 1;
        for channel in std::mem::take(&mut self.blocked) {
            self.touch(channel);
        }
    }
}

fn next_slot(now: Time, slot: TimeSpan) -> Time {
    match slot.as_ps() {
        0 => now,
        ps => Time::from_ps(now.as_ps().div_ceil(ps) * ps),
    }
}
