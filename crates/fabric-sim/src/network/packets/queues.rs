//! Packets that wait for a link: their own queue if the node's processor forwards them, and their number.

use contract::{Time, TimeSpan};

use super::Packets;
use crate::agenda::Agenda;
use crate::network::{ChannelUse, Outcome};

/// The number of packets that wait for a channel, over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkQueue {
    length: u64,
    /// The greatest length that lasted for some time, since it was last read.
    longest: u64,
    changed: Time,
    /// Sum of all waits up to the last change.
    waited: TimeSpan,
}

impl LinkQueue {
    pub(super) fn grow(&mut self, now: Time) {
        self.advance(now);
        self.length += 1;
    }

    pub(super) fn shrink(&mut self, now: Time) {
        self.advance(now);
        self.length -= 1;
    }

    /// Advances to `now`. A packet that a free channel carries at once has not waited.
    fn advance(&mut self, now: Time) {
        if now > self.changed {
            self.longest = self.longest.max(self.length);
            self.waited = self.waited(now);
            self.changed = now;
        }
    }

    fn waited(&self, now: Time) -> TimeSpan {
        self.waited + now.since(self.changed).times(self.length)
    }

    fn take_longest(&mut self, now: Time) -> u64 {
        self.advance(now);
        std::mem::take(&mut self.longest)
    }
}

impl Packets {
    /// Returns the channel that a packet needs next.
    pub(super) fn next_channel(&self, packet: u32) -> u32 {
        let packet = self.packets[packet as usize];
        self.parcels[packet.message as usize].route[packet.hop as usize]
    }

    /// Returns the input for the packets that will go over a channel, if channels have their own inputs.
    pub(super) fn queue_of(&self, channel: u32) -> Option<u32> {
        let before = (self.channels.len() + self.nodes.len()) as u32;
        self.machine.endpoint.processor_forwards.then_some(before + channel)
    }

    /// Handles the arrival of a packet over `input` at a node that must forward it.
    pub(super) fn forward(
        &mut self,
        agenda: &mut Agenda,
        input: u32,
        packet: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let message = self.packets[packet as usize].message;
        let kind = self.parcel(message).kind;
        let network = self.parcels[message as usize].network as usize;
        let span = self.networks.network(network).forwarding(kind);
        if self.machine.endpoint.processor_forwards && span > TimeSpan::ZERO {
            let node = self.networks.node_before(self.next_channel(packet));
            outcomes.push(Outcome::Forwards { node, packet, span });
        } else {
            self.enter(agenda, input, packet, outcomes);
        }
    }

    /// Queues a packet that the node's processor has forwarded.
    pub(super) fn forwarded(
        &mut self,
        agenda: &mut Agenda,
        packet: u32,
        outcomes: &mut Vec<Outcome>,
    ) {
        let queue = self.queue_of(self.next_channel(packet));
        self.enter(agenda, queue.expect("processors forward here"), packet, outcomes);
    }

    /// Returns whether a direction of a simplex link, for which a packet waits, must carry none now. The other
    /// direction carries one, or comes next because the two take turns.
    pub(super) fn yields_to_other_direction(&mut self, number: u32) -> bool {
        let Some(other) = self.networks.other_direction(number) else { return false };
        let opposite = &self.channels[other as usize];
        if opposite.serves.is_some() {
            return true;
        }
        let waits = opposite.merge.arbitrate(opposite.credits).is_some();
        let leaves = waits && self.channels[number as usize].yields;
        if leaves {
            self.touch(other);
        }
        leaves
    }

    /// Returns the number of links that a message passes from a node to another, over the network that it would take if
    /// no other messages and no faults were in the machine.
    pub(crate) fn hops(&self, from: usize, to: usize) -> usize {
        let mut route = Vec::new();
        if let Some(network) =
            (0..self.networks.count()).find(|&network| self.networks.reaches(network, from, to))
        {
            self.networks.route(network, from, to, &mut route);
        }
        route.len()
    }

    pub(crate) fn channel_use(&mut self, now: Time) -> Vec<ChannelUse> {
        let used = self.channels.iter_mut().enumerate();
        used.filter(|(_, channel)| channel.carried > 0)
            .map(|(number, channel)| ChannelUse {
                name: self.networks.channel_name(number as u32),
                busy: channel.busy,
                packets: channel.carried,
                waited: channel.queue.waited(now),
                queue_max: channel.queue.take_longest(now),
            })
            .collect()
    }
}
