//! Rings of the Scalable Coherent Interface below ranks: messages and accesses as transactions of the engine in
//! [`crate::sci`].
//!
//! A message is a row of moves. A put is a row of writes, a get of reads and an atomic update of locks. The target's
//! agent carries out an access when the last request has been served, and the last response brings its answer back.
//!
//! A node requests the transactions of its messages and accesses one after the other, as its output queue has places. A
//! refused packet is sent again behind others, so the messages from one node to another are put in order at the
//! receiver.
//!
//! The engine has events of its own. The agenda contains the earliest of them while a transaction is under way. Without
//! transactions the engine does not advance until the next one starts. The events of idle rings, such as the turns of a
//! train, change nothing else.

mod transactions;

use std::collections::VecDeque;

use contract::{Time, TimeSpan};

use super::order::Order;
use super::{ChannelUse, Outcome, Parcel};
use crate::agenda::{Agenda, Event};
use crate::machine::Machine;
use crate::message_kind::MessageKind;
use crate::sci::{Carried, Engine, RingSettings, Slab};
use transactions::Transactions;

pub(crate) struct Rings {
    engine: Engine,
    underway: Slab<Underway>,
    /// Number of the transfer of each message.
    of_message: Vec<u32>,
    /// For each node, the transfers whose transactions have not all been requested: urgent ones, and others.
    to_send: Vec<[VecDeque<u32>; 2]>,
    /// Number of these transfers.
    unsent: usize,
    /// True if the transfers of a node take turns.
    interleaves: bool,
    /// Maximum length in bytes of urgent transfers.
    urgent_bytes: Option<u64>,
    order: Order,
    /// Time of the earliest event of the engine that is in the agenda.
    awaited: Option<Time>,
}

/// The priorities of urgent transfers, the highest of two bits, and of others.
const PRIORITIES: [u8; 2] = [3, 0];

/// The number of a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer(u32);

/// A transfer under way.
struct Underway {
    parcel: Parcel,
    transactions: Transactions,
    requested: u64,
    /// Number of transactions that the target has not yet carried out.
    to_carry_out: u64,
    /// Number of transactions that are not complete.
    incomplete: u64,
    /// The answer that the responses of an access bring back.
    answer: Answer,
}

#[derive(Clone, Copy)]
enum Answer {
    /// Not known yet: the agent has not carried the access out.
    Pending,
    /// A message.
    Message(u32),
    /// Nothing: the answer is given later, or there is none.
    None,
}

/// Returns the time of a message of `bytes` bytes from a node to the next while nothing else is in the rings.
pub(crate) fn unloaded_time(settings: &RingSettings, machine: &Machine, bytes: u64) -> TimeSpan {
    let mut rings = Rings::new(settings, machine);
    let (mut agenda, mut outcomes) = (Agenda::new(), Vec::new());
    let (to, kind) = (1 % settings.shape.hosts(), MessageKind::Data);
    let parcel = Parcel { message: 0, from: 0, to, bytes, kind, access: None };
    rings.launch(&mut agenda, parcel, &mut outcomes);
    while agenda.pop().is_some() {
        rings.handle(&mut agenda, &mut outcomes);
    }
    agenda.now().since(Time::ZERO)
}

impl Rings {
    /// Creates rings with these settings, which have been checked.
    pub(crate) fn new(settings: &RingSettings, machine: &Machine) -> Self {
        let mut engine = Engine::new(settings.clone()).expect("a run checks its rings before");
        engine.keep_carried_out();
        engine.keep_link_use();
        let nodes = settings.shape.hosts() as usize;
        Rings {
            engine,
            underway: Slab::new(),
            of_message: Vec::new(),
            to_send: vec![Default::default(); nodes],
            unsent: 0,
            interleaves: machine.endpoint.interleaves_messages,
            urgent_bytes: settings.urgent_bytes,
            order: Order::default(),
            awaited: None,
        }
    }

    pub(crate) fn launch(
        &mut self,
        agenda: &mut Agenda,
        parcel: Parcel,
        outcomes: &mut Vec<Outcome>,
    ) {
        let now = agenda.now();
        while self.engine.next_time().is_some_and(|next| next < now) {
            self.step(outcomes);
        }
        self.engine.advance(now);
        let transactions = Transactions::of(parcel);
        let count = transactions.count();
        let answer = match parcel.access {
            Some(_) => Answer::Pending,
            None => Answer::None,
        };
        let number = self.underway.add(Underway {
            parcel,
            transactions,
            requested: 0,
            to_carry_out: count,
            incomplete: count,
            answer,
        });
        let message = parcel.message as usize;
        if message >= self.of_message.len() {
            self.of_message.resize(message + 1, number);
        }
        self.of_message[message] = number;
        self.order.begin(parcel);
        let others = usize::from(!self.is_urgent(transactions));
        self.to_send[parcel.from as usize][others].push_back(number);
        self.unsent += 1;
        self.fill(parcel.from, outcomes);
        self.schedule(agenda);
    }

    /// Handles all events of the engine that are due.
    pub(crate) fn handle(&mut self, agenda: &mut Agenda, outcomes: &mut Vec<Outcome>) {
        let now = agenda.now();
        if self.awaited == Some(now) {
            self.awaited = None;
        }
        while self.engine.next_time().is_some_and(|next| next <= now) {
            self.step(outcomes);
        }
        self.schedule(agenda);
    }

