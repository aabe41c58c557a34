//! A message's way from its send to its receive: a short one eagerly, a long one by rendezvous (RTS, CTS, data).

use contract::{EAGER_BYTES, Envelope, RemoteAccess, Request, Selector, TimeSpan};

use super::matching::Arrived;
use super::operation::{Done, State};
use super::{Event, Outcome, World};
use crate::machine::Announcement;
use crate::message_kind::MessageKind;
use crate::network::Parcel;

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As the machine's protocol says for its length.
    Standard,
    /// By rendezvous, whatever its length: the send is done only once a receive has taken the message.
    Synchronous,
    /// At once, as a step of the machine's own collective: there is no overhead at either end.
    Bare,
    /// A request to an agent.
    Access(RemoteAccess),
    /// What an agent answers to one.
    Answer(RemoteAccess),
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its data are on the way, before a receive is known.
    Eager,
    /// Its request to send (RTS) is on the way or has arrived.
    RequestToSend,
    /// It has a receive; the clear to send (CTS) is on its way back.
    ClearToSend,
    /// Its data are on the way, and the receive waits for them.
    Data,
}

#[derive(Debug)]
pub(super) struct Message {
    pub(super) to: u32,
    pub(super) envelope: Envelope,
    /// Empty where messages carry none.
    pub(super) data: Vec<u8>,
    mode: Mode,
    stage: Stage,
    /// The sender's request, until it is done.
    send: Option<Request>,
    /// The receiver's request, once they have met.
    receive: Option<Request>,
    /// Whether it arrived before its receive was posted: the receiver's processor has more to do then.
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
    /// A message with its data, in a place of its own.
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
            self.arrived(number);
        } else if !at_once && free {
            self.arrived(number);
        } else {
            self.launch(number);
        }
    }

    /// The send of a message is done, for a copy of its data is kept.
    pub(super) fn keep_send(&mut self, number: u32, send: Request) {
        self.messages[number as usize].send = Some(send);
        self.finish_send(number);
    }

    /// Whether it never leaves its processor.
    pub(super) fn is_local(&self, number: u32) -> bool {
        let message = &self.messages[number as usize];
        self.processors.are_one(message.envelope.source as usize, message.to as usize)
    }

    /// Hands a message to the network: its data, its RTS or its CTS, as its stage says.
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

    /// The ranks between which the parcel of a message goes: its CTS goes back.
    pub(super) fn ends_of_parcel(&self, number: u32) -> (usize, usize) {
        let message = &self.messages[number as usize];
        let (source, to) = (message.envelope.source as usize, message.to as usize);
        if message.stage == Stage::ClearToSend { (to, source) } else { (source, to) }
    }

    /// Acts on what the network reported.
    pub(super) fn handle_outcomes(&mut self) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Started(number) => self.started(number),
                Outcome::Left(number) => self.left(number),
                Outcome::Arrived(number) => self.arrived(number),
                Outcome::CutOff(number) => self.cut_off(number),
                Outcome::Died(node) => self.died(node),
                Outcome::Forwards { node, packet, span } => {
                    let done = Event::Forwarded(packet);
                    self.processors.interrupt(&mut self.agenda, node, span, done);
                }
            }
        }
        // Acting on them may have added more to the new list, which is nearly always empty.
        if self.outcomes.is_empty() {
            self.outcomes = outcomes;
        } else {
            self.handle_outcomes();
        }
    }

    /// The sender's engine has taken up a parcel: of short data it has a copy then.
    fn started(&mut self, number: u32) {
        let Message { stage, mode, envelope, .. } = self.messages[number as usize];
        let is_copied = matches!(stage, Stage::Eager | Stage::Data)
            && mode != Mode::Bare
            && self.machine.protocol.sends_at_once(envelope.bytes as u64);
        if is_copied && !self.machine.endpoint.send_waits_for_link {
            self.finish_send(number);
        }
    }

    fn left(&mut self, number: u32) {
        if matches!(self.messages[number as usize].stage, Stage::Eager | Stage::Data) {
            self.finish_send(number);
        }
    }

    /// The data, the RTS or the CTS of a message have arrived.
    pub(super) fn arrived(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let (to, envelope) = (message.to as usize, message.envelope);
        if let Mode::Access(access) = message.mode {
            return self.access_arrived(number, access);
        }
        match message.stage {
            Stage::Eager | Stage::RequestToSend => {
                match self.ranks[to].mailbox.arrive(Arrived { message: number, envelope }) {
                    Some(receive) => self.meet(number, receive),
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

    /// The messages that have arrived at a rank and that no receive has taken.
    pub(crate) fn unexpected(&self, rank: usize) -> Vec<Envelope> {
        self.ranks[rank].mailbox.arrived().map(|one| one.envelope).collect()
    }

    /// A receive and its message have found each other.
    pub(super) fn meet(&mut self, number: u32, receive: Request) {
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

    /// The sender's engine has the CTS.
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
        // The message's own envelope is another one once it was claimed.
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

    /// A request is done, and so its message: its rank continues if it waits for it, after what its processor has to
    /// do.
    fn finish(&mut self, rank: usize, (request, number): (Request, u32), mut done: Done) {
        let state = &mut self.ranks[rank];
        state.happenings += 1;
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

    /// Whether a message that `selector` accepts is on its way to a rank.
    pub(super) fn is_on_its_way(&self, rank: usize, selector: Selector) -> bool {
        self.messages.iter().any(|message| {
            message.in_use
                && message.to as usize == rank
                && message.receive.is_none()
                && !matches!(message.mode, Mode::Access(_))
                && selector.accepts(&message.envelope)
        })
    }

    /// Whether a send waits for its receive, and for nothing else.
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

    /// Gives a message's place back.
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
