//! The stages of a message from its send to its receive: a short one is sent eagerly, a long one by rendezvous (RTS,
//! CTS, data).

use contract::{EAGER_BYTES, Envelope, RemoteAccess, Request, Selector, TimeSpan};

use super::matching::Arrived;
use super::operation::{Done, State};
use super::{Event, Outcome, World};
use crate::machine::Announcement;
use crate::message_kind::MessageKind;
use crate::network::Parcel;

/// Mode of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By the machine's protocol for its length.
    Standard,
    /// By rendezvous, whatever its length: the send is done only once a receive has taken the message.
    Synchronous,
    /// At once, as a step of the machine's own collective: neither end has an overhead.
    Bare,
    /// A request to an agent.
    Access(RemoteAccess),
    /// An agent's answer to a request.
    Answer(RemoteAccess),
}

/// Stage of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its data are under way, and no receive is known.
    Eager,
    /// Its request to send (RTS) is under way or has arrived.
    RequestToSend,
    /// It has a receive; the clear to send (CTS) is under way to the sender.
    ClearToSend,
    /// Its data are under way, and the receive waits for them.
    Data,
}

#[derive(Debug)]
pub(super) struct Message {
    pub(super) to: u32,
    pub(super) envelope: Envelope,
    /// Empty if messages carry no data.
    pub(super) data: Vec<u8>,
    mode: Mode,
    stage: Stage,
    /// The sender's request, until it is done.
    send: Option<Request>,
    /// The receiver's request, once it has matched.
    receive: Option<Request>,
    /// True if it arrived before its receive was posted: the receiver's processor has more work then.
    unexpected: bool,
    sent_at: super::Time,
    /// False once its place is free for another message.
    in_use: bool,
}

impl Message {
    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn sent_at(&self) -> super::Time {
        self.sent_at
    }
}

impl World {
    /// Adds a message with its data, and returns its number.
    pub(super) fn new_message(
        &mut self,
        to: u32,
        envelope: Envelope,
        data: &[u8],
        mode: Mode,
    ) -> u32 {
        self.counts.messages += 1;
        self.counts.bytes += data.len() as u64;
        let is_access = matches!(mode, Mode::Access(_) | Mode::Answer(_));
        let data = if self.carries_data || is_access { data } else { &[] };
        let message = |data| Message {
            to,
            envelope,
            data,
            mode,
            stage: Stage::Eager,
            send: None,
            receive: None,
            unexpected: false,
            sent_at: self.agenda.now(),
            in_use: true,
        };
        if let Some(number) = self.free_messages.pop() {
            let place = &mut self.messages[number as usize];
            let mut memory = std::mem::take(&mut place.data);
            memory.clear();
            memory.extend_from_slice(data);
            *place = message(memory);
            return number;
        }
        self.messages.push(message(data.to_vec()));
        self.messages.len() as u32 - 1
    }

    /// Sends a message. The sender's overhead is spent, unless the machine spends it after the CTS. `send` is done once
    /// the data may be changed.
    pub(super) fn dispatch(&mut self, number: u32, send: Request) {
        let message = &mut self.messages[number as usize];
        let bytes = message.envelope.bytes;
        let at_once = match message.mode {
            Mode::Standard => self.machine.protocol.sends_at_once(bytes as u64),
            Mode::Synchronous => false,
            Mode::Bare | Mode::Access(_) | Mode::Answer(_) => true,
        };
        let is_buffered = bytes <= EAGER_BYTES && message.mode != Mode::Synchronous;
        message.send = Some(send);
        message.stage = if at_once { Stage::Eager } else { Stage::RequestToSend };
        // The contract promises to buffer it: a copy is kept, and the sender continues.
        if !at_once && is_buffered {
            self.finish_send(number);
        }
        let free = self.machine.protocol.announcement == Announcement::Free;
        if self.is_local(number) {
            // The sender's processor has copied it.
            if is_buffered {
                self.finish_send(number);
            }
            self.parcel_arrived(number);
        } else if !at_once && free {
            self.parcel_arrived(number);
        } else {
            self.launch(number);
        }
    }

    /// Ends the send of a message, because a copy of its data is kept.
    pub(super) fn keep_send(&mut self, number: u32, send: Request) {
        self.messages[number as usize].send = Some(send);
        self.finish_send(number);
    }

