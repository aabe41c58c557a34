//! Schedules: rounds of messages and local steps, which go on whenever the process looks at its messages.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use contract::{Request as Started, Selector};
use fabric_shm::ShmEndpoint as Endpoint;

use crate::abi::*;
use crate::datatype::Memory;
use crate::failure::{Result, error_of};
use crate::process::{endpoint, process};
use mpi::Group as Members;

/// The members of a collective operation, and the tag of its messages.
#[derive(Clone)]
pub(crate) struct Party {
    pub(crate) members: Members,
    pub(crate) rank: usize,
    pub(crate) context: u32,
    pub(crate) tag: u32,
    /// Which of the members' calls by messages it is; 0 for one that is not counted.
    pub(crate) number: u32,
}

type Step = Box<dyn FnOnce() -> Result>;

/// What happens before the next round begins: first the steps, then all of the messages.
#[derive(Default)]
pub(crate) struct Round {
    steps: Vec<Step>,
    receives: Vec<(usize, *mut u8, usize)>,
    sends: Vec<(usize, *const u8, usize)>,
}

impl Round {
    /// Sends `bytes` bytes to a member.
    ///
    /// # Safety
    /// They stay until the schedule has ended.
    pub(crate) unsafe fn send(&mut self, to: usize, from: *const u8, bytes: usize) {
        self.sends.push((to, from, bytes));
    }

    /// Receives `bytes` bytes from a member.
    ///
    /// # Safety
    /// The memory is the schedule's until it has ended.
    pub(crate) unsafe fn receive(&mut self, from: usize, to: *mut u8, bytes: usize) {
        self.receives.push((from, to, bytes));
    }

    /// Does something before the messages of this round.
    pub(crate) fn first(&mut self, step: impl FnOnce() -> Result + 'static) {
        self.steps.push(Box::new(step));
    }
}

/// A collective operation on its way.
pub(crate) struct Schedule {
    pub(crate) party: Party,
    rounds: VecDeque<Round>,
    last: Vec<Step>,
    /// What is under way, with the length that a receive expects.
    pending: Vec<(Started, Option<usize>)>,
    temporaries: Vec<Box<[u8]>>,
    outcome: Result,
    ended: bool,
    /// Fruitless looks at what is under way.
    looks: u32,
}

