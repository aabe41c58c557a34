//! Accesses to memory of other ranks, which agents execute in the network: a request over the links, the agent's work
//! at the target's adapter, and the answer back. The target's processor takes no part.

use std::collections::HashMap;

use contract::{AccessKind, Agent, AgentAnswer, Envelope, RemoteAccess, Request, Time, TimeSpan};

use super::message::Mode;
use super::operation::{State, Waiting};
use super::{Event, World};
use crate::machine::{AccessPath, Windows};
use crate::network::Transfer;

/// The agents of all ranks, and the adapters at which they work.
#[derive(Default)]
pub(super) struct Agents {
    /// Agents by rank and context.
    placed: HashMap<(u32, u32), Box<dyn Agent>>,
    /// Requests that came before their agent, in order.
    early: Vec<u32>,
    /// Moment until which the adapter of a node works, if it ever has, by node.
    busy_until: HashMap<usize, Time>,
}

impl World {
    /// Returns the costs of accesses; None on a machine without agents.
    pub(crate) fn windows(&self) -> Option<&Windows> {
        self.machine.windows.as_ref()
    }

    /// Adds the agent of a rank's memory in a context. Requests that came before it are served now.
    pub(crate) fn place_agent(&mut self, rank: usize, context: u32, agent: Box<dyn Agent>) {
        self.agents.placed.insert((rank as u32, context), agent);
        for number in std::mem::take(&mut self.agents.early) {
            self.access_served(number);
        }
    }

    pub(crate) fn remove_agent(&mut self, rank: usize, context: u32) {
        self.agents.placed.remove(&(rank as u32, context));
    }

    /// Starts an access, after the processor's work for it. `tag` is the tag of its answer. The request of its send is
    /// done at once, because a copy is kept.
    pub(crate) fn start_access(
        &mut self,
        rank: usize,
        to: usize,
        context: u32,
        access: RemoteAccess,
        (tag, data): (u32, &[u8]),
    ) -> Request {
        let (source, bytes) = (rank as u32, data.len());
        let envelope = Envelope { context, source, tag, bytes, room: bytes };
        let state = State::Sending { to: to as u32, envelope };
        let request = self.ranks[rank].operations.add(state);
        let number = self.new_message(to as u32, envelope, data, Mode::Access(access));
        self.keep_send(number, request);
        self.send_access(number);
        request
    }

    /// Sends an access or an answer: over the network, or at once if both ends are one processor or share one memory.
    fn send_access(&mut self, number: u32) {
        let by_processor = self.windows().is_some_and(|one| one.path == AccessPath::Processor);
        if by_processor || self.is_local(number) {
            self.parcel_arrived(number);
        } else {
            self.launch(number);
        }
    }

    /// Returns the bytes of an access or of its answer on the links.
    pub(super) fn access_bytes(&self, mode: Mode) -> u64 {
        let Some(windows) = self.windows() else { return 0 };
        match mode {
            Mode::Access(access) => access.there_bytes + windows.request_bytes,
            Mode::Answer(access) => access.back_bytes + windows.answer_bytes,
            Mode::Standard | Mode::Synchronous | Mode::Bare => 0,
        }
    }

    /// Queues a request that has arrived at the adapter of its target. The adapter serves one after the other.
    pub(super) fn access_arrived(&mut self, number: u32, access: RemoteAccess) {
        let to = self.messages[number as usize].to as usize;
        let RemoteAccess { kind, there_bytes, back_bytes } = access;
        let costs = self.windows().expect("only machines with agents have accesses");
        let service = match kind {
            AccessKind::Update => costs.target_update.of(there_bytes),
            AccessKind::Put | AccessKind::Get => costs.target.of(there_bytes.max(back_bytes)),
        };
        let (now, node) = (self.now(), self.processors.node(to));
        let busy_until = self.agents.busy_until.get(&node).copied();
        // A request that is due at this very moment is served by its own event, and before this one.
        let waits = busy_until.is_some_and(|until| until >= now);
        if service == TimeSpan::ZERO && !waits {
            return self.access_served(number);
        }
        let served = busy_until.map_or(now, |until| until.max(now)) + service;
        self.agents.busy_until.insert(node, served);
        self.agenda.push(served, Event::Served(number));
    }

    /// Lets the agent execute a request, and sends its answers.
    pub(super) fn access_served(&mut self, number: u32) {
        let message = &self.messages[number as usize];
        let (to, envelope, sent_at) = (message.to, message.envelope, message.sent_at());
        let source = envelope.source;
        let Mode::Access(access) = message.mode() else { unreachable!("only accesses are served") };
        let place = (to, envelope.context);
        let Some(mut agent) = self.agents.placed.remove(&place) else {
            return self.agents.early.push(number);
        };
        let mut answers = Vec::new();
        let request = std::mem::take(&mut self.messages[number as usize].data);
        let is_notice = agent.serve(source as usize, &request, &mut answers);
        self.agents.placed.insert(place, agent);
        let now = self.agenda.now();
        if let Some(recorder) = &mut self.recorder {
            recorder.message(source, to, request.len(), sent_at, now);
        }
        self.messages[number as usize].data = request;
        let mut transfer = match self.is_local(number) {
            true => None,
            false => self.network.transfer_of(number),
        };
        self.forget(number);
        for answer in answers {
            let is_own = answer.to == source as usize && answer.tag == envelope.tag;
            let transfer = if is_own { transfer.take() } else { None };
            self.answer_access((to, place.1), access, answer, transfer);
        }
        if let Some(transfer) = transfer {
            self.network.set_answer(transfer, None);
        }
        if is_notice {
            self.note_access(to as usize);
        }
    }

    /// Sends an answer. It may be that of an earlier request, such as a lock that is granted now. Such an answer is
    /// only a word.
    fn answer_access(
        &mut self,
        (from, context): (u32, u32),
        access: RemoteAccess,
        answer: AgentAnswer,
        transfer: Option<Transfer>,
    ) {
        let AgentAnswer { to, tag, data } = answer;
        let bytes = data.len();
        let envelope = Envelope { context, source: from, tag, bytes, room: bytes };
        let number = self.new_message(to as u32, envelope, &data, Mode::Answer(access));
        let is_in_response =
            transfer.is_some_and(|transfer| self.network.set_answer(transfer, Some(number)));
        if !is_in_response {
            self.send_access(number);
        }
    }

    /// Records a change of a rank's memory for which the rank may wait.
    fn note_access(&mut self, rank: usize) {
        let see = self.windows().map_or(TimeSpan::ZERO, |windows| windows.see);
        let state = &mut self.ranks[rank];
        state.event_count += 1;
        if state.waiting == Waiting::Anything {
            self.wake_after(rank, see);
        }
    }
}
