//! The engine, which handles the events of rings in the order of their times.

use contract::{Time, TimeSpan};

use super::error::SettingsError;
use super::lanes::Lanes;
use super::links::{Carried, Links};
use super::node::{CrossbarRequest, Node};
use super::packet::{
    Class, Kind, PACKET_SYMBOLS, Packet, SYMBOLS_MAX, Slab, Transaction, TransactionKind,
};
use super::settings::{Access, RingSettings};
use super::shape::Rings;
use crate::event_hash::EventHash;

/// An event at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The transmitter has sent a packet with its idle symbol.
    PacketSent,
    /// Idle symbols of this kind arrive.
    IdleSymbols(super::node::Idle),
    /// The head of a packet has arrived, and its target is known.
    PacketArrived(u32),
    /// The host interface has served a packet.
    PacketServed,
}

/// A transaction that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// The number that the requester has set.
    pub tag: u64,
    /// The node that requested it.
    pub requester: u32,
    /// The node that served it.
    pub responder: u32,
    /// The operation.
    pub operation: TransactionKind,
    /// Its priority.
    pub priority: u8,
    /// Time of the request.
    pub requested_at: Time,
    /// Time at which its last packet had passed the host interface.
    pub done: Time,
}

/// Counts of events since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of requests and responses sent, repetitions included.
    pub sent: u64,
    /// Number of requests and responses that were refused because there was no place. Events among them are lost.
    pub refused: u64,
    /// Number of packets that a node passed on.
    pub passed: u64,
    /// Maximum number of symbols that any bypass FIFO held.
    pub bypass_symbols_max: u32,
    /// Number of events of the engine.
    pub events: u64,
}

/// Rings that carry transactions.
pub struct Engine {
    pub(super) settings: RingSettings,
    pub(super) rings: Rings,
    pub(super) nodes: Vec<Node>,
    pub(super) packets: Slab<Packet>,
    pub(super) transactions: Slab<Transaction>,
    queue: Lanes<(u32, Event)>,
    now: Time,
    hash: EventHash,
    pub(super) counts: Counts,
    pub(super) complete: Vec<Complete>,
    /// Tags of transactions that their responder has carried out, if they are kept.
    pub(super) carried_out: Option<Vec<u64>>,
    /// Nodes whose output queue of requests has a free place again.
    pub(super) unblocked: Vec<u32>,
    pub(super) crossbar_request: Option<CrossbarRequest>,
    /// The use of the links, if it is counted.
    links: Option<Links>,
    /// Number of sent packets without their echo, by ring.
    pub(super) without_echo: Vec<u32>,
    /// The lane of events that come a hop later.
    hop_lane: usize,
    /// The lane of the event at which a packet has been sent with its idle symbol, by the packet's length in symbols.
    sent_lanes: [u8; SYMBOLS_MAX as usize + 1],
}

impl Engine {
    /// Creates rings without traffic. The go bits of all idle symbols are set, as the scrubber leaves them.
    ///
    /// # Errors
    /// Those of [`RingSettings::check`].
    pub fn new(settings: RingSettings) -> Result<Self, SettingsError> {
        settings.check()?;
        let rings = settings.shape.build();
        let sent = |symbols: u32| settings.symbol.times(u64::from(symbols) + 1);
        let delays = PACKET_SYMBOLS.into_iter().map(sent).chain([settings.hop()]);
        let queue = Lanes::new(delays.collect());
        let mut sent_lanes = [0; SYMBOLS_MAX as usize + 1];
        for symbols in PACKET_SYMBOLS {
            sent_lanes[symbols as usize] = queue.lane(sent(symbols)) as u8;
        }
        let mut engine = Engine {
            nodes: rings.places.iter().map(|place| Node::new(place.next)).collect(),
            without_echo: vec![0; rings.group.len()],
            packets: Slab::new(),
            transactions: Slab::new(),
            hop_lane: queue.lane(settings.hop()),
            sent_lanes,
            queue,
            now: Time::ZERO,
            hash: EventHash::new(),
            counts: Counts::default(),
            complete: Vec::new(),
            carried_out: None,
            unblocked: Vec::new(),
            crossbar_request: None,
            links: None,
            rings,
            settings,
        };
        if let Access::Train { .. } = engine.settings.access {
            engine.start_trains();
        }
        Ok(engine)
    }