    /// Returns whether it never leaves its processor.
    pub(super) fn is_local(&self, number: u32) -> bool {
        let message = &self.messages[number as usize];
        self.processors.are_one(message.envelope.source as usize, message.to as usize)
    }

    /// Launches a message into the network: its data, its RTS or its CTS, according to its stage.
    pub(super) fn launch(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let control_bytes = u64::from(self.machine.protocol.control_bytes);
        let (source, to) = (message.envelope.source, message.to);
        let access = match message.mode {
            Mode::Access(access) => Some(access),
            _ => None,
        };
        let (data_bytes, data) = match message.mode {
            Mode::Standard | Mode::Synchronous => {
                (message.envelope.bytes as u64, MessageKind::Data)
            }
            Mode::Bare => (message.envelope.bytes as u64, MessageKind::Bare),
            mode @ (Mode::Access(_) | Mode::Answer(_)) => {
                (self.access_bytes(mode), MessageKind::Access)
            }
        };
        let (from, to, bytes, kind) = match message.stage {
            Stage::Eager | Stage::Data => (source, to, data_bytes, data),
            Stage::RequestToSend => (source, to, control_bytes, MessageKind::Control),
            Stage::ClearToSend => (to, source, control_bytes, MessageKind::Control),
        };
        let [from, to] = [from, to].map(|rank| self.processors.node(rank as usize) as u32);
        let parcel = Parcel { message: number, from, to, bytes, kind, access };
        self.network.launch(&mut self.agenda, parcel, &mut self.outcomes);
        self.handle_outcomes();
    }

    /// Returns the ranks between which the parcel of a message goes. A CTS goes back.
    pub(super) fn ends_of_parcel(&self, number: u32) -> (usize, usize) {
        let message = &self.messages[number as usize];
        let (source, to) = (message.envelope.source as usize, message.to as usize);
        if message.stage == Stage::ClearToSend { (to, source) } else { (source, to) }
    }

