//! The stripper, the input queues and the host interface.

use contract::Time;

use super::engine::{Complete, Engine, Event};
use super::node::{Refused, Taken};
use super::packet::{Class, ECHO_SYMBOLS, Kind, Packet, TransactionKind};
use super::settings::{Retry, Urgency};

impl Engine {
    /// Handles the arrival of the head of a packet.
    pub(super) fn packet_arrived(&mut self, node: u32, packet: u32) {
        let Packet { kind, to, from, .. } = self.packets[packet];
        match kind {
            Kind::Train => self.train_arrived(node, packet),
            Kind::Send(class) if self.rings.strips(node, to) => {
                self.strip(node, packet, class);
            }
            Kind::Event if self.rings.strips(node, to) => self.strip_event(node, packet),
            Kind::Echo { of, taken } if to == node => {
                self.packets.remove(packet);
                self.echo_arrived(node, of, taken);
            }
            Kind::Resume { of } if to == node => {
                self.packets.remove(packet);
                self.packets[of].reserved_at = Some(from);
                self.without_echo[self.rings.places[node as usize].ring as usize] -= 1;
                self.requeue(node, of);
                self.switch_crossbar_if_idle();
            }
            _ => self.forward(node, packet),
        }
    }

    /// Returns the time at which all of a packet has arrived, whose head arrives now.
    fn whole_at(&self, packet: &Packet) -> Time {
        // The bypass delay is part of every hop, and this packet does not enter the bypass FIFO.
        let head = self.now().as_ps() - self.settings.delays.bypass.as_ps();
        Time::from_ps(head) + self.symbols(packet.symbols)
    }

    /// Takes an event in, or drops it. Nothing continues in its place.
    fn strip_event(&mut self, node: u32, packet: u32) {
        let what = self.packets[packet];
        if self.accepts(node, &what, Class::Request) {
            let whole_at = self.whole_at(&what);
            let input = &mut self.nodes[node as usize].input[Class::Request as usize];
            input.taken.push_back(Taken { transaction: what.transaction, to: what.to, whole_at });
        } else {
            self.counts.refused += 1;
            self.transactions.remove(what.transaction);
        }
        self.packets.remove(packet);
        // It is no longer in the ring, and the crossbar waits for this.
        self.without_echo[self.rings.places[what.from as usize].ring as usize] -= 1;
        self.switch_crossbar_if_idle();
        self.serve_next(node);
    }

    /// Takes a request or response in, or refuses it. An echo continues in its place.
    fn strip(&mut self, node: u32, packet: u32, class: Class) {
        let what = self.packets[packet];
        let whole_at = self.whole_at(&what);
        let taken = self.accepts(node, &what, class);
        self.update_turns(node, packet, (class, taken));
        let input = &mut self.nodes[node as usize].input[class as usize];
        if taken {
            let transaction = what.transaction;
            input.taken.push_back(Taken { transaction, to: what.to, whole_at });
        } else {
            self.counts.refused += 1;
            if self.settings.retry == Retry::Directed {
                input.refused.push_back(Refused { packet, sender: what.from });
            }
        }
        if let Some(keeper) = self.packets[packet].reserved_at.take() {
            // The crossbar may have led the packet to another node.
            self.nodes[keeper as usize].input[class as usize].reserved -= 1;
            if keeper != node || !taken {
                self.reserve_place(keeper, class);
            }
        }
        let kind = Kind::Echo { of: packet, taken };
        let echo = self.packets.add(self.control(kind, node, what.from));
        self.forward(node, echo);
        self.serve_next(node);
    }

    /// Returns whether there is a place for a packet, and it is its turn.
    fn accepts(&self, node: u32, packet: &Packet, class: Class) -> bool {
        // With priorities, the last place is reserved for urgent packets, also for those that are sent again, and does
        // not depend on turns.
        let counts = self.settings.urgency != Urgency::None;
        let is_urgent = counts && self.transactions[packet.transaction].priority > 0;
        let spare = u32::from(counts && !is_urgent);
        let places = (self.settings.input_packets - spare).max(1);
        let input = &self.nodes[node as usize].input[class as usize];
        let phase = packet.phase.filter(|(at, _)| *at == node).map(|(_, phase)| phase);
        let has_place = (input.taken.len() as u32 + input.reserved) < places;
        packet.reserved_at == Some(node) || (has_place && (is_urgent || input.has_turn(phase)))
    }

    /// Updates the turns of packets that were refused ([`Retry::Aged`]).
    fn update_turns(&mut self, node: u32, packet: u32, (class, taken): (Class, bool)) {
        if self.settings.retry != Retry::Aged {
            return;
        }
        let phase = self.packets[packet].phase;
        match phase {
            // It stays in its turn.
            Some((at, _)) if at == node && !taken => {}
            Some((at, phase)) => {
                self.nodes[at as usize].input[class as usize].leave_turn(phase);
                self.packets[packet].phase = None;
            }
            None => {}
        }
        let input = &mut self.nodes[node as usize].input[class as usize];
        if !taken && self.packets[packet].phase.is_none() {
            self.packets[packet].phase = Some((node, input.join_turn()));
        }
        input.refused_in_turn = if taken { 0 } else { input.refused_in_turn + 1 };
    }

