//! Schedules: rounds of messages and local steps, which go on whenever the process looks at its messages.

mod call;

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Completion, Endpoint, Readable, Request as Started, Selector, Writable};

pub(crate) use call::{CollectiveKind, CollectiveMark, Manner};

use crate::engine::{Activity, Context};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::memory::{Memory, Piece, Storage};

/// The members of one collective operation, and the tag of its messages.
pub struct CollectiveContext<E: Endpoint> {
    pub(crate) context: Rc<Context<E>>,
    /// Ranks of the run: all members of the context, or some of them.
    pub(crate) members: Group,
    pub(crate) rank: usize,
    pub(crate) tag: u32,
    /// Which of the members' collectives by messages it is, for the fabric; 0 for one that is not announced.
    pub(crate) number: u32,
}

impl<E: Endpoint> Clone for CollectiveContext<E> {
    fn clone(&self) -> Self {
        let CollectiveContext { context, members, .. } = self;
        CollectiveContext { context: context.clone(), members: members.clone(), ..*self }
    }
}

impl<E: Endpoint> CollectiveContext<E> {
    /// The next collective of all members of a context, by messages.
    pub(crate) fn next(context: &Rc<Context<E>>, mark: CollectiveMark) -> Self {
        // A user's operation that calls back comes here while the endpoint is in use, and fails a little later.
        let announce = |place| {
            Some(context.engine().endpoint().ok()?.announce_by_messages(place, mark.bits()))
        };
        CollectiveContext {
            context: context.clone(),
            members: context.group().clone(),
            rank: context.rank(),
            tag: context.next_tag(mark.in_ten_bits()),
            number: context.place().and_then(announce).unwrap_or(0),
        }
    }
}

/// A local step. It must not communicate.
type Step<E> = Box<dyn FnOnce(&mut E) -> Result>;

/// What happens before the next round begins: first the steps, then all of the messages.
pub(crate) struct Round<E> {
    steps: Vec<Step<E>>,
    receives: Vec<(usize, Writable)>,
    sends: Vec<(usize, Readable)>,
}

impl<E> Round<E> {
    fn new() -> Self {
        Round { steps: vec![], receives: vec![], sends: vec![] }
    }

    /// Sends to a member.
    pub(crate) fn send(&mut self, to: usize, data: Readable) {
        self.sends.push((to, data));
    }

    /// Receives as many bytes from a member.
    pub(crate) fn receive(&mut self, from: usize, room: Writable) {
        self.receives.push((from, room));
    }

    /// Does something before the messages of this round.
    pub(crate) fn first(&mut self, step: impl FnOnce() -> Result + 'static) {
        self.steps.push(Box::new(move |_: &mut E| step()));
    }
}

/// A collective operation on its way.
pub struct Schedule<E: Endpoint> {
    pub(crate) at: CollectiveContext<E>,
    rounds: VecDeque<Round<E>>,
    last: Vec<Step<E>>,
    /// What is under way, with the length that a receive expects.
    pending: Vec<(Started, Option<usize>)>,
    /// Kept until the end.
    kept: Vec<Box<dyn Any>>,
    outcome: Result,
    has_ended: bool,
    /// Fruitless polls of what is under way.
    polls: u32,
}

impl<E: Endpoint> Schedule<E> {
    pub(crate) fn new(at: CollectiveContext<E>) -> Self {
        Schedule {
            at,
            rounds: VecDeque::new(),
            last: Vec::new(),
            pending: Vec::new(),
            kept: Vec::new(),
            outcome: Ok(()),
            has_ended: false,
            polls: 0,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.at.members.size()
    }

    pub(crate) fn rank(&self) -> usize {
        self.at.rank
    }
}

/// Building one.
impl<E: Endpoint> Schedule<E> {
    /// Keeps memory that messages or steps need until the end.
    pub(crate) fn keep<T: Clone + 'static>(&mut self, memory: &T) {
        self.kept.push(Box::new(memory.clone()));
    }

    /// Memory that lasts as long as the schedule.
    pub(crate) fn storage(&mut self, bytes: usize) -> Storage {
        let storage = Storage::zeroed(bytes);
        self.keep(&storage);
        storage
    }

    /// A new round at the end.
    pub(crate) fn round(&mut self) -> &mut Round<E> {
        self.rounds.push_back(Round::new());
        self.rounds.back_mut().expect("just pushed")
    }

    /// Fails from the beginning if `outcome` is a failure. All that this member sends is then empty, so the others fail
    /// too.
    pub(crate) fn begin_with(&mut self, outcome: Result) {
        self.note(outcome);
    }

    /// Does something after the last round.
    pub(crate) fn finally(&mut self, step: impl FnOnce(&mut E) -> Result + 'static) {
        self.last.push(Box::new(step));
    }

    /// Data to send, in one piece: the user's memory, or a copy made now.
    pub(crate) fn outgoing(&mut self, memory: &Memory) -> Piece {
        let piece = Piece::filled(memory);
        self.keep(&piece);
        piece
    }

    /// A place in one piece for data that ends in the user's memory.
    pub(crate) fn incoming(&mut self, memory: &Memory) -> Piece {
        let piece = Piece::room(memory);
        self.keep(&piece);
        let place = piece.clone();
        self.finally(move |_| {
            place.deliver(place.bytes());
            Ok(())
        });
        piece
    }

    /// The rounds of a broadcast of the memory that `readable` and `writable` give: a binomial tree.
    pub(crate) fn broadcast_rounds(
        &mut self,
        root: usize,
        readable: impl Fn() -> Readable,
        writable: impl Fn() -> Writable,
    ) {
        let (rank, size) = (self.rank(), self.size());
        let relative = (rank + size - root) % size;
        let mut bit = 1;
        while bit < size && relative & bit == 0 {
            bit *= 2;
        }
        if relative != 0 {
            self.round().receive((relative - bit + root) % size, writable());
        }
        let round = self.round();
        while bit > 1 {
            bit /= 2;
            if relative + bit < size {
                round.send((relative + bit + root) % size, readable());
            }
        }
    }
}

