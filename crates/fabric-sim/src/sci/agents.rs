//! The parts beyond one ring: the crossbar of a multi-service switch, and the train.

use super::engine::{Engine, Event};
use super::node::{CrossbarRequest, Refused};
use super::packet::{Class, Kind};
use super::settings::Access;

impl Engine {
    /// Begins to join or separate two outer rings. Their nodes send nothing new until it is done. An impossible request
    /// is answered as if it were done: for rings that do not exist, one ring twice, rings that are joined already, or
    /// rings that are not joined.
    pub(super) fn request_crossbar(
        &mut self,
        controller: u32,
        transaction: u32,
        (one, other): (u8, u8),
        joins: bool,
    ) {
        let rings = (u32::from(one), u32::from(other));
        let outer = self.rings.inner.unwrap_or(0);
        let exists = rings.0 < outer && rings.1 < outer && rings.0 != rings.1;
        let group = |ring: u32| self.rings.group[ring as usize];
        let is_alone =
            |ring: u32| self.rings.group.iter().filter(|&&it| it == group(ring)).count() == 1;
        let can = exists
            && self.crossbar_request.is_none()
            && match joins {
                true => is_alone(rings.0) && is_alone(rings.1),
                false => group(rings.0) == group(rings.1),
            };
        if !can {
            let to = self.transactions[transaction].requester;
            self.enqueue(controller, Class::Response, transaction, to);
            return;
        }
        self.hold_back(rings, true);
        self.crossbar_request = Some(CrossbarRequest { transaction, controller, rings, joins });
        self.switch_crossbar_if_idle();
    }

    fn hold_back(&mut self, rings: (u32, u32), held: bool) {
        for node in 0..self.nodes.len() {
            let ring = self.rings.places[node].ring;
            if ring == rings.0 || ring == rings.1 {
                self.nodes[node].is_held_back = held;
            }
        }
    }

    /// Switches the crossbar if no packet of the two rings waits for its echo. Then no packet is in them.
    pub(super) fn switch_crossbar_if_idle(&mut self) {
        let Some(CrossbarRequest { transaction, controller, rings, joins }) = self.crossbar_request
        else {
            return;
        };
        if self.without_echo[rings.0 as usize] + self.without_echo[rings.1 as usize] > 0 {
            return;
        }
        self.crossbar_request = None;
        let agents = [rings.0, rings.1]
            .map(|ring| self.rings.agent_of(ring).expect("each outer ring has an agent") as usize);
        let next = self.nodes[agents[0]].next;
        self.nodes[agents[0]].next = self.nodes[agents[1]].next;
        self.nodes[agents[1]].next = next;
        self.rings.group[rings.0 as usize] = rings.0;
        self.rings.group[rings.1 as usize] = if joins { rings.0 } else { rings.1 };
        for agent in agents {
            // The nodes behind now see the idle symbols of another agent.
            let (idle, next) = (self.nodes[agent].idle_out, self.nodes[agent].next);
            self.push_after_hop(next, Event::IdleSymbols(idle));
        }
        self.forget_refusals(rings);
        self.hold_back(rings, false);
        let to = self.transactions[transaction].requester;
        self.enqueue(controller, Class::Response, transaction, to);
        for node in 0..self.nodes.len() as u32 {
            let ring = self.rings.places[node as usize].ring;
            if ring == rings.0 || ring == rings.1 {
                self.start_transmitter(node);
            }
        }
    }

    /// Lets all senders that wait for a place of an input queue try again. They may be in another ring now, which no
    /// message from the target reaches.
    fn forget_refusals(&mut self, rings: (u32, u32)) {
        for node in 0..self.nodes.len() {
            let ring = self.rings.places[node].ring;
            if ring != rings.0 && ring != rings.1 {
                continue;
            }
            for class in 0..2 {
                let refused = std::mem::take(&mut self.nodes[node].input[class].refused);
                for Refused { packet, sender } in refused {
                    self.requeue(sender, packet);
                }
            }
        }
    }

    /// Puts a train into each ring, at its first node.
    pub(super) fn start_trains(&mut self) {
        for ring in 0..self.rings.group.len() as u32 {
            let is_there = |place: &super::shape::Place| place.ring == ring;
            let first = self.rings.places.iter().position(is_there).expect("rings have nodes");
            let train = self.control(Kind::Train, first as u32, first as u32);
            let train = self.packets.add(train);
            self.push_after_hop(first as u32, Event::PacketArrived(train));
        }
    }

    /// Handles the arrival of the train at a node.
    pub(super) fn train_arrived(&mut self, node: u32, train: u32) {
        self.packets.remove(train);
        let Access::Train { seats } = self.settings.access else { return };
        self.nodes[node as usize].train = Some(seats);
        self.start_transmitter(node);
        self.pass_train_on(node);
    }

    /// Passes the train on, if the node holds it and may not send a packet of its own before.
    pub(super) fn pass_train_on(&mut self, node: u32) {
        let this = &self.nodes[node as usize];
        let Some(seats) = this.train else { return };
        let has_more = this.output.iter().any(|output| !output.waiting.is_empty());
        // If the transmitter is idle, the node may not send its waiting packets.
        if seats > 0 && has_more && this.is_sending {
            return;
        }
        self.nodes[node as usize].train = None;
        let train = self.packets.add(self.control(Kind::Train, node, node));
        self.forward(node, train);
    }
}
