//! The packet engine of a node, which cuts messages into packets and takes in those that arrive.

use contract::TimeSpan;

use super::{Packet, Packets, UNLIMITED};
use crate::agenda::{Agenda, Event};
use crate::message_kind::MessageKind;
use crate::network::Outcome;
use crate::quantity::Cost;

/// Maximum number of prepared packets before the first channel of a node: one that it carries, and one that follows at
/// once.
const PREPARED_MAX: usize = 2;

impl Packets {
    /// Does all work that the engine of a node can do. If one engine sends and takes in, taking in comes first.
    pub(super) fn work(&mut self, agenda: &mut Agenda, node: u32, outcomes: &mut Vec<Outcome>) {
        while self.receive_next(agenda, node, outcomes) || self.prepare_next(agenda, node, outcomes)
        {
        }
    }

    fn receive_next(
        &mut self,
        agenda: &mut Agenda,
        node: u32,
        outcomes: &mut Vec<Outcome>,
    ) -> bool {
        let own = &self.nodes[node as usize];
        let engine_busy = own.receiving || (own.sending && !self.machine.endpoint.co_processor);
        let Some(&packet) = own.to_receive.front().filter(|_| !engine_busy) else { return false };
        let packet = self.packets[packet as usize];
        let cost = engine_time(self.machine.endpoint.packet_receive, packet.bytes, packet.first);
        if cost == TimeSpan::ZERO {
            self.complete_reception(agenda, node, outcomes);
        } else {
            self.nodes[node as usize].receiving = true;
            agenda.push(agenda.now() + cost, Event::Received(node));
        }
        true
    }

    pub(super) fn complete_reception(
        &mut self,
        agenda: &mut Agenda,
        node: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let taken = self.nodes[node as usize].to_receive.pop_front();
        let number = taken.expect("the engine takes in the first packet");
        let packet = self.packets[number as usize];
        self.free_packets.push(number);
        let last = self.parcels[packet.message as usize].route[packet.hop as usize - 1];
        self.return_credit(last);
        let state = &mut self.parcels[packet.message as usize];
        state.inside -= 1;
        state.delivered += u64::from(packet.bytes);
        let parcel = state.parcel.expect("a packet's message is under way");
        debug_assert!(state.delivered <= parcel.bytes, "nothing arrives twice");
        if state.delivered == parcel.bytes {
            match &mut self.order {
                None => outcomes.push(Outcome::Arrived(packet.message)),
                Some(order) => order.end(parcel, outcomes),
            }
        } else {
            self.schedule_retransmission(agenda, packet.message);
        }
    }

    /// Returns a credit: a place of the buffer behind a channel is free again.
    pub(super) fn return_credit(&mut self, channel: u32) {
        if self.channels[channel as usize].credits != UNLIMITED {
            self.channels[channel as usize].credits += 1;
            self.touch(channel);
        }
    }

    /// Cuts the next packet, if the engine is free and there is room for it. Returns whether it did.
    fn prepare_next(
        &mut self,
        agenda: &mut Agenda,
        node: u32,
        outcomes: &mut Vec<Outcome>,
    ) -> bool {
        let own = &self.nodes[node as usize];
        let endpoint = &self.machine.endpoint;
        let engine_busy = own.sending || (own.receiving && !endpoint.co_processor);
        let waiting = self.inputs[self.own_input(node)].len();
        let room = if endpoint.engine_overlaps_link { PREPARED_MAX } else { 1 };
        let Some(&message) = own.to_send.front().filter(|_| !engine_busy && waiting < room) else {
            return false;
        };
        let state = &mut self.parcels[message as usize];
        let first = !state.is_started;
        let bytes = state.next_packet_bytes(&self.networks) as u32;
        if first {
            state.is_started = true;
            outcomes.push(Outcome::Started(message));
        }
        let kind = state.parcel.map_or(MessageKind::Data, |parcel| parcel.kind);
        let setup = match state.parcel {
            Some(parcel) if first && !matches!(kind, MessageKind::Bare | MessageKind::Access) => {
                let software = self.networks.network(state.network as usize).message;
                endpoint.setup.of(parcel.bytes) + software.of(parcel.bytes)
            }
            _ => TimeSpan::ZERO,
        };
        let cost = setup + engine_time(endpoint.packet_send, bytes, first);
        if cost == TimeSpan::ZERO {
            self.inject(agenda, node, outcomes);
        } else {
            self.nodes[node as usize].sending = true;
            agenda.push(agenda.now() + cost, Event::Prepared(node));
        }
        true
    }

    /// Puts the packet that the engine has prepared into the queue before the node's first channel.
    pub(super) fn inject(&mut self, agenda: &mut Agenda, node: u32, outcomes: &mut Vec<Outcome>) {
        let message = *self.nodes[node as usize].to_send.front().expect("its packet was prepared");
        let state = &mut self.parcels[message as usize];
        let parcel = state.parcel.expect("a message to send has its parcel");
        let bytes = state.next_packet_bytes(&self.networks);
        let first = state.uncut == parcel.bytes;
        state.uncut -= bytes;
        state.inside += 1;
        let last = state.uncut == 0;
        let own = &mut self.nodes[node as usize];
        let to_send = &mut own.to_send;
        if last || state.is_broken {
            own.waiting_bytes -= state.uncut;
            to_send.pop_front();
        } else if self.machine.endpoint.interleaves_messages {
            to_send.rotate_left(1);
        }
        let packet = Packet { message, bytes: bytes as u32, hop: 0, first, last, lost: false };
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
        self.enter(agenda, self.own_input(node) as u32, number, outcomes);
    }
}

fn engine_time(cost: Cost, bytes: u32, first: bool) -> TimeSpan {
    let fixed = if first { TimeSpan::ZERO } else { cost.fixed };
    fixed + cost.per_byte.times(u64::from(bytes))
}