    /// Returns the time of the last event, or of [`advance`](Engine::advance).
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the counts of events since the start.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns a hash of all events, which is the same for the same settings and transactions.
    pub fn event_hash(&self) -> u64 {
        self.hash.value()
    }

    /// Returns the number of transactions that are not complete.
    pub fn under_way(&self) -> usize {
        self.transactions.len()
    }

    /// Returns the number of packets in rings and queues.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Returns the number of the controller of a multi-service switch, which takes [`TransactionKind::Join`].
    pub fn controller(&self) -> Option<u32> {
        self.rings.controller
    }

    /// Returns whether the output queue of a node has a place for a request.
    pub fn has_room(&self, node: u32) -> bool {
        self.nodes[node as usize].output[Class::Request as usize].held
            < self.settings.output_packets
    }

    /// Puts a request into the output queue of `requester`. Returns false, without any effect, if the queue is full.
    ///
    /// # Panics
    /// If there is no such node, if an operation has no such data ([`TransactionKind::has_packets`]), or if
    /// [`TransactionKind::Join`] goes to another node than the controller.
    pub fn request(
        &mut self,
        (requester, responder): (u32, u32),
        operation: TransactionKind,
        (priority, requested_at, tag): (u8, Time, u64),
    ) -> bool {
        assert!(requester < self.rings.hosts, "node {requester} has no host");
        assert!(operation.has_packets(), "no packet holds the data of {operation:?}");
        let is_for_controller =
            matches!(operation, TransactionKind::Join(..) | TransactionKind::Separate(..));
        assert_eq!(is_for_controller, Some(responder) == self.rings.controller, "who joins rings");
        if !self.has_room(requester) {
            return false;
        }
        let transaction =
            Transaction { operation, requester, responder, priority, requested_at, tag };
        let transaction = self.transactions.add(transaction);
        self.enqueue(requester, Class::Request, transaction, responder);
        true
    }

    /// Returns the number of links that a packet passes from a node to another, in the rings as they are joined now.
    pub fn links(&self, from: u32, to: u32) -> usize {
        let (mut node, mut links) = (self.nodes[from as usize].next, 1);
        while node != to {
            let agent =
                self.rings.places[node as usize].other_side.filter(|_| self.rings.strips(node, to));
            node = self.nodes[agent.unwrap_or(node) as usize].next;
            links += 1;
        }
        links
    }

    /// Returns the time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Sets the clock, so that requests come at this moment.
    ///
    /// # Panics
    /// If an event comes before.
    pub fn advance(&mut self, to: Time) {
        assert!(self.next_time().is_none_or(|next| next >= to), "an event comes before");
        self.now = self.now.max(to);
    }

    /// Handles the next event. Returns false if there is none.
    pub fn step(&mut self) -> bool {
        let Some((time, (node, event))) = self.queue.pop() else { return false };
        self.now = time;
        self.counts.events += 1;
        self.hash.add(time, event.code(), node);
        match event {
            Event::PacketSent => self.packet_sent(node),
            Event::IdleSymbols(idle) => self.idle_symbols_arrived(node, idle),
            Event::PacketArrived(packet) => self.packet_arrived(node, packet),
            Event::PacketServed => self.packet_served(node),
        }
        true
    }

    /// Returns whether there are complete transactions, or nodes with a free place for a request, that have not been
    /// taken.
    pub(super) fn has_results(&self) -> bool {
        !self.complete.is_empty() || !self.unblocked.is_empty()
    }

