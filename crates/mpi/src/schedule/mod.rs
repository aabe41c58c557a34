//! Collectives by messages, which advance whenever the process makes progress.

mod areas;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use collectives::{
    AgreedCall, Algorithm, Call, CallId, Cursor, HostMap, Manner, Membership, Message, Own, Round,
};
use contract::{
    Completion, Destination, Endpoint, Envelope, LongWaits, Readable, Request as Started, Selector,
};

pub(crate) use areas::Areas;

use crate::engine::{Activity, Context, MadeCall};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;

/// The members of one collective operation, and the tag of its messages.
pub(crate) struct CollectiveContext<E: Endpoint> {
    pub(crate) context: Rc<Context<E>>,
    /// Ranks of the run: all members of the context, or some of them.
    pub(crate) members: Group,
    pub(crate) rank: usize,
    pub(crate) call_id: CallId,
    pub(crate) tag: u32,
    /// The fabric's number of the members' collective by messages; 0 if it was not announced.
    pub(crate) number: u32,
}

impl<E: Endpoint> Clone for CollectiveContext<E> {
    fn clone(&self) -> Self {
        let CollectiveContext { context, members, .. } = self;
        CollectiveContext { context: context.clone(), members: members.clone(), ..*self }
    }
}

impl<E: Endpoint> CollectiveContext<E> {
    /// Returns the next collective of all members of a context, by messages.
    pub(crate) fn next(context: &Rc<Context<E>>, call: impl Into<AgreedCall>) -> Self {
        let call = call.into();
        let call_id = call.id;
        // A user's operation that calls back gets here while the endpoint is in use, and fails a little later.
        let announce = |place| {
            let mut endpoint = context.engine().endpoint().ok()?;
            Some(endpoint.context_collectives(place)?.announce_by_messages(place, call))
        };
        let tag = context.next_tag(call_id.for_tag());
        let root = call_id.root();
        let name = if call_id.is_of_library() { "" } else { call_id.name() };
        context.identity().note_call(MadeCall { tag, name, root });
        CollectiveContext {
            context: context.clone(),
            members: context.group().clone(),
            rank: context.rank(),
            call_id,
            tag,
            number: context.place().and_then(announce).unwrap_or(0),
        }
    }
}

/// Called with the output's bytes when a collective of the library itself has ended.
type Then<E> = Box<dyn FnOnce(&mut E) -> Result>;

/// The work of messages.
pub enum Work {
    /// A call, by the best suited algorithm.
    Call(Call),
    /// The schedule that the function returns, without a choice.
    Rounds(Box<dyn Fn() -> collectives::Schedule>),
}

/// A collective and its algorithm.
pub(crate) struct Chosen {
    work: Work,
    pub(crate) algorithm: Algorithm,
    hosts: Option<HostMap>,
}

impl Chosen {
    /// Selects the algorithm for a call of members on these hosts. Members that disagree about lengths may disagree
    /// here.
    pub(crate) fn new(
        work: Work,
        (members, hosts): (usize, Option<&HostMap>),
        unit_bytes: usize,
        manner: Manner,
    ) -> Self {
        let algorithm = match &work {
            Work::Call(call) => collectives::select(call, members, unit_bytes, manner, hosts),
            Work::Rounds(_) => Algorithm::Linear,
        };
        Chosen { work, algorithm, hosts: hosts.cloned() }
    }

    /// Returns the call with this id, and units of this length, as members compare it.
    pub(crate) fn agreed(&self, id: CallId, unit_bytes: usize) -> AgreedCall {
        let length = match &self.work {
            Work::Call(call) => call.agreed_length(),
            Work::Rounds(_) => 0,
        };
        AgreedCall { id: id.by(self.algorithm), bytes: length * unit_bytes }
    }

    /// Returns the schedule of the member at `at`, whose own data are at `own`.
    fn rounds<E: Endpoint>(
        &self,
        at: &CollectiveContext<E>,
        own: Own,
    ) -> Rc<collectives::Schedule> {
        let group = Membership { me: at.rank, size: at.members.size() };
        let call = match &self.work {
            Work::Call(call) => call,
            Work::Rounds(make) => return Rc::new(make()),
        };
        let build = || call.schedule(self.algorithm, group, own, self.hosts.as_ref());
        match at.members == *at.context.group() {
            true => at.context.schedules().get(call, self.algorithm, own, build),
            false => Rc::new(build()),
        }
    }
}

