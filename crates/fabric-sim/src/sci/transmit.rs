//! The transmitter, which selects the packet that a node sends next, and the idle symbols between packets.

use super::engine::{Engine, Event};
use super::node::Idle;
use super::packet::{Class, Kind};
use super::settings::{Access, Urgency};

/// The next packet of a node.
enum Next {
    Passing,
    Control,
    Own(Class, usize),
}

impl Engine {
    /// Starts the transmitter if it is free. A packet of the node's own waits, or may be sent now.
    pub(super) fn start_transmitter(&mut self, node: u32) {
        self.raise_level(node);
        if !self.nodes[node as usize].is_sending {
            self.send_next(node);
        }
    }

    /// Handles the end of a packet and of the idle symbol after it.
    pub(super) fn packet_sent(&mut self, node: u32) {
        let waits = self.has_waiting_bypass(node);
        let this = &mut self.nodes[node as usize];
        this.is_sending = false;
        let had_recovered = !this.is_recovering;
        if this.is_sending_own && waits {
            this.is_recovering = true;
        } else if !waits {
            this.is_recovering = false;
        }
        this.is_sending_own = false;
        // A node that is empty again returns the go bit with which it began to send.
        let go = if this.is_recovering { false } else { this.idle_in.go || !had_recovered };
        let has_sent_event = std::mem::take(&mut this.is_sending_event);
        self.send_idle_symbols(node, go);
        self.send_next(node);
        if has_sent_event {
            self.release_output_place(node, Class::Request);
        }
    }

    /// Handles the arrival of idle symbols of another kind.
    pub(super) fn idle_symbols_arrived(&mut self, node: u32, idle: Idle) {
        let this = &mut self.nodes[node as usize];
        this.idle_in = idle;
        if this.is_sending {
            return;
        }
        // A go bit is extended: idle symbols between two packets keep it once it is set.
        let go = this.idle_out.go || idle.go;
        self.send_idle_symbols(node, go);
        self.send_next(node);
    }

    /// Sets the idle symbols that the node sends from now on.
    fn send_idle_symbols(&mut self, node: u32, go: bool) {
        let level = self.level_of_others(node);
        let this = &mut self.nodes[node as usize];
        let (level, by) = match this.raised > level.0 {
            true => (this.raised, node),
            false => level,
        };
        let idle = Idle { go, level, by };
        if idle != this.idle_out {
            this.idle_out = idle;
            let next = this.next;
            // The symbol is the one that ends now.
            self.push_after_hop(next, Event::IdleSymbols(idle));
        }
    }

    /// Returns the level to which other nodes have raised the arriving idle symbols, and the node that did. A level
    /// that the node itself has raised comes back to it, and a level of a ring that is no longer joined may remain.
    /// Neither counts.
    fn level_of_others(&self, node: u32) -> (u8, u32) {
        if self.settings.urgency != Urgency::TwoBits {
            return (0, u32::MAX);
        }
        let Idle { level, by, .. } = self.nodes[node as usize].idle_in;
        let group = |node: u32| self.rings.group[self.rings.places[node as usize].ring as usize];
        match by != u32::MAX && by != node && group(by) == group(node) {
            true => (level, by),
            false => (0, u32::MAX),
        }
    }

    /// Sets the level of idle symbols to the priority of the most urgent packet that waits.
    fn raise_level(&mut self, node: u32) {
        if self.settings.urgency != Urgency::TwoBits {
            return;
        }
        let urgent = self.most_urgent(node).map_or(0, |(_, _, priority)| priority.min(3));
        let this = &mut self.nodes[node as usize];
        if this.raised != urgent {
            this.raised = urgent;
            let go = this.idle_out.go;
            if !this.is_sending {
                self.send_idle_symbols(node, go);
            }
        }
    }

    /// Begins to send the next packet, if any may be sent.
    fn send_next(&mut self, node: u32) {
        if self.nodes[node as usize].is_sending {
            return;
        }
        match self.next_of(node) {
            Some(Next::Passing) => {
                let packet = self.take_passing(node);
                self.counts.passed += 1;
                self.send(node, packet);
            }
            Some(Next::Control) => {
                let this = &mut self.nodes[node as usize];
                let packet = this.control.pop_front().expect("one waits");
                this.is_sending_own = true;
                self.send(node, packet);
            }
            Some(Next::Own(class, at)) => {
                let this = &mut self.nodes[node as usize];
                let waiting = &mut this.output[class as usize].waiting;
                let packet = waiting.remove(at).expect("one waits");
                this.is_sending_own = true;
                this.train = this.train.map(|seats| seats - 1);
                this.is_sending_event = self.packets[packet].kind == Kind::Event;
                self.counts.sent += 1;
                self.without_echo[self.rings.places[node as usize].ring as usize] += 1;
                self.raise_level(node);
                self.send(node, packet);
            }
            None => {}
        }
        self.pass_train_on(node);
    }

