//! A message's way from its send to its receive: at once if it is short, else announced, answered and sent.

use contract::{EAGER_BYTES, Tag, TimeSpan};

use super::matching::Envelope;
use super::operation::{Finished, Waiting};
use super::{Event, Outcome, World};
use crate::machine::Announcement;
use crate::network::{Kind, Parcel};

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its data are on the way, before anybody asked for them.
    Eager,
    /// The receiver is told of it.
    Announced,
    /// The receiver waits for it; its answer is on the way back.
    Answered,
    /// Its data are on the way, and the receiver waits for them.
    Data,
}

#[derive(Debug)]
pub(super) struct Message {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) tag: Tag,
    pub(super) data: Vec<u8>,
    stage: Stage,
    /// The sender's operation, until it has finished.
    send: Option<u32>,
    /// The receiver's operation, once they have met.
    receive: Option<u32>,
    /// Not the machine's own message, but a step of one of its collectives: no overhead at either end.
    pub(super) bare: bool,
    /// When the receiver's processor has only now to deal with it: it came before it was asked for.
    unexpected: bool,
    pub(super) sent_at: super::Time,
}

impl World {
    /// A message with its data, in a place of its own.
    pub(super) fn new_message(&mut self, from: u32, to: u32, tag: Tag, data: &[u8]) -> u32 {
        self.counts.messages += 1;
        self.counts.bytes += data.len() as u64;
        let sent_at = self.now();
        if let Some(number) = self.free_messages.pop() {
            let message = &mut self.messages[number as usize];
            message.data.clear();
            message.data.extend_from_slice(data);
            (message.from, message.to, message.tag) = (from, to, tag);
            (message.send, message.receive) = (None, None);
            (message.stage, message.bare, message.unexpected) = (Stage::Eager, false, false);
            message.sent_at = sent_at;
            return number;
        }
        let data = data.to_vec();
        let stage = Stage::Eager;
        let (send, receive, bare, unexpected) = (None, None, false, false);
        self.messages.push(Message {
            from,
            to,
            tag,
            data,
            stage,
            send,
            receive,
            bare,
            unexpected,
            sent_at,
        });
        self.messages.len() as u32 - 1
    }

    /// Sends a message: the sender's overhead is spent, unless it follows the answer. `send` finishes once the data may
    /// be changed.
    pub(super) fn dispatch(&mut self, number: u32, send: u32) {
        let message = &mut self.messages[number as usize];
        let bytes = message.data.len();
        let at_once = message.bare || self.machine.protocol.sends_at_once(bytes as u64);
        message.send = Some(send);
        message.stage = if at_once { Stage::Eager } else { Stage::Announced };
        // A copy is kept of what the contract promises to buffer, and the sender goes on.
        if !at_once && bytes <= EAGER_BYTES {
            self.finish_send(number);
        }
        let free = self.machine.protocol.announcement == Announcement::Free;
        if self.is_local(number) {
            // The sender's processor has copied it.
            if bytes <= EAGER_BYTES {
                self.finish_send(number);
            }
            self.arrived(number);
        } else if !at_once && free {
            self.arrived(number);
        } else {
            self.launch(number);
        }
    }

    /// Whether it never leaves its processor.
    fn is_local(&self, number: u32) -> bool {
        let message = &self.messages[number as usize];
        self.processors.are_one(message.from as usize, message.to as usize)
    }

    /// Hands a message to the network, or what its stage sends in its stead.
    pub(super) fn launch(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let control_bytes = u64::from(self.machine.protocol.control_bytes);
        let data = if message.bare { Kind::Bare } else { Kind::Data };
        let (from, to, bytes, kind) = match message.stage {
            Stage::Eager | Stage::Data => {
                (message.from, message.to, message.data.len() as u64, data)
            }
            Stage::Announced => (message.from, message.to, control_bytes, Kind::Control),
            Stage::Answered => (message.to, message.from, control_bytes, Kind::Control),
        };
        let [from, to] = [from, to].map(|rank| self.processors.node(rank as usize) as u32);
        let parcel = Parcel { message: number, from, to, bytes, kind };
        self.network.launch(&mut self.agenda, parcel, &mut self.outcomes);
        self.heed_outcomes();
    }