/// The memory of a collective at this member.
pub struct CallMemory {
    /// Location of this member's own data at the beginning.
    pub(crate) own: Own,
    pub(crate) areas: Areas,
    /// A failure that is known in advance. The member goes through the collective nevertheless, because the others
    /// depend on it. Those that receive what this member combines or passes on fail too.
    pub(crate) failure: Result,
}

impl CallMemory {
    pub(crate) fn new(own: Own, areas: Areas) -> Self {
        CallMemory { own, areas, failure: Ok(()) }
    }
}

/// A collective operation in progress.
pub(crate) struct Schedule<E: Endpoint> {
    at: CollectiveContext<E>,
    rounds: Rc<collectives::Schedule>,
    cursor: Cursor,
    areas: Areas,
    then: Option<Then<E>>,
    /// Messages in progress, each with the length that a receive expects.
    pending: Vec<(Started, Option<usize>)>,
    outcome: Result,
    /// A failure that is reported at the end.
    last_failure: Result,
    has_ended: bool,
    /// Number of idle polls for the messages in progress.
    polls: u32,
    compared: Cell<Compared>,
}

/// Whether the calls of members that have left are compared, before a wait for these members counts as one that can never
/// end: a difference of the calls explains it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    No,
    /// A wait for such a member seems endless.
    Wanted,
    /// They have made the same call, or none.
    Yes,
}

impl<E: Endpoint> Schedule<E> {
    pub(crate) fn new(at: CollectiveContext<E>, chosen: &Chosen, memory: CallMemory) -> Self {
        let CallMemory { own, mut areas, failure } = memory;
        let rounds = chosen.rounds(&at, own);
        areas.make_scratch(rounds.scratch());
        // Nobody else uses the root's own block.
        let (outcome, last_failure) = match chosen.work {
            Work::Call(Call::Scatter { .. } | Call::Gather { .. }) => (Ok(()), failure),
            _ => (failure, Ok(())),
        };
        Schedule {
            at,
            rounds,
            cursor: Cursor::default(),
            areas,
            then: None,
            pending: Vec::new(),
            outcome,
            last_failure,
            has_ended: false,
            polls: 0,
            compared: Cell::new(Compared::No),
        }
    }

    /// Sets a function to call once the output is there.
    pub(crate) fn then(mut self, then: impl FnOnce(&mut E) -> Result + 'static) -> Self {
        self.then = Some(Box::new(then));
        self
    }

    /// Records an outcome; the first failure is kept.
    fn note(&mut self, outcome: Result) {
        if self.outcome.is_ok() {
            self.outcome = outcome;
        }
    }

    /// Advances as far as possible.
    fn advance(&mut self, endpoint: &mut E) {
        while !self.has_ended {
            if !self.pending.iter().all(|(started, _)| endpoint.is_done(*started)) {
                self.polls = self.polls.wrapping_add(1);
                if self.compared.get() == Compared::Wanted {
                    self.compare_with_those_that_left(endpoint);
                } else if endpoint.long_waits().is_some_and(|one| one.is_check_due(self.polls)) {
                    self.give_up_if_mismatched(endpoint);
                }
                return;
            }
            self.compared.set(Compared::No);
            for (started, expected) in std::mem::take(&mut self.pending) {
                let envelope = endpoint.end(started);
                if let Some(expected) = expected {
                    self.note(self.check_length(envelope, expected));
                }
            }
            match self.rounds.next(&mut self.cursor) {
                Some(round) => self.begin(&round, endpoint),
                None => self.end(endpoint),
            }
        }
    }

    /// Fails if a member disagrees about a length: it has not made the same call, or not with the same counts.
    fn check_length(&self, Envelope { source, bytes, .. }: Envelope, expected: usize) -> Result {
        if bytes == 0 && expected > 0 {
            // Members whose part has failed send nothing.
            let what = "another member has failed, or sent nothing where this one expects";
            return Err(Error::new(ErrorClass::Truncated, format!("{what} {expected} bytes")));
        }
        let call = |bytes| AgreedCall { id: self.at.call_id, bytes };
        let own = (self.at.rank, call(expected));
        let error = contract::Error::of_calls(own, (source as usize, call(bytes)));
        error.map_or(Ok(()), |error| Err(error.into()))
    }

    fn end(&mut self, endpoint: &mut E) {
        self.rounds.last_steps().iter().for_each(|step| self.areas.step(step));
        let last_failure = std::mem::replace(&mut self.last_failure, Ok(()));
        self.note(last_failure);
        if let Some(then) = self.then.take() {
            let outcome = then(endpoint);
            self.note(outcome);
        }
        self.has_ended = true;
    }