    /// Handles the outcomes that the network has reported.
    pub(super) fn handle_outcomes(&mut self) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Started(number) => self.parcel_started(number),
                Outcome::Left(number) => self.parcel_left(number),
                Outcome::Arrived(number) => self.parcel_arrived(number),
                Outcome::Unreachable(number) => self.fail_unreachable(number),
                Outcome::NodeFailed(node) => self.fail_node(node),
                Outcome::Forwards { node, packet, span } => {
                    let done = Event::Forwarded(packet);
                    self.processors.interrupt(&mut self.agenda, node, span, done);
                }
            }
        }
        // Handling them may have added more to the new list, which is nearly always empty.
        if self.outcomes.is_empty() {
            self.outcomes = outcomes;
        } else {
            self.handle_outcomes();
        }
    }

    /// Records that the sender's engine has started a parcel. It has a copy of short data then.
    fn parcel_started(&mut self, number: u32) {
        let Message { stage, mode, envelope, .. } = self.messages[number as usize];
        let is_copied = matches!(stage, Stage::Eager | Stage::Data)
            && mode != Mode::Bare
            && self.machine.protocol.sends_at_once(envelope.bytes as u64);
        if is_copied && !self.machine.endpoint.send_waits_for_link {
            self.finish_send(number);
        }
    }

    fn parcel_left(&mut self, number: u32) {
        if matches!(self.messages[number as usize].stage, Stage::Eager | Stage::Data) {
            self.finish_send(number);
        }
    }

    /// Records that the data, the RTS or the CTS of a message have arrived.
    pub(super) fn parcel_arrived(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let (to, envelope) = (message.to as usize, message.envelope);
        if let Mode::Access(access) = message.mode {
            return self.access_arrived(number, access);
        }
        match message.stage {
            Stage::Eager | Stage::RequestToSend => {
                match self.ranks[to].mailbox.arrive(Arrived { message: number, envelope }) {
                    Some(receive) => self.match_receive(number, receive),
                    None => {
                        self.messages[number as usize].unexpected = true;
                        self.note_arrival(to, number);
                    }
                }
            }
            Stage::ClearToSend => self.send_data(number),
            Stage::Data => self.finish_receive(number),
        }
    }

    /// Returns the messages that have arrived at a rank and that no receive has taken.
    pub(crate) fn unexpected(&self, rank: usize) -> Vec<Envelope> {
        self.ranks[rank].mailbox.arrived().map(|one| one.envelope).collect()
    }

    /// Records that a receive and its message have matched.
    pub(super) fn match_receive(&mut self, number: u32, receive: Request) {
        let local = self.is_local(number);
        let message = &mut self.messages[number as usize];
        message.receive = Some(receive);
        if message.stage == Stage::Eager || local {
            self.finish_send(number);
            self.finish_receive(number);
        } else {
            message.stage = Stage::ClearToSend;
            message.unexpected = false;
            let at = self.agenda.now() + self.machine.protocol.answer;
            self.agenda.push(at, Event::Launch(number));
        }
    }

    /// Sends the data of a message whose CTS has arrived at the sender's engine.
    fn send_data(&mut self, number: u32) {
        let message = &mut self.messages[number as usize];
        message.stage = Stage::Data;
        let (from, bytes) = (message.envelope.source as usize, message.envelope.bytes as u64);
        let overhead = match self.machine.protocol.announcement {
            Announcement::Message => TimeSpan::ZERO,
            Announcement::Free => self.machine.endpoint.send.of(bytes),
        };
        self.spend(from, overhead, Event::Launch(number));
    }

    fn finish_send(&mut self, number: u32) {
        let message = &mut self.messages[number as usize];
        let (source, send) = (message.envelope.source as usize, message.send.take());
        // The message's own envelope has changed if the message was claimed.
        if let Some(send) = send
            && let State::Sending { envelope, .. } = *self.ranks[source].operations.state(send)
        {
            let done = Done { envelope, message: None, due: TimeSpan::ZERO };
            self.finish(source, (send, number), done);
        }
    }

    fn finish_receive(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let receive = message.receive.expect("the message has met its receive");
        let (envelope, to) = (message.envelope, message.to);
        let bytes = envelope.bytes;
        let now = self.agenda.now();
        let costs = &self.machine.endpoint;
        let due = if let Mode::Answer(_) = message.mode {
            self.machine.windows.as_ref().map_or(TimeSpan::ZERO, |windows| windows.done)
        } else if message.mode == Mode::Bare || self.is_local(number) {
            TimeSpan::ZERO
        } else if message.unexpected {
            costs.receive.of(bytes as u64) + costs.unexpected.of(bytes as u64)
        } else {
            costs.receive.of(bytes as u64)
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.message(envelope.source, to, bytes, message.sent_at, now);
        }
        let done = Done { envelope, message: Some(number), due };
        self.finish(to as usize, (receive, number), done);
    }

    /// Marks a request as done. Its rank continues if it waits for it, after its processor's work.
    fn finish(&mut self, rank: usize, (request, number): (Request, u32), mut done: Done) {
        let state = &mut self.ranks[rank];
        state.event_count += 1;
        if state.waiting.is_for(request) {
            let due = std::mem::take(&mut done.due);
            self.follow(rank, number);
            self.wake_after(rank, due);
        } else if state.operations.is_watched(request) && state.waiting.is_for_others() {
            self.follow(rank, number);
            self.wake_after(rank, TimeSpan::ZERO);
        }
        let data = done.message.map_or(&[][..], |number| &self.messages[number as usize].data);
        self.ranks[rank].operations.conclude(request, done, data);
    }

    /// Returns whether a message that `selector` accepts is under way to a rank.
    pub(super) fn is_under_way(&self, rank: usize, selector: Selector) -> bool {
        self.messages.iter().any(|message| {
            message.in_use
                && message.to as usize == rank
                && message.receive.is_none()
                && !matches!(message.mode, Mode::Access(_))
                && selector.accepts(&message.envelope)
        })
    }

    /// Returns whether a send waits for its receive, and for nothing else.
    pub(super) fn waits_for_receive(&self, rank: usize, send: Request) -> bool {
        let is_of_send = |message: &Message| {
            message.in_use && message.envelope.source as usize == rank && message.send == Some(send)
        };
        let number = self.messages.iter().position(is_of_send);
        number.is_some_and(|number| {
            let message = &self.messages[number];
            let is_at_receiver =
                message.stage == Stage::RequestToSend || self.is_local(number as u32);
            message.receive.is_none() && is_at_receiver
        })
    }

    /// Frees a message's place.
    pub(super) fn forget(&mut self, number: u32) {
        const KEPT_BYTES: usize = 1 << 16;
        let message = &mut self.messages[number as usize];
        if message.data.capacity() > KEPT_BYTES {
            message.data = Vec::new();
        }
        message.in_use = false;
        self.free_messages.push(number);
    }
}