    /// Handles the echo of a packet.
    fn echo_arrived(&mut self, node: u32, of: u32, taken: bool) {
        let class = self.class_of(of).expect("echoes answer requests and responses");
        let ring = self.rings.places[node as usize].ring as usize;
        self.without_echo[ring] -= 1;
        if taken {
            self.packets.remove(of);
            self.release_output_place(node, class);
        } else if self.settings.retry != Retry::Directed {
            self.packets[of].priority = 0;
            self.requeue(node, of);
        }
        self.switch_crossbar_if_idle();
    }

    /// Records that an output queue no longer keeps a packet.
    pub(super) fn release_output_place(&mut self, node: u32, class: Class) {
        self.nodes[node as usize].output[class as usize].held -= 1;
        if class == Class::Request {
            self.unblocked.push(node);
        }
        self.output_place_released(node);
    }

    pub(super) fn requeue(&mut self, node: u32, packet: u32) {
        let class = self.class_of(packet).expect("only requests and responses are refused");
        self.packets[packet].entered = self.now();
        self.nodes[node as usize].output[class as usize].waiting.push_back(packet);
        self.start_transmitter(node);
    }

    /// Returns a packet of four symbols, which goes before all others because queues wait for it.
    pub(super) fn control(&self, kind: Kind, from: u32, to: u32) -> Packet {
        let (symbols, priority, entered) = (ECHO_SYMBOLS, u8::MAX, self.now());
        Packet {
            kind,
            transaction: 0,
            to,
            from,
            symbols,
            priority,
            entered,
            reserved_at: None,
            phase: None,
        }
    }

    /// Begins with the next packet of the input queues. Responses come first, because they always find room.
    pub(super) fn serve_next(&mut self, node: u32) {
        let this = &self.nodes[node as usize];
        if this.serving.is_some() {
            return;
        }
        for class in [Class::Response, Class::Request] {
            let Some(&first) = this.input[class as usize].taken.front() else { continue };
            let delays = &self.settings.delays;
            let is_agent = self.rings.places[node as usize].other_side.is_some();
            let time = match (is_agent, class) {
                (true, _) => delays.routing,
                (false, Class::Request) => delays.host + delays.responder,
                (false, Class::Response) => delays.host,
            };
            if !self.has_room_behind(node, class, first) {
                continue;
            }
            let done = self.now().max(first.whole_at) + time;
            self.nodes[node as usize].serving = Some(class as usize);
            self.push(done, node, Event::PacketServed);
            return;
        }
    }

    /// Returns whether there is a place in an output queue for the packet that follows from `taken`.
    fn has_room_behind(&self, node: u32, class: Class, taken: Taken) -> bool {
        let room = |node: u32, class: Class| {
            self.nodes[node as usize].output[class as usize].held < self.settings.output_packets
        };
        if let Some(other_side) = self.rings.places[node as usize].other_side {
            return room(other_side, class);
        }
        let operation = self.transactions[taken.transaction].operation;
        class == Class::Response
            || operation.response_symbols().is_none()
            || room(node, Class::Response)
    }

    /// Handles the end of the host interface's work on the first packet of an input queue.
    pub(super) fn packet_served(&mut self, node: u32) {
        let class = match self.nodes[node as usize].serving.take() {
            Some(0) => Class::Request,
            _ => Class::Response,
        };
        let input = &mut self.nodes[node as usize].input[class as usize];
        let Taken { transaction, to, .. } = input.taken.pop_front().expect("it was served");
        self.reserve_place(node, class);
        let what = self.transactions[transaction];
        if let Some(other_side) = self.rings.places[node as usize].other_side {
            self.enqueue(other_side, class, transaction, to);
        } else if class == Class::Request && what.operation.response_symbols().is_some() {
            match what.operation {
                TransactionKind::Join(one, other) => {
                    self.request_crossbar(node, transaction, (one, other), true)
                }
                TransactionKind::Separate(one, other) => {
                    self.request_crossbar(node, transaction, (one, other), false);
                }
                _ => {
                    if let Some(tags) = &mut self.carried_out {
                        tags.push(what.tag);
                    }
                    self.enqueue(node, Class::Response, transaction, what.requester);
                }
            }
        } else {
            self.transactions.remove(transaction);
            self.complete.push(Complete {
                tag: what.tag,
                requester: what.requester,
                responder: what.responder,
                operation: what.operation,
                priority: what.priority,
                requested_at: what.requested_at,
                done: self.now(),
            });
        }
        self.serve_next(node);
    }

    /// Keeps a free place of an input queue for the packet that was refused first, and notifies its sender.
    fn reserve_place(&mut self, node: u32, class: Class) {
        let input = &mut self.nodes[node as usize].input[class as usize];
        let Some(Refused { packet, sender }) = input.refused.pop_front() else { return };
        input.reserved += 1;
        let resume = self.control(Kind::Resume { of: packet }, node, sender);
        let resume = self.packets.add(resume);
        // It is no request, but the crossbar must wait for it, too.
        self.without_echo[self.rings.places[sender as usize].ring as usize] += 1;
        self.nodes[node as usize].control.push_back(resume);
        self.start_transmitter(node);
    }

    /// Continues the packet that waited at a host interface for a place of an output queue, which is free now.
    fn output_place_released(&mut self, node: u32) {
        let other_side = self.rings.places[node as usize].other_side;
        self.serve_next(other_side.unwrap_or(node));
    }
}