impl Schedule {
    pub(crate) fn new(party: Party) -> Self {
        Schedule {
            party,
            rounds: VecDeque::new(),
            last: Vec::new(),
            pending: Vec::new(),
            temporaries: Vec::new(),
            outcome: Ok(()),
            ended: false,
            looks: 0,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.party.members.size()
    }

    pub(crate) fn rank(&self) -> usize {
        self.party.rank
    }

    /// Memory that lasts as long as the schedule.
    pub(crate) fn temporary(&mut self, bytes: usize) -> *mut u8 {
        let mut memory = vec![0; bytes].into_boxed_slice();
        let start = memory.as_mut_ptr();
        self.temporaries.push(memory);
        start
    }

    /// A new round at the end.
    pub(crate) fn round(&mut self) -> &mut Round {
        self.rounds.push_back(Round::default());
        self.rounds.back_mut().expect("just pushed")
    }

    /// Does something after the last round.
    pub(crate) fn finally(&mut self, step: impl FnOnce() -> Result + 'static) {
        self.last.push(Box::new(step));
    }

    /// Data to send, in one piece: the user's memory, or a copy made now.
    ///
    /// # Safety
    /// The memory is what its datatype says, until the schedule has ended.
    pub(crate) unsafe fn outgoing(&mut self, memory: &Memory) -> *const u8 {
        if let Some(start) = memory.in_one_piece() {
            return start;
        }
        let copy = self.temporary(memory.bytes());
        memory.pack(copy);
        copy
    }

    /// A place in one piece for data that ends in the user's memory.
    ///
    /// # Safety
    /// As for `outgoing`.
    pub(crate) unsafe fn incoming(&mut self, memory: &Memory) -> *mut u8 {
        if let Some(start) = memory.in_one_piece() {
            return start;
        }
        let place = self.temporary(memory.bytes());
        let memory = memory.clone();
        self.finally(move || {
            // SAFETY: the schedule still has the place, and the user's promise holds until it has ended.
            unsafe { memory.unpack(place, memory.bytes()) };
            Ok(())
        });
        place
    }

    /// The places of a block from every rank. This rank's own is null: it is copied at once, and nothing that arrives may
    /// be written over it later.
    ///
    /// # Safety
    /// As for `outgoing`.
    pub(crate) unsafe fn incoming_from_others(&mut self, blocks: &[Memory]) -> Vec<*mut u8> {
        let rank = self.rank();
        let mut places = Vec::with_capacity(blocks.len());
        for (other, block) in blocks.iter().enumerate() {
            places.push(if other == rank { std::ptr::null_mut() } else { self.incoming(block) });
        }
        places
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// A message of the round under way that can never come to its end, because the rank that it needs has left.
    pub(crate) fn hopeless(&self, endpoint: &Endpoint) -> Option<Started> {
        self.pending.iter().map(|&(started, _)| started).find(|&one| endpoint.is_hopeless(one))
    }

    pub(crate) fn take_outcome(&mut self) -> Result {
        std::mem::replace(&mut self.outcome, Ok(()))
    }

    /// The first failure stays.
    fn note(&mut self, outcome: Result) {
        if self.outcome.is_ok() {
            self.outcome = outcome;
        }
    }

    /// Goes as far as it can.
    fn advance(&mut self, endpoint: &mut Endpoint) {
        while !self.ended {
            if !self.pending.iter().all(|(started, _)| endpoint.is_done(*started)) {
                self.looks = self.looks.wrapping_add(1);
                if endpoint.is_time_to_doubt(self.looks) {
                    self.give_up_if_in_vain(endpoint);
                }
                return;
            }
            for (started, expected) in std::mem::take(&mut self.pending) {
                let envelope = endpoint.end(started);
                if let Some(expected) = expected {
                    self.note(check_length(envelope.bytes, expected));
                }
            }
            match self.rounds.pop_front() {
                Some(round) => self.begin(round, endpoint),
                None => {
                    for step in std::mem::take(&mut self.last) {
                        let outcome = step();
                        self.note(outcome);
                    }
                    self.temporaries.clear();
                    self.ended = true;
                }
            }
        }
    }

    /// Ends with a failure if the members are not in the same collective.
    #[cold]
    fn give_up_if_in_vain(&mut self, endpoint: &mut Endpoint) {
        let communicator = crate::communicator::of_messages(self.party.context);
        let why = communicator.and_then(|one| one.team.why_in_vain(endpoint, self.party.number));
        let Some(failure) = why else { return };
        self.note(Err(failure));
        self.rounds.clear();
        self.last.clear();
        self.pending
            .retain(|&(started, expected)| expected.is_none() || !endpoint.cancel_receive(started));
        // What is on its way writes to memory that the program takes back at the end.
        if self
            .pending
            .iter()
            .any(|&(started, expected)| expected.is_some() && !endpoint.is_done(started))
        {
            return;
        }
        // Nobody may ever take what was sent, so its memory is not given back.
        std::mem::forget(std::mem::take(&mut self.temporaries));
        self.pending.clear();
        self.ended = true;
    }

    fn begin(&mut self, round: Round, endpoint: &mut Endpoint) {
        for step in round.steps {
            let outcome = step();
            self.note(outcome);
        }
        let Party { members, context, tag, .. } = self.party.clone();
        for (from, place, room) in round.receives {
            let selector =
                Selector { context, source: Some(members.members()[from] as u32), tag: Some(tag) };
            // SAFETY: the promise made to `receive`.
            match unsafe { endpoint.start_receive(selector, place, room) } {
                Ok(started) => self.pending.push((started, Some(room))),
                Err(error) => self.note(Err(error.into())),
            }
        }
        // What a failed operation would send is not right. An empty message takes its place: nobody waits for ever, and
        // whoever expects data fails too.
        let failed = self.outcome.is_err();
        for (to, place, bytes) in round.sends {
            let bytes = if failed { 0 } else { bytes };
            // SAFETY: the promise made to `send`.
            match unsafe {
                endpoint.start_send(members.members()[to], context, tag, place, bytes, false)
            } {
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
    Err(error_of(ERR_TRUNCATE, what))
}

/// The collective operations that are under way.
#[derive(Default)]
pub(crate) struct Schedules(RefCell<Vec<Rc<RefCell<Schedule>>>>);

impl Schedules {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Goes on with all of them.
    #[inline]
    pub(crate) fn advance(&self, endpoint: &mut Endpoint) {
        if self.is_empty() {
            return;
        }
        // A user's operation may start another, so the list must not be held meanwhile.
        let running = self.0.borrow().clone();
        for schedule in &running {
            schedule.borrow_mut().advance(endpoint);
        }
        self.0.borrow_mut().retain(|schedule| !schedule.borrow().ended);
    }
}

/// Starts a schedule.
pub(crate) fn start(schedule: Schedule) -> Result<Rc<RefCell<Schedule>>> {
    let schedule = Rc::new(RefCell::new(schedule));
    schedule.borrow_mut().advance(&mut *endpoint()?);
    if !schedule.borrow().ended {
        process().schedules.0.borrow_mut().push(schedule.clone());
    }
    Ok(schedule)
}
