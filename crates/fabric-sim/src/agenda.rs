//! The clock and the future events, which every part of the simulation shares.

use contract::Time;

use crate::event_hash::EventHash;
use crate::queue::Queue;

/// An event. Its number is that of the rank, message, node, channel or packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A rank continues.
    Wake(u32),
    /// The overhead of a message is spent, and the network gets it.
    Launch(u32),
    /// The adapter of an access's target has executed it.
    Served(u32),
    /// A rank can continue as soon as it gets the processor that it shares.
    Ready(u32),
    /// The current job of a shared processor ends.
    Stop(u32),
    /// The scheduler of a shared processor chooses the next job.
    Choose(u32),
    /// L1: the sender's engine starts a parcel.
    Started(u32),
    /// L1: the last byte of a parcel leaves the sender.
    Left(u32),
    /// L1: a parcel arrives at the receiver's port.
    AtPort(u32),
    /// L1: a parcel has passed the receiver's port.
    Arrived(u32),
    /// L2: a node's engine has prepared a packet.
    Prepared(u32),
    /// L2: a channel has carried a packet.
    ChannelFree(u32),
    /// L2: the node at which a packet has arrived can forward it.
    AtNode(u32),
    /// L2: a node's processor has begun to forward a packet.
    Forwarded(u32),
    /// L2: a packet has arrived at its last node.
    AtEnd(u32),
    /// L2: a node's engine has received a packet.
    Received(u32),
    /// L2: something fails or is repaired.
    Fault(u32),
    /// L2: the sender of a message has detected which of its packets were lost.
    Retransmit(u32),
    /// The sleep of a rank that polls has run out, if nothing has woken it.
    SleepOver(u32),
    /// SCI: an event of the rings. The number comes from the hash of their earlier events.
    Rings(u32),
}

/// The clock, the queue and the hash of all events.
pub(crate) struct Agenda {
    now: Time,
    queue: Queue<Event>,
    hash: EventHash,
    events: u64,
}

impl Event {
    /// Returns the event as two numbers, for the hash.
    fn code(self) -> (u32, u32) {
        match self {
            Event::Wake(rank) => (0, rank),
            Event::Launch(message) => (1, message),
            Event::Ready(rank) => (2, rank),
            Event::Started(message) => (3, message),
            Event::Left(message) => (4, message),
            Event::AtPort(message) => (5, message),
            Event::Arrived(message) => (6, message),
            Event::Prepared(node) => (7, node),
            Event::ChannelFree(channel) => (8, channel),
            Event::AtNode(packet) => (9, packet),
            Event::AtEnd(packet) => (10, packet),
            Event::Received(node) => (11, node),
            Event::Stop(node) => (12, node),
            Event::Choose(node) => (13, node),
            Event::Fault(fault) => (14, fault),
            Event::Retransmit(message) => (15, message),
            Event::Served(message) => (16, message),
            Event::Forwarded(packet) => (17, packet),
            Event::Rings(hash) => (18, hash),
            Event::SleepOver(rank) => (19, rank),
        }
    }
}

impl Agenda {
    pub(crate) fn new() -> Self {
        Agenda { now: Time::ZERO, queue: Queue::new(), hash: EventHash::new(), events: 0 }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    pub(crate) fn event_hash(&self) -> u64 {
        self.hash.value()
    }

    pub(crate) fn push(&mut self, time: Time, event: Event) {
        debug_assert!(time >= self.now, "nothing happens in the past");
        self.queue.push(time, event);
    }

    /// Returns the time of the next event.
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// Returns whether there is another event at this instant.
    pub(crate) fn has_more_now(&self) -> bool {
        self.queue.next_time() == Some(self.now)
    }

    /// Removes the next event, and sets the clock to its time.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let (time, event) = self.queue.pop()?;
        self.note(time, event);
        Some(event)
    }

    /// Sets the clock to `time` for `rank`, if nothing else happens until then, with the effect of a push and a pop.
    /// Returns whether it did.
    pub(crate) fn jump(&mut self, time: Time, rank: u32) -> bool {
        let first = self.queue.next_time().is_none_or(|next| next > time);
        if first {
            self.note(time, Event::Wake(rank));
        }
        first
    }

    fn note(&mut self, time: Time, event: Event) {
        let (kind, number) = event.code();
        self.now = time;
        self.hash.add(time, kind, number);
        self.events += 1;
    }

    /// Sets the clock without an event. Only for a run that has failed.
    pub(crate) fn advance_clock(&mut self, time: Time) {
        self.now = self.now.max(time);
    }
}
