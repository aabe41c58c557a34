//! The state that the ranks share: queues of messages, posted operations, and the events that each rank waits for.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::line::Line;
use super::operations::{Ended, Operation, Operations};
use contract::{Completion, EAGER_BYTES, Envelope, Error, Request, Result, Selector};

/// The panic payload that unwinds a rank out of its program when the run is aborted.
pub(super) struct Aborted;

pub(super) struct Machine {
    pub(super) begin: Instant,
    pub(super) line: Line,
    state: Mutex<State>,
    /// One for each rank, notified when something has changed for it, or the run has ended.
    changed: Vec<Condvar>,
}

struct State {
    ranks: Vec<RankState>,
    /// The first rank that failed, for the caller of the run.
    failure: Option<(usize, Error)>,
    /// The error for all other ranks.
    abort: Option<Error>,
}

#[derive(Default)]
struct RankState {
    /// Unexpected messages, in order of arrival.
    arrived: VecDeque<Message>,
    /// Posted receives without a message, in order of posting.
    wanted: VecDeque<Wanted>,
    operations: Operations,
    waits_for: Waiting,
    /// Number of changes that a rank may wait for.
    changes: u64,
    /// True if it sends and receives no messages of its own any more.
    left: bool,
    over: bool,
}

/// Events for which a rank waits.
#[derive(Default)]
enum Waiting {
    /// Nothing: it runs.
    #[default]
    Nothing,
    /// One of these operations.
    Operations(Vec<Request>),
    /// Any change after `seen` changes.
    Change { seen: u64 },
}

struct Message {
    envelope: Envelope,
    data: Vec<u8>,
    /// The sender's operation if it waits to be matched.
    send: Option<Request>,
}

struct Wanted {
    request: Request,
    selector: Selector,
    room: usize,
}

