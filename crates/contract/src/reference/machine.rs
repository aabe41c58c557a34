//! What the ranks share: queues of messages, posted operations, and who waits for what.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use super::line::Line;
use crate::{EAGER_BYTES, Error, Result, Source, Status, Tag, TagSelector};

/// The payload of the unwinding that takes a rank out of its program when the run is over for it.
pub(super) struct GivenUp;

pub(super) struct Machine {
    pub(super) begin: Instant,
    pub(super) line: Line,
    state: Mutex<State>,
    /// One for each rank: an operation of its ended, or the run did.
    changed: Vec<Condvar>,
}

struct State {
    ranks: Vec<RankState>,
    /// The first rank that failed, for the caller of the run.
    failure: Option<(usize, Error)>,
    /// The same as all other ranks are told.
    given_up: Option<Error>,
}

#[derive(Default)]
struct RankState {
    /// Messages that no receive has taken yet, in order of arrival.
    arrived: VecDeque<Message>,
    /// Receives that no message has met yet, in order of posting.
    wanted: VecDeque<Wanted>,
    operations: HashMap<u64, Operation>,
    next_number: u64,
    /// The operations that the rank waits for one of; empty while it runs.
    waits_for: Vec<u64>,
    over: bool,
}

struct Message {
    from: usize,
    tag: Tag,
    data: Vec<u8>,
    /// The sender's operation, if it waits to be matched.
    send: Option<u64>,
}

struct Wanted {
    number: u64,
    from: Source,
    tag: TagSelector,
    room: usize,
}

enum Operation {
    /// Under way, with words for the deadlock's explanation.
    Pending(String),
    Ended(Ended),
}

/// What an operation came to.
pub(super) struct Ended {
    pub(super) status: Status,
    /// As much of a received message as there was room for.
    pub(super) data: Vec<u8>,
    pub(super) result: Result<()>,
}