    /// Acts on what the network said.
    pub(super) fn heed_outcomes(&mut self) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for outcome in outcomes.drain(..) {
            match outcome {
                Outcome::Started(number) => self.started(number),
                Outcome::Left(number) => self.left(number),
                Outcome::Arrived(number) => self.arrived(number),
            }
        }
        // Whatever acting on them added is in the new list, which is nearly always empty.
        if self.outcomes.is_empty() {
            self.outcomes = outcomes;
        } else {
            self.heed_outcomes();
        }
    }

    fn started(&mut self, number: u32) {
        let Message { stage, bare, .. } = self.messages[number as usize];
        if stage == Stage::Eager && !bare && !self.machine.endpoint.send_waits_for_link {
            self.finish_send(number);
        }
    }

    fn left(&mut self, number: u32) {
        if matches!(self.messages[number as usize].stage, Stage::Eager | Stage::Data) {
            self.finish_send(number);
        }
    }

    /// A message, or what was sent in its stead, is at its end.
    pub(super) fn arrived(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let (from, to, tag, stage) = (message.from, message.to, message.tag, message.stage);
        match stage {
            Stage::Eager | Stage::Announced => {
                let envelope = Envelope { message: number, from, tag };
                match self.ranks[to as usize].mailbox.arrive(envelope) {
                    Some(receive) => self.meet(number, receive),
                    None => self.messages[number as usize].unexpected = true,
                }
            }
            Stage::Answered => self.send_data(number),
            Stage::Data => self.finish_receive(number),
        }
    }

    /// A receive and its message have found each other.
    pub(super) fn meet(&mut self, number: u32, receive: u32) {
        let local = self.is_local(number);
        let message = &mut self.messages[number as usize];
        message.receive = Some(receive);
        if message.stage == Stage::Eager || local {
            self.finish_send(number);
            self.finish_receive(number);
        } else {
            message.stage = Stage::Answered;
            message.unexpected = false;
            let at = self.agenda.now() + self.machine.protocol.answer;
            self.agenda.push(at, Event::Launch(number));
        }
    }

    /// The sender's engine has the receiver's answer.
    fn send_data(&mut self, number: u32) {
        let message = &mut self.messages[number as usize];
        message.stage = Stage::Data;
        let (from, bytes) = (message.from as usize, message.data.len() as u64);
        let overhead = match self.machine.protocol.announcement {
            Announcement::Message => TimeSpan::ZERO,
            Announcement::Free => self.machine.endpoint.send.of(bytes),
        };
        self.spend(from, overhead, Event::Launch(number));
    }

    /// A rank's processor works for it while its program waits, or goes on: `done` happens afterwards.
    fn spend(&mut self, rank: usize, span: TimeSpan, done: Event) {
        if self.processors.are_shared() {
            self.occupy(rank, span, done);
        } else {
            let at = self.processors.end(rank, self.agenda.now(), span);
            self.agenda.push(at, done);
        }
    }

    fn finish_send(&mut self, number: u32) {
        let message = &mut self.messages[number as usize];
        let Some(send) = message.send.take() else { return };
        let (from, tag, bytes) = (message.from, message.tag, message.data.len());
        let finished = Finished { message: None, source: from, tag, bytes, due: TimeSpan::ZERO };
        self.finish(from as usize, send, finished);
    }

    fn finish_receive(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let receive = message.receive.expect("the message has met its receive");
        let (source, to, tag, bytes) = (message.from, message.to, message.tag, message.data.len());
        let now = self.agenda.now();
        let endpoint = &self.machine.endpoint;
        let due = if message.bare || self.is_local(number) {
            TimeSpan::ZERO
        } else if message.unexpected {
            endpoint.receive.of(bytes as u64) + endpoint.unexpected.of(bytes as u64)
        } else {
            endpoint.receive.of(bytes as u64)
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.message(source, to, bytes, message.sent_at, now);
        }
        self.finish(
            to as usize,
            receive,
            Finished { message: Some(number), source, tag, bytes, due },
        );
    }

    /// An operation has finished: its rank goes on if it waits for it, after what its processor has to do.
    fn finish(&mut self, rank: usize, operation: u32, mut finished: Finished) {
        let state = &mut self.ranks[rank];
        if state.waiting.is_for(operation) {
            state.waiting = Waiting::Time;
            let due = std::mem::take(&mut finished.due);
            self.spend(rank, due, Event::Wake(rank as u32));
        }
        self.ranks[rank].operations.finish(operation, finished);
    }

    /// Gives a message's place back.
    pub(super) fn forget(&mut self, number: u32) {
        const KEPT_BYTES: usize = 1 << 16;
        let message = &mut self.messages[number as usize];
        if message.data.capacity() > KEPT_BYTES {
            message.data = Vec::new();
        }
        self.free_messages.push(number);
    }
}