    /// Ends with a failure if members that have left were not in the same collective, once all have answered.
    #[cold]
    fn compare_with_those_that_left(&mut self, endpoint: &mut E) {
        let place = self.at.context.place();
        let have_all = place.is_none_or(|place| {
            let collectives = endpoint.context_collectives(place);
            collectives.is_none_or(|all| all.have_left_compared(place, self.at.number))
        });
        self.give_up_if_mismatched(endpoint);
        if have_all {
            self.compared.set(Compared::Yes);
        }
    }

    /// Ends with a failure if the members are not in the same collective.
    #[cold]
    fn give_up_if_mismatched(&mut self, endpoint: &mut E) {
        let Some(place) = self.at.context.place() else { return };
        let collectives = endpoint.context_collectives(place);
        let found = collectives.and_then(|all| all.find_mismatch(place, self.at.number));
        let Some(error) = found else { return };
        self.note(Err(error.into()));
        self.rounds = Rc::default();
        self.then = None;
        self.pending
            .retain(|&(started, expected)| expected.is_none() || !endpoint.cancel_receive(started));
        // Messages in progress write to memory that the program reuses at the end.
        let is_written = |&(started, expected): &(Started, Option<usize>)| {
            expected.is_some() && !endpoint.is_done(started)
        };
        if self.pending.iter().any(is_written) {
            return;
        }
        // Sent messages may never be received, so their memory is not freed.
        std::mem::forget(std::mem::take(&mut self.areas));
        self.pending.clear();
        self.has_ended = true;
    }

    fn begin(&mut self, round: &Round, endpoint: &mut E) {
        round.before.iter().for_each(|step| self.areas.step(step));
        let (context, tag) = (self.at.context.of_collectives(), Some(self.at.tag));
        let run_rank = |member: usize| self.at.members.members()[member];
        let mut outcome = Ok(());
        for &Message { rank, part } in &round.receives {
            let selector = Selector { context, source: Some(run_rank(rank) as u32), tag };
            let room = self.areas.writable(part);
            let expected = room.bytes();
            match endpoint.post_receive(selector, room) {
                Ok(started) => self.pending.push((started, Some(expected))),
                Err(error) => outcome = Err(error),
            }
        }
        // The result of a failed operation is invalid. An empty message is sent instead: nobody waits for ever, and a
        // receiver that expects data fails too.
        let failed = self.outcome.is_err() || outcome.is_err();
        for &Message { rank, part } in &round.sends {
            let data = if failed { Readable::empty() } else { self.areas.readable(part) };
            let to = Destination { rank: run_rank(rank), context, tag: self.at.tag };
            match endpoint.post_send(to, data, Completion::Local) {
                Ok(started) => self.pending.push((started, None)),
                Err(error) => outcome = Err(error),
            }
        }
        self.note(outcome.map_err(Into::into));
    }
}

impl<E: Endpoint> Activity<E> for RefCell<Schedule<E>> {
    fn advance(&self, endpoint: &mut E) {
        self.borrow_mut().advance(endpoint);
    }

    fn has_ended(&self) -> bool {
        self.borrow().has_ended
    }

    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        let schedule = self.borrow();
        let mut started = schedule.pending.iter().map(|&(started, _)| started);
        let unsatisfiable = started.find(|&one| waits.cannot_complete(one))?;
        let is_compared = schedule.compared.get() == Compared::Yes;
        if !is_compared {
            schedule.compared.set(Compared::Wanted);
        }
        is_compared.then_some(unsatisfiable)
    }

    /// Also delivers the data: until a call completes the operation, the program's memory may be checked.
    fn take_outcome(&self) -> Result {
        let mut schedule = self.borrow_mut();
        std::mem::take(&mut schedule.areas).deliver();
        std::mem::replace(&mut schedule.outcome, Ok(()))
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

/// Runs a schedule to completion.
///
/// # Errors
/// Errors of the operation, and errors that end the run.
pub(crate) fn finish<E: Endpoint + 'static>(schedule: Schedule<E>) -> Result {
    let engine = schedule.at.context.engine().clone();
    let running = start(schedule)?;
    if !running.has_ended() {
        // When this process leaves the run all others are leaving too, and still go through the last barrier.
        let leaving = engine.is_leaving();
        // Its messages are checked all the same, because the endpoint learns from that what this process waits for.
        let unsatisfiable =
            |waits: &mut dyn LongWaits| running.unsatisfiable(waits).filter(|_| !leaving);
        engine.wait_for(&mut |_| running.has_ended(), &unsatisfiable)?;
    }
    running.take_outcome()
}