    /// Returns the next packet of a node whose transmitter is free.
    fn next_of(&self, node: u32) -> Option<Next> {
        let this = &self.nodes[node as usize];
        let has_waiting_bypass = self.has_waiting_bypass(node);
        if has_waiting_bypass && self.settings.urgency != Urgency::Preempt {
            return Some(Next::Passing);
        }
        let otherwise = (!this.bypass.is_empty()).then_some(Next::Passing);
        if !this.control.is_empty() && !has_waiting_bypass {
            return Some(Next::Control);
        }
        let Some((class, at, priority)) = self.most_urgent(node) else { return otherwise };
        if this.is_held_back {
            return otherwise;
        }
        if self.settings.urgency == Urgency::Preempt && priority > 0 {
            let packet = self.packets[this.output[class as usize].waiting[at]];
            let mut passing = this.bypass.iter().map(|&packet| &self.packets[packet]);
            let is_first = passing.all(|passing| passing.priority < priority);
            let room = self.settings.bypass_spare_symbols;
            if is_first && this.bypass_symbols + packet.symbols <= room {
                return Some(Next::Own(class, at));
            }
        }
        let may = match self.settings.access {
            Access::Free => true,
            Access::GoBits => this.idle_out.go,
            Access::Train { .. } => this.train.is_some_and(|seats| seats > 0),
        };
        let level = match self.settings.urgency {
            Urgency::TwoBits => self.level_of_others(node).0,
            _ => 0,
        };
        match may && !has_waiting_bypass && priority >= level {
            true => Some(Next::Own(class, at)),
            false => otherwise,
        }
    }

    /// Returns whether a packet was in the bypass FIFO before this moment. The first one has been there longest,
    /// because packets that overtake others leave them in the order of their arrival.
    fn has_waiting_bypass(&self, node: u32) -> bool {
        let first = self.nodes[node as usize].bypass.front();
        first.is_some_and(|&packet| self.packets[packet].entered < self.now())
    }

    /// Returns the packet of its own that a node sends first: its class, its place in the queue and its priority.
    /// Responses go before requests, and with priorities, urgent packets go before others.
    fn most_urgent(&self, node: u32) -> Option<(Class, usize, u8)> {
        let this = &self.nodes[node as usize];
        let mut best: Option<(Class, usize, u8)> = None;
        for class in [Class::Response, Class::Request] {
            let waiting = &this.output[class as usize].waiting;
            if self.settings.urgency == Urgency::None {
                match waiting.is_empty() {
                    true => continue,
                    false => return Some((class, 0, 0)),
                }
            }
            for (at, &packet) in waiting.iter().enumerate() {
                let priority = self.packets[packet].priority;
                if best.is_none_or(|(.., found)| priority > found) {
                    best = Some((class, at, priority));
                }
            }
        }
        best
    }

    /// Takes the packet of the bypass FIFO that goes first.
    fn take_passing(&mut self, node: u32) -> u32 {
        let this = &mut self.nodes[node as usize];
        let packet = if self.settings.urgency == Urgency::Preempt {
            let priority = |at: usize| self.packets[this.bypass[at]].priority;
            let mut first = 0;
            for at in 1..this.bypass.len() {
                if priority(at) > priority(first) {
                    first = at;
                }
            }
            this.bypass.remove(first)
        } else {
            this.bypass.pop_front()
        };
        let packet = packet.expect("one waits");
        this.bypass_symbols -= self.packets[packet].symbols + 1;
        packet
    }

    /// Sends a packet and an idle symbol.
    fn send(&mut self, node: u32, packet: u32) {
        let now = self.now();
        let length = self.schedule_packet_sent(node, self.packets[packet].symbols);
        self.note_link_use(node, packet, length);
        let this = &mut self.nodes[node as usize];
        this.is_sending = true;
        this.free_at = now + length;
        let next = this.next;
        self.push_after_hop(next, Event::PacketArrived(packet));
    }

    /// Passes on a packet that is not for this node, or an echo of its own in the place of one that was.
    pub(super) fn forward(&mut self, node: u32, packet: u32) {
        let now = self.now();
        let symbols = self.packets[packet].symbols + 1;
        self.packets[packet].entered = now;
        if self.can_forward_at_once(node) {
            self.counts.passed += 1;
            self.send(node, packet);
            return;
        }
        let this = &mut self.nodes[node as usize];
        this.bypass.push_back(packet);
        this.bypass_symbols += symbols;
        let is_sending = this.is_sending;
        let held = this.bypass_symbols;
        if is_sending && this.free_at > now {
            self.counts.bypass_symbols_max = self.counts.bypass_symbols_max.max(held);
        }
        if !is_sending {
            self.send_next(node);
        }
    }

    /// Returns whether an arriving packet is sent at once, without a choice among the node's own packets. Most packets
    /// on a ring only pass nodes.
    fn can_forward_at_once(&self, node: u32) -> bool {
        let this = &self.nodes[node as usize];
        let has_own = || this.output.iter().any(|output| !output.waiting.is_empty());
        let must_wait = self.settings.urgency == Urgency::None
            && self.settings.access == Access::GoBits
            && !this.idle_out.go;
        let is_free = !this.is_sending && this.bypass.is_empty() && this.train.is_none();
        is_free && this.control.is_empty() && (must_wait || !has_own())
    }

    /// Returns the class of a packet if it is a request or a response.
    pub(super) fn class_of(&self, packet: u32) -> Option<Class> {
        match self.packets[packet].kind {
            Kind::Send(class) => Some(class),
            Kind::Event => Some(Class::Request),
            Kind::Echo { .. } | Kind::Resume { .. } | Kind::Train => None,
        }
    }
}