impl Machine {
    pub(super) fn new(size: usize) -> Self {
        Machine {
            begin: Instant::now(),
            line: Line::default(),
            state: Mutex::new(State {
                ranks: (0..size).map(|_| RankState::default()).collect(),
                failure: None,
                given_up: None,
            }),
            changed: (0..size).map(|_| Condvar::new()).collect(),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.changed.len()
    }

    pub(super) fn into_outcome(self) -> std::result::Result<(), (usize, Error)> {
        let state = self.state.into_inner().expect("a panic inside the fabric is a bug of it");
        state.failure.map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic inside the fabric is a bug of it")
    }

    pub(super) fn start_send(
        &self,
        from: usize,
        to: usize,
        tag: Tag,
        data: Vec<u8>,
    ) -> Result<u64> {
        let mut state = self.lock();
        state.check()?;
        let bytes = data.len();
        let status = Status { source: from, tag, bytes };
        let eager = bytes <= EAGER_BYTES;
        let number = state.ranks[from].add(if eager {
            Operation::Ended(Ended { status, data: Vec::new(), result: Ok(()) })
        } else {
            Operation::Pending(format!("to send {bytes} bytes with {tag} to rank {to}"))
        });
        let message = Message { from, tag, data, send: (!eager).then_some(number) };
        let receiver = &mut state.ranks[to];
        match receiver.wanted.iter().position(|w| w.accepts(&message)) {
            Some(index) => {
                let wanted = receiver.wanted.remove(index).expect("just found there");
                self.meet(&mut state, to, wanted, message);
            }
            None => receiver.arrived.push_back(message),
        }
        Ok(number)
    }

    pub(super) fn start_receive(
        &self,
        rank: usize,
        from: Source,
        tag: TagSelector,
        room: usize,
    ) -> Result<u64> {
        let mut state = self.lock();
        state.check()?;
        let own = &mut state.ranks[rank];
        let number = own.add(Operation::Pending(format!("to receive {tag} from {from}")));
        let wanted = Wanted { number, from, tag, room };
        match own.arrived.iter().position(|message| wanted.accepts(message)) {
            Some(index) => {
                let message = own.arrived.remove(index).expect("just found there");
                self.meet(&mut state, rank, wanted, message);
            }
            None => own.wanted.push_back(wanted),
        }
        Ok(number)
    }

    /// A receive and its message have found each other: ends both operations.
    fn meet(&self, state: &mut State, to: usize, wanted: Wanted, mut message: Message) {
        let (from, tag, bytes) = (message.from, message.tag, message.data.len());
        let status = Status { source: from, tag, bytes };
        let result = if bytes <= wanted.room {
            Ok(())
        } else {
            let (tag, buffer_bytes) = (tag.value(), wanted.room);
            Err(Error::Truncated { from, tag, message_bytes: bytes, buffer_bytes })
        };
        message.data.truncate(wanted.room);
        self.conclude(state, to, wanted.number, Ended { status, data: message.data, result });
        if let Some(number) = message.send {
            self.conclude(state, from, number, Ended { status, data: Vec::new(), result: Ok(()) });
        }
    }

    fn conclude(&self, state: &mut State, rank: usize, number: u64, ended: Ended) {
        state.ranks[rank].operations.insert(number, Operation::Ended(ended));
        self.changed[rank].notify_one();
    }

    /// Waits until one of the operations has ended; says which, counted in `numbers`.
    pub(super) fn wait(&self, rank: usize, numbers: &[u64]) -> Result<(usize, Ended)> {
        let mut state = self.lock();
        loop {
            state.check()?;
            if let Some(found) = state.ranks[rank].take_ended(numbers)? {
                state.ranks[rank].waits_for.clear();
                return Ok(found);
            }
            state.ranks[rank].waits_for = numbers.to_vec();
            self.check_for_deadlock(&mut state);
            if state.given_up.is_none() {
                state = self.changed[rank].wait(state).expect("a panic inside is a bug");
            }
        }
    }

    pub(super) fn test(&self, rank: usize, number: u64) -> Result<Option<Ended>> {
        let mut state = self.lock();
        state.check()?;
        Ok(state.ranks[rank].take_ended(&[number])?.map(|(_, ended)| ended))
    }

    pub(super) fn probe(
        &self,
        rank: usize,
        from: Source,
        tag: TagSelector,
    ) -> Result<Option<Status>> {
        let state = self.lock();
        state.check()?;
        let wanted = Wanted { number: 0, from, tag, room: 0 };
        let mut arrived = state.ranks[rank].arrived.iter();
        Ok(arrived.find(|message| wanted.accepts(message)).map(|message| Status {
            source: message.from,
            tag: message.tag,
            bytes: message.data.len(),
        }))
    }

    /// Takes a rank out of its program if the run is given up: for waits that have no error to return.
    pub(super) fn leave_if_given_up(&self) {
        if self.lock().given_up.is_some() {
            std::panic::resume_unwind(Box::new(GivenUp));
        }
    }

    pub(super) fn end(&self, rank: usize) {
        let mut state = self.lock();
        state.ranks[rank].over = true;
        self.check_for_deadlock(&mut state);
    }

    pub(super) fn fail(&self, rank: usize, error: Error) {
        let mut state = self.lock();
        state.ranks[rank].over = true;
        let told = Error::RankDied { rank, how: error.to_string() };
        self.give_up(&mut state, (rank, error), told);
    }

    /// The first failure counts: what fails later does so because of it.
    fn give_up(&self, state: &mut State, failure: (usize, Error), told: Error) {
        if state.failure.is_none() {
            state.failure = Some(failure);
            state.given_up = Some(told);
        }
        for changed in &self.changed {
            changed.notify_one();
        }
        self.line.close();
    }

    fn check_for_deadlock(&self, state: &mut State) {
        if state.given_up.is_some() || !state.ranks.iter().all(RankState::is_over_or_stuck) {
            return;
        }
        if let Some(first) = state.ranks.iter().position(|rank| !rank.over) {
            let places = state.ranks.iter().enumerate();
            let words: Vec<String> =
                places.map(|(number, rank)| format!("rank {number} {}", rank.words())).collect();
            let error = Error::Deadlock { explanation: words.join("; ") };
            self.give_up(state, (first, error.clone()), error);
        }
    }
}

impl State {
    fn check(&self) -> Result<()> {
        self.given_up.clone().map_or(Ok(()), Err)
    }
}

impl RankState {
    fn add(&mut self, operation: Operation) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.operations.insert(number, operation);
        number
    }

    fn take_ended(&mut self, numbers: &[u64]) -> Result<Option<(usize, Ended)>> {
        for (index, number) in numbers.iter().enumerate() {
            match self.operations.get(number) {
                None => return Err(Error::UnknownRequest),
                Some(Operation::Pending(_)) => {}
                Some(Operation::Ended(_)) => {
                    let Some(Operation::Ended(ended)) = self.operations.remove(number) else {
                        unreachable!("just seen to have ended");
                    };
                    return Ok(Some((index, ended)));
                }
            }
        }
        Ok(None)
    }

    fn is_over_or_stuck(&self) -> bool {
        let pending = |number| matches!(self.operations.get(number), Some(Operation::Pending(_)));
        self.over || (!self.waits_for.is_empty() && self.waits_for.iter().all(pending))
    }

    fn words(&self) -> String {
        if self.over {
            return "has ended".into();
        }
        let pending = self.waits_for.iter().filter_map(|number| self.operations.get(number));
        let words: Vec<&str> = pending
            .filter_map(|operation| match operation {
                Operation::Pending(words) => Some(words.as_str()),
                Operation::Ended(_) => None,
            })
            .collect();
        format!("waits {}", words.join(" or "))
    }
}

impl Wanted {
    fn accepts(&self, message: &Message) -> bool {
        self.from.accepts(message.from) && self.tag.accepts(message.tag)
    }
}