    pub(crate) fn hops(&self, from: usize, to: usize) -> usize {
        self.engine.links(from as u32, to as u32)
    }

    /// Returns the number of packets of transactions that are not complete. Echoes that are under way after these delay
    /// nothing.
    pub(crate) fn packets_inside(&self) -> usize {
        self.engine.under_way()
    }

    /// Returns the use of each link that was used. The engine's time is the end of the last transaction.
    pub(crate) fn channel_use(&mut self) -> Vec<ChannelUse> {
        let used = self.engine.take_link_use().into_iter();
        used.map(|(name, Carried { busy, packets, waited, queue_max })| ChannelUse {
            name,
            busy,
            packets,
            waited,
            queue_max,
        })
        .collect()
    }

    pub(crate) fn keep_busy_spans(&mut self) {
        self.engine.keep_busy_spans();
    }

    pub(crate) fn take_busy_spans(&mut self) -> Vec<(String, Time, Time)> {
        self.engine.take_busy_spans()
    }

    /// Returns the transfer of an access that its agent must carry out.
    pub(crate) fn transfer_of(&self, message: u32) -> Transfer {
        Transfer(self.of_message[message as usize])
    }

    /// Records that the agent has carried an access out. Returns whether the responses bring the answer back. They do
    /// not if all of them have come before.
    pub(crate) fn set_answer(&mut self, Transfer(number): Transfer, answer: Option<u32>) -> bool {
        let transfer = &mut self.underway[number];
        transfer.answer = answer.map_or(Answer::None, Answer::Message);
        let has_responses = transfer.incomplete > 0;
        if !has_responses {
            self.underway.remove(number);
        }
        has_responses && answer.is_some()
    }

    /// Handles one event. It completes at most one transaction and unblocks at most one node.
    fn step(&mut self, outcomes: &mut Vec<Outcome>) {
        self.engine.step();
        while let Some(tag) = self.engine.pop_carried_out() {
            self.transaction_carried_out(tag as u32, outcomes);
        }
        while let Some(one) = self.engine.pop_complete() {
            self.transaction_complete(
                one.tag as u32,
                one.operation.response_symbols().is_some(),
                outcomes,
            );
        }
        while let Some(node) = self.engine.pop_unblocked() {
            if (node as usize) < self.to_send.len() {
                self.fill(node, outcomes);
            }
        }
    }

    /// Records that the target has carried a transaction out.
    fn transaction_carried_out(&mut self, number: u32, outcomes: &mut Vec<Outcome>) {
        let transfer = &mut self.underway[number];
        transfer.to_carry_out -= 1;
        if transfer.to_carry_out == 0 {
            self.order.end(transfer.parcel, outcomes);
        }
    }

    /// Records that a transaction is complete: its response is back, or it has no response and was carried out.
    fn transaction_complete(
        &mut self,
        number: u32,
        has_response: bool,
        outcomes: &mut Vec<Outcome>,
    ) {
        if !has_response {
            self.transaction_carried_out(number, outcomes);
        }
        let transfer = &mut self.underway[number];
        transfer.incomplete -= 1;
        if transfer.incomplete > 0 {
            return;
        }
        match transfer.answer {
            Answer::Pending => {}
            Answer::None => self.underway.remove(number),
            Answer::Message(answer) => {
                outcomes.push(Outcome::Arrived(answer));
                self.underway.remove(number);
            }
        }
    }

    fn is_urgent(&self, transactions: Transactions) -> bool {
        self.urgent_bytes.is_some_and(|most| transactions.bytes() <= most)
    }

    /// Fills the output queue of a node, with urgent transfers first. Data in the queue have left the memory of their
    /// message.
    fn fill(&mut self, node: u32, outcomes: &mut Vec<Outcome>) {
        loop {
            let queues = &self.to_send[node as usize];
            let Some(which) = queues.iter().position(|queue| !queue.is_empty()) else { return };
            let number = queues[which][0];
            let Underway { parcel, transactions, requested, .. } = &mut self.underway[number];
            let (ends, operation) = ((parcel.from, parcel.to), transactions.number(*requested));
            let call = (PRIORITIES[which], self.engine.now(), u64::from(number));
            if !self.engine.request(ends, operation, call) {
                return;
            }
            if *requested == 0 {
                outcomes.push(Outcome::Started(parcel.message));
            }
            *requested += 1;
            let waiting = &mut self.to_send[node as usize][which];
            if *requested == transactions.count() {
                outcomes.push(Outcome::Left(parcel.message));
                waiting.pop_front();
                self.unsent -= 1;
            } else if self.interleaves {
                waiting.rotate_left(1);
            }
        }
    }

    /// Puts the engine's next event in the agenda, unless it is there or there are no transfers.
    fn schedule(&mut self, agenda: &mut Agenda) {
        if self.engine.under_way() == 0 && self.unsent == 0 {
            return;
        }
        let Some(next) = self.engine.next_time() else { return };
        if self.awaited.is_none_or(|awaited| next < awaited) {
            agenda.push(next, Event::Rings(self.engine.event_hash() as u32));
            self.awaited = Some(next);
        }
    }
}