/// Carrying one out.
impl<E: Endpoint> Schedule<E> {
    /// The first failure stays.
    fn note(&mut self, outcome: Result) {
        if self.outcome.is_ok() {
            self.outcome = outcome;
        }
    }

    /// Goes as far as it can.
    fn advance(&mut self, endpoint: &mut E) {
        while !self.has_ended {
            if !self.pending.iter().all(|(started, _)| endpoint.is_done(*started)) {
                self.polls = self.polls.wrapping_add(1);
                if endpoint.is_liveness_check_due(self.polls) {
                    self.give_up_if_in_vain(endpoint);
                }
                return;
            }
            for (started, expected) in std::mem::take(&mut self.pending) {
                self.note(endpoint.outcome(started).map_err(Into::into));
                let envelope = endpoint.end(started);
                if let Some(expected) = expected {
                    self.note(check_length(envelope.bytes, expected));
                }
            }
            match self.rounds.pop_front() {
                Some(round) => self.begin(round, endpoint),
                None => self.end(endpoint),
            }
        }
    }

    fn end(&mut self, endpoint: &mut E) {
        for step in std::mem::take(&mut self.last) {
            let outcome = step(endpoint);
            self.note(outcome);
        }
        self.kept.clear();
        self.has_ended = true;
    }

    /// Ends with a failure if the members are not in the same collective.
    #[cold]
    fn give_up_if_in_vain(&mut self, endpoint: &mut E) {
        let Some(place) = self.at.context.place() else { return };
        let Some(error) = endpoint.find_mismatch(place, self.at.number) else { return };
        self.note(Err(error.into()));
        self.rounds.clear();
        self.last.clear();
        self.pending
            .retain(|&(started, expected)| expected.is_none() || !endpoint.cancel_receive(started));
        // What is on its way writes to memory that the program takes back at the end.
        let is_written = |&(started, expected): &(Started, Option<usize>)| {
            expected.is_some() && !endpoint.is_done(started)
        };
        if self.pending.iter().any(is_written) {
            return;
        }
        // Nobody may ever take what was sent, so its memory is not given back.
        std::mem::forget(std::mem::take(&mut self.kept));
        self.pending.clear();
        self.has_ended = true;
    }

    fn begin(&mut self, round: Round<E>, endpoint: &mut E) {
        for step in round.steps {
            let outcome = step(endpoint);
            self.note(outcome);
        }
        let CollectiveContext { context, members, tag, .. } = self.at.clone();
        let context = context.of_collectives();
        for (from, room) in round.receives {
            let selector =
                Selector { context, source: Some(members.members()[from] as u32), tag: Some(tag) };
            let expected = room.bytes();
            match endpoint.post_receive(selector, room) {
                Ok(started) => self.pending.push((started, Some(expected))),
                Err(error) => self.note(Err(error.into())),
            }
        }
        // What a failed operation would send is not right. An empty message takes its place: nobody waits for ever, and
        // whoever expects data fails too.
        let failed = self.outcome.is_err();
        for (to, data) in round.sends {
            let data = if failed { Readable::empty() } else { data };
            match endpoint.post_send(members.members()[to], context, tag, data, Completion::Local) {
                Ok(started) => self.pending.push((started, None)),
                Err(error) => self.note(Err(error.into())),
            }
        }
    }
}

/// Members that disagree about a length have not called the same operation, or not with the same counts.
fn check_length(bytes: usize, expected: usize) -> Result {
    if bytes == expected {
        return Ok(());
    }
    let what = format!("another member sent {bytes} bytes where this one expects {expected}");
    Err(Error::new(ErrorClass::Truncated, what))
}

impl<E: Endpoint> Activity<E> for RefCell<Schedule<E>> {
    fn advance(&self, endpoint: &mut E) {
        self.borrow_mut().advance(endpoint);
    }

    fn has_ended(&self) -> bool {
        self.borrow().has_ended
    }

    fn hopeless(&self, endpoint: &E) -> Option<Started> {
        let schedule = self.borrow();
        let mut started = schedule.pending.iter().map(|&(started, _)| started);
        started.find(|&one| endpoint.is_hopeless(one))
    }

    fn take_outcome(&self) -> Result {
        std::mem::replace(&mut self.borrow_mut().outcome, Ok(()))
    }

    fn context(&self) -> u32 {
        self.borrow().at.context.number()
    }
}

/// Starts a schedule.
///
/// # Errors
/// As for [`Engine::endpoint`](crate::Engine::endpoint).
pub(crate) fn start<E: Endpoint + 'static>(schedule: Schedule<E>) -> Result<Rc<dyn Activity<E>>> {
    let engine = schedule.at.context.engine().clone();
    let schedule = Rc::new(RefCell::new(schedule));
    engine.start(&schedule)?;
    Ok(schedule)
}

/// Carries a schedule out to its end.
///
/// # Errors
/// Those of the operation, and those that end the run.
pub(crate) fn finish<E: Endpoint + 'static>(schedule: Schedule<E>) -> Result {
    let engine = schedule.at.context.engine().clone();
    let running = start(schedule)?;
    if !running.has_ended() {
        // Once this process leaves the run all others are leaving too, and still go through the last barrier.
        let leaving = engine.is_leaving();
        let hopeless = |endpoint: &E| match leaving {
            true => None,
            false => running.hopeless(endpoint),
        };
        engine.wait_for(&mut |_| running.has_ended(), &hopeless)?;
    }
    running.take_outcome()
}