    /// Takes the transactions that are complete.
    pub fn take_complete(&mut self) -> std::vec::Drain<'_, Complete> {
        self.complete.drain(..)
    }

    /// Keeps the tags of transactions whose responder has carried them out, and whose response is yet to come.
    pub fn keep_carried_out(&mut self) {
        self.carried_out = Some(Vec::new());
    }

    /// Counts the use of each link from now on.
    pub(crate) fn keep_link_use(&mut self) {
        self.links = Some(Links::new(self.nodes.len()));
    }

    /// Keeps the times in which links are busy, if their use is counted.
    pub(crate) fn keep_busy_spans(&mut self) {
        self.links.as_mut().into_iter().for_each(Links::keep_spans);
    }

    /// Records that a node begins to send a packet, which takes `length`.
    pub(super) fn note_link_use(&mut self, node: u32, packet: u32, length: TimeSpan) {
        let Some(links) = &mut self.links else { return };
        let entered = self.packets[packet].entered;
        links.record(node, (entered, self.now), length, self.nodes[node as usize].waiting());
    }

    /// Returns the use of each link that was used, with its name.
    pub(crate) fn take_link_use(&mut self) -> Vec<(String, Carried)> {
        let used = self.links.as_mut().map(Links::take_use).unwrap_or_default();
        used.into_iter().map(|(node, of)| (self.link_name(node), of)).collect()
    }

    /// Returns the times in which links were busy, with their names.
    pub(crate) fn take_busy_spans(&mut self) -> Vec<(String, Time, Time)> {
        let spans = self.links.as_mut().map(Links::take_spans).unwrap_or_default();
        spans.into_iter().map(|(node, from, to)| (self.link_name(node), from, to)).collect()
    }

    fn link_name(&self, node: u32) -> String {
        self.rings.link_name(node, self.nodes[node as usize].next)
    }

    /// Takes one of the tags of transactions that were carried out.
    pub fn pop_carried_out(&mut self) -> Option<u64> {
        self.carried_out.as_mut().and_then(Vec::pop)
    }

    /// Takes one of the transactions that are complete.
    pub fn pop_complete(&mut self) -> Option<Complete> {
        self.complete.pop()
    }

    /// Takes one of the nodes whose output queues have a free place for a request again.
    pub fn pop_unblocked(&mut self) -> Option<u32> {
        self.unblocked.pop()
    }

    /// Takes the nodes whose output queues have got a free place for a request since the last call.
    pub fn take_unblocked(&mut self) -> std::vec::Drain<'_, u32> {
        self.unblocked.drain(..)
    }

    /// Schedules an event whose delay after its cause is not fixed.
    pub(super) fn push(&mut self, time: Time, node: u32, event: Event) {
        debug_assert!(time >= self.now, "nothing happens in the past");
        self.queue.push(time, (node, event));
    }

    /// Schedules an event a hop later.
    pub(super) fn push_after_hop(&mut self, node: u32, event: Event) {
        self.queue.push_after(self.now, self.hop_lane, (node, event));
    }

    /// Schedules the event at which the transmitter of a node is free, after a packet of `symbols` symbols and an idle
    /// one. Returns the time that these take.
    pub(super) fn schedule_packet_sent(&mut self, node: u32, symbols: u32) -> TimeSpan {
        let lane = usize::from(self.sent_lanes[symbols as usize]);
        self.queue.push_after(self.now, lane, (node, Event::PacketSent));
        self.queue.delay(lane)
    }

    pub(super) fn symbols(&self, count: u32) -> TimeSpan {
        self.settings.symbol.times(u64::from(count))
    }

    /// Puts a packet of a transaction into an output queue that has a free place.
    pub(super) fn enqueue(&mut self, node: u32, class: Class, transaction: u32, to: u32) {
        let what = self.transactions[transaction];
        let symbols = match class {
            Class::Request => what.operation.request_symbols(),
            Class::Response => what.operation.response_symbols().expect("it has a response"),
        };
        let kind = if what.operation.has_echoes() { Kind::Send(class) } else { Kind::Event };
        let packet = self.packets.add(Packet {
            kind,
            transaction,
            to,
            from: node,
            symbols,
            priority: what.priority,
            entered: self.now,
            reserved_at: None,
            phase: None,
        });
        let output = &mut self.nodes[node as usize].output[class as usize];
        output.held += 1;
        output.waiting.push_back(packet);
        self.start_transmitter(node);
    }
}

impl Event {
    /// Returns the event as a number, for the hash.
    fn code(self) -> u32 {
        match self {
            Event::PacketSent => 0,
            Event::IdleSymbols(idle) => {
                1 | u32::from(idle.go) << 8 | u32::from(idle.level) << 9 | idle.by << 12
            }
            Event::PacketArrived(packet) => 2 | packet << 8,
            Event::PacketServed => 3,
        }
    }
}