impl Machine {
    pub(super) fn new(size: usize) -> Self {
        Machine {
            begin: Instant::now(),
            line: Line::default(),
            state: Mutex::new(State {
                ranks: (0..size).map(|_| RankState::default()).collect(),
                failure: None,
                abort: None,
            }),
            changed: (0..size).map(|_| Condvar::new()).collect(),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.changed.len()
    }

    /// Returns the outcome of the run after all ranks have ended.
    pub(super) fn outcome(&self) -> std::result::Result<(), (usize, Error)> {
        self.lock().failure.clone().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic inside the fabric is a bug of it")
    }

    pub(super) fn start_send(
        &self,
        envelope: Envelope,
        to: usize,
        data: Vec<u8>,
        completion: Completion,
    ) -> Result<Request> {
        let mut state = self.lock();
        state.check()?;
        let from = envelope.source as usize;
        let waits = envelope.bytes > EAGER_BYTES || completion == Completion::Synchronous;
        let operation = Operation::send(envelope, to, waits);
        let request = state.ranks[from].operations.add(operation);
        let message = Message { envelope, data, send: waits.then_some(request) };
        let receiver = &mut state.ranks[to];
        match receiver.wanted.iter().position(|wanted| wanted.selector.accepts(&envelope)) {
            Some(index) => {
                let wanted = receiver.wanted.remove(index).expect("just found there");
                self.meet(&mut state, to, wanted, message);
            }
            None => {
                receiver.arrived.push_back(message);
                self.note_change(&mut state, to);
            }
        }
        Ok(request)
    }

    pub(super) fn start_receive(
        &self,
        rank: usize,
        selector: Selector,
        room: usize,
    ) -> Result<Request> {
        let mut state = self.lock();
        state.check()?;
        let own = &mut state.ranks[rank];
        let request = own.operations.add(Operation::Receive(selector));
        let wanted = Wanted { request, selector, room };
        match own.arrived.iter().position(|message| selector.accepts(&message.envelope)) {
            Some(index) => {
                let message = own.arrived.remove(index).expect("just found there");
                self.meet(&mut state, rank, wanted, message);
            }
            None => own.wanted.push_back(wanted),
        }
        Ok(request)
    }

    /// Matches a receive with its message: ends both operations.
    fn meet(&self, state: &mut State, to: usize, wanted: Wanted, mut message: Message) {
        message.data.truncate(wanted.room);
        let envelope = Envelope { room: wanted.room, ..message.envelope };
        self.conclude(state, to, wanted.request, Ended { envelope, data: message.data });
        if let Some(send) = message.send {
            let ended = Ended { envelope: message.envelope, data: Vec::new() };
            self.conclude(state, message.envelope.source as usize, send, ended);
        }
    }

    fn conclude(&self, state: &mut State, rank: usize, request: Request, ended: Ended) {
        state.ranks[rank].operations.conclude(request, ended);
        self.note_change(state, rank);
    }

    fn note_change(&self, state: &mut State, rank: usize) {
        state.ranks[rank].changes += 1;
        self.changed[rank].notify_one();
    }

    /// Waits until one of the operations has ended. Returns its index in `requests`.
    pub(super) fn wait(&self, rank: usize, requests: &[Request]) -> Result<usize> {
        let mut state = self.lock();
        loop {
            state.check()?;
            let own = &mut state.ranks[rank];
            if let Some(found) = requests.iter().position(|&one| own.operations.has_ended(one)) {
                own.waits_for = Waiting::Nothing;
                return Ok(found);
            }
            own.waits_for = Waiting::Operations(requests.to_vec());
            state = self.sleep(state, rank);
        }
    }

    /// Waits until something of this rank has changed after `seen` changes. Returns their current number.
    pub(super) fn wait_for_change(&self, rank: usize, seen: u64) -> Result<u64> {
        let mut state = self.lock();
        loop {
            state.check()?;
            let own = &mut state.ranks[rank];
            if own.changes != seen {
                own.waits_for = Waiting::Nothing;
                return Ok(own.changes);
            }
            own.waits_for = Waiting::Change { seen };
            state = self.sleep(state, rank);
        }
    }

    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, State>, rank: usize) -> MutexGuard<'a, State> {
        self.check_for_deadlock(&mut state);
        if state.abort.is_some() {
            return state;
        }
        self.changed[rank].wait(state).expect("a panic inside is a bug")
    }

    /// Returns the number of changes so far, unless the run has failed.
    pub(super) fn changes(&self, rank: usize) -> Result<u64> {
        let state = self.lock();
        state.check()?;
        Ok(state.ranks[rank].changes)
    }

    pub(super) fn has_ended(&self, rank: usize, request: Request) -> bool {
        self.lock().ranks[rank].operations.has_ended(request)
    }

    pub(super) fn envelope(&self, rank: usize, request: Request) -> Envelope {
        self.lock().ranks[rank].operations.envelope(request)
    }

    /// Returns the result of an operation and frees it, if it has ended.
    pub(super) fn take(&self, rank: usize, request: Request) -> Option<Ended> {
        self.lock().ranks[rank].operations.take(request)
    }

    pub(super) fn cancel_receive(&self, rank: usize, request: Request) -> bool {
        let mut state = self.lock();
        let own = &mut state.ranks[rank];
        let Some(index) = own.wanted.iter().position(|wanted| wanted.request == request) else {
            return false;
        };
        own.wanted.remove(index);
        own.operations.forget(request);
        true
    }

    /// Returns the oldest message that such a receive would match. Moves it to another context and tag, if one is
    /// given.
    pub(super) fn probe(
        &self,
        rank: usize,
        selector: Selector,
        moved_to: Option<(u32, u32)>,
    ) -> Result<Option<Envelope>> {
        let mut state = self.lock();
        state.check()?;
        let mut arrived = state.ranks[rank].arrived.iter_mut();
        let Some(message) = arrived.find(|message| selector.accepts(&message.envelope)) else {
            return Ok(None);
        };
        let found = message.envelope;
        if let Some((context, tag)) = moved_to {
            (message.envelope.context, message.envelope.tag) = (context, tag);
        }
        Ok(Some(found))
    }

    /// Unwinds a rank out of its program if the run was aborted: for waits that cannot return an error.
    pub(super) fn unwind_if_aborted(&self) {
        if self.lock().abort.is_some() {
            std::panic::resume_unwind(Box::new(Aborted));
        }
    }

    pub(super) fn leave(&self, rank: usize) {
        let mut state = self.lock();
        state.ranks[rank].left = true;
        for other in 0..self.size() {
            self.note_change(&mut state, other);
        }
    }

    pub(super) fn has_left(&self, rank: usize) -> bool {
        let state = self.lock();
        state.ranks[rank].left || state.ranks[rank].over
    }

    /// Returns whether `rank` can no longer wait for `other`. A rank that has only left still takes part in joint work,
    /// and a rank that has left itself waits for nothing else.
    pub(super) fn is_gone(&self, rank: usize, other: usize) -> bool {
        let state = self.lock();
        let (waiting, ended) = (&state.ranks[rank], &state.ranks[other]);
        rank != other && (ended.over || ended.left && !waiting.left)
    }

    /// Returns the ranks that an operation in progress needs: its receiver, its sender, or any other.
    pub(super) fn needs(&self, rank: usize, request: Request) -> Option<Vec<usize>> {
        let state = self.lock();
        let others = || (0..self.size()).filter(|&other| other != rank).collect();
        match state.ranks[rank].operations.get(request) {
            Operation::Send { to, .. } => Some(vec![*to]),
            Operation::Receive(Selector { source: Some(source), .. }) => {
                Some(vec![*source as usize])
            }
            Operation::Receive(_) => Some(others()),
            Operation::Ended(_) => None,
        }
    }

    pub(super) fn end(&self, rank: usize) {
        let mut state = self.lock();
        state.ranks[rank].over = true;
        for other in 0..self.size() {
            self.note_change(&mut state, other);
        }
        self.check_for_deadlock(&mut state);
    }

    pub(super) fn fail(&self, rank: usize, error: Error) {
        let mut state = self.lock();
        state.ranks[rank].over = true;
        let for_others = Error::RankDied { rank, how: error.to_string() };
        self.abort(&mut state, (rank, error), for_others);
    }

    /// Aborts the run. The first failure is kept: later ones are its consequences.
    fn abort(&self, state: &mut State, failure: (usize, Error), for_others: Error) {
        if state.failure.is_none() {
            state.failure = Some(failure);
            state.abort = Some(for_others);
        }
        for changed in &self.changed {
            changed.notify_one();
        }
        self.line.close();
    }

    fn check_for_deadlock(&self, state: &mut State) {
        if state.abort.is_some() || !state.ranks.iter().all(RankState::is_over_or_stuck) {
            return;
        }
        if let Some(first) = state.ranks.iter().position(|rank| !rank.over) {
            let places = state.ranks.iter().enumerate();
            let words: Vec<String> =
                places.map(|(number, rank)| format!("rank {number} {}", rank.words())).collect();
            let error = Error::Deadlock { explanation: words.join("; ") };
            self.abort(state, (first, error.clone()), error);
        }
    }
}

impl State {
    fn check(&self) -> Result<()> {
        self.abort.clone().map_or(Ok(()), Err)
    }
}

impl RankState {
    fn is_over_or_stuck(&self) -> bool {
        let stuck = match &self.waits_for {
            Waiting::Nothing => false,
            Waiting::Operations(all) => !all.iter().any(|&one| self.operations.has_ended(one)),
            // A rank that was notified of a change continues, though it may not have woken yet.
            Waiting::Change { seen } => self.changes == *seen,
        };
        self.over || stuck
    }

    fn words(&self) -> String {
        match &self.waits_for {
            _ if self.over => "has ended".into(),
            Waiting::Nothing => "runs".into(),
            Waiting::Change { .. } => "waits for anything to happen".into(),
            Waiting::Operations(all) => {
                let words: Vec<String> =
                    all.iter().map(|&one| self.operations.get(one).to_string()).collect();
                format!("waits {}", words.join(" or "))
            }
        }
    }
}
