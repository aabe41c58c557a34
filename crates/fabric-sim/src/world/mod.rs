//! All of a simulated machine except its rank programs: it executes their calls.

mod access;
mod board;
mod calls;
mod deadlock;
mod leaving;
mod matching;
mod message;
mod noise;
mod operation;
mod processors;
mod requests;
mod scheduler;
mod time;

use std::rc::Rc;

use contract::{Error, Priority, Result, Time};

use crate::agenda::{Agenda, Event};
use crate::machine::{Level, Machine};
use crate::network::{ChannelUse, Network, Networks, Outcome};
use crate::path::Paths;
use crate::processes::ConcurrentComputing;
use crate::trace::Recorder;

use matching::Mailbox;
use message::Message;
pub(crate) use message::Mode;
use operation::{Operations, Waiting};
use processors::Processors;
pub(crate) use time::Next;

/// Maximum number of events between two moments at which a run is watched: some milliseconds of work.
const EVENTS_UNWATCHED_MAX: usize = 10_000;

/// How far a simulation has got.
pub(crate) enum Advanced {
    /// This rank can continue.
    Rank(usize),
    /// Many events have been handled, and none lets a rank continue.
    Events,
    /// There are no more events.
    End,
}

/// The state of a run.
pub(crate) struct World {
    pub(crate) machine: Rc<Machine>,
    pub(crate) level: Level,
    pub(crate) seed: u64,
    agenda: Agenda,
    network: Network,
    ranks: Vec<RankState>,
    processors: Processors,
    /// Ranks whose processes compute while the simulation continues, if the ranks are processes.
    pub(crate) concurrent: Option<ConcurrentComputing>,
    /// Boards by rank. Only machines with boards use them.
    boards: Vec<board::BoardState>,
    calls: calls::ContextCalls,
    agents: access::Agents,
    messages: Vec<Message>,
    /// True if messages carry their data.
    pub(crate) carries_data: bool,
    free_messages: Vec<u32>,
    /// Number of ranks that have left, plus the number that have ended.
    departures: u64,
    /// Number of ranks that wait for anything to happen.
    waiting_for_anything: usize,
    /// Rank that has suspended itself only to let the run be watched.
    continues_next: Option<usize>,
    outcomes: Vec<Outcome>,
    /// Error that every call returns once the run has failed.
    run_error: Option<Error>,
    pub(crate) failure: Option<(usize, Error)>,
    counts: Counts,
    /// Time at which the last rank ended, of those that have.
    pub(crate) ended_at: Time,
    pub(crate) recorder: Option<Recorder>,
    /// Paths to the activities of ranks and messages, if the critical path is requested.
    pub(crate) paths: Option<Paths>,
}

/// Numbers of messages, bytes and events in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Messages sent, including those inside collectives.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events of the simulation.
    pub events: u64,
}

struct RankState {
    waiting: Waiting,
    operations: Operations,
    mailbox: Mailbox,
    priority: Priority,
    /// Time of the last read of the clock, if nothing has happened to the rank since.
    clock_read: Option<Time>,
    /// Memory of its posted operations in bytes, and the most since there was none.
    posted_bytes: u64,
    posted_peak_bytes: u64,
    /// True if it no longer sends messages of its own and takes none.
    left: bool,
    /// Number of events that it may wait for: messages that arrived without a receive, and requests that were done.
    event_count: u64,
    /// That number, with the ranks that have left, when it last wanted to sleep instead of polling; and the end of its
    /// sleep.
    events_before_sleep: u64,
    sleeps_until: Option<Time>,
    /// True if it has polled for a message without success, and will poll again: the next message wakes it.
    polls: bool,
}

impl World {
    pub(crate) fn new(
        machine: Rc<Machine>,
        networks: Networks,
        level: Level,
        ranks: usize,
        ranks_per_processor: usize,
        seed: u64,
        trace: bool,
    ) -> Self {
        let (nodes, sharing) = (networks.nodes(), ranks_per_processor as u32);
        let processors = Processors::new(&machine, level, nodes, sharing, seed);
        let mut network = Network::new(&machine, networks, level);
        if trace {
            network.keep_busy_spans();
        }
        let mut agenda = Agenda::new();
        network.schedule_faults(&mut agenda);
        let state = |_| RankState {
            waiting: Waiting::Running,
            operations: Operations::default(),
            mailbox: Mailbox::default(),
            priority: Priority::TimeShared,
            clock_read: None,
            posted_bytes: 0,
            posted_peak_bytes: 0,
            left: false,
            event_count: 0,
            events_before_sleep: 0,
            sleeps_until: None,
            polls: false,
        };
        let has_boards = machine.board.is_some();
        World {
            boards: (0..if has_boards { ranks } else { 0 }).map(|_| Default::default()).collect(),
            ranks: (0..ranks).map(state).collect(),
            processors,
            concurrent: None,
            agenda,
            ended_at: Time::ZERO,
            network,
            calls: calls::ContextCalls::default(),
            agents: access::Agents::default(),
            messages: Vec::new(),
            carries_data: true,
            free_messages: Vec::new(),
            departures: 0,
            waiting_for_anything: 0,
            continues_next: None,
            outcomes: Vec::new(),
            run_error: None,
            failure: None,
            counts: Counts::default(),
            recorder: trace.then(Recorder::default),
            paths: None,
            machine,
            level,
            seed,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.ranks.len()
    }

    pub(crate) fn now(&self) -> Time {
        self.agenda.now()
    }

    /// Returns whether the same work always takes the same time.
    pub(crate) fn is_steady(&self) -> bool {
        let Machine { pauses, faults, .. } = &*self.machine;
        pauses.is_empty() && faults.is_empty() && !self.processors.are_scheduled()
    }

    pub(crate) fn event_hash(&self) -> u64 {
        self.agenda.event_hash()
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { events: self.agenda.events(), ..self.counts.clone() }
    }

    pub(crate) fn channel_use(&mut self) -> Vec<ChannelUse> {
        self.network.channel_use(self.agenda.now())
    }

    pub(crate) fn take_busy_spans(&mut self) -> Vec<(String, Time, Time)> {
        self.network.take_busy_spans()
    }

    /// Starts every rank by an event, so that no rank gets ahead of one that has not begun.
    pub(crate) fn wake_all(&mut self) {
        let now = self.now();
        (0..self.size() as u32).for_each(|rank| self.agenda.push(now, Event::Wake(rank)));
    }

    /// Lets the rank continue before anything else happens, after it has suspended itself.
    pub(crate) fn continue_next(&mut self, rank: usize) {
        self.continues_next = Some(rank);
    }

    /// Handles events until a rank can continue, or so many that the run should be watched.
    pub(crate) fn advance(&mut self) -> Advanced {
        if let Some(rank) = self.continues_next.take() {
            return Advanced::Rank(rank);
        }
        for _ in 0..EVENTS_UNWATCHED_MAX {
            if self.network.must_arbitrate() && !self.agenda.has_more_now() {
                self.network.arbitrate(&mut self.agenda);
                continue;
            }
            if self.await_computing() {
                continue;
            }
            let Some(event) = self.agenda.pop() else { return Advanced::End };
            match event {
                Event::Wake(rank) => {
                    self.ranks[rank as usize].waiting = Waiting::Running;
                    return Advanced::Rank(rank as usize);
                }
                Event::Launch(message) => self.launch(message),
                Event::Served(message) => self.access_served(message),
                Event::Ready(rank) => self.give_processor(rank),
                Event::SleepOver(rank) => self.end_sleep(rank as usize),
                Event::Stop(node) => self.processors.stop(&mut self.agenda, node),
                Event::Choose(node) => self.processors.choose(&mut self.agenda, node),
                event => {
                    self.network.handle(&mut self.agenda, event, &mut self.outcomes);
                    self.handle_outcomes();
                }
            }
        }
        Advanced::Events
    }

    /// Waits for computing that may end before the next event. Returns whether any has ended.
    fn await_computing(&mut self) -> bool {
        let concurrent = self.concurrent.as_mut().filter(|one| !one.is_empty());
        let Some(concurrent) = concurrent else { return false };
        let Some((rank, begin, span)) = concurrent.next_end(self.agenda.next_time()) else {
            return false;
        };
        // The lower bound of the computing's length may have been a little too high, but nothing may happen in the past.
        let end = self.processors.end(rank, begin, span).max(self.now());
        self.agenda.push(end, Event::Wake(rank as u32));
        true
    }

    /// Returns the error of the run once it has failed.
    pub(crate) fn check(&self) -> Result<()> {
        self.run_error.clone().map_or(Ok(()), Err)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.run_error.is_some()
    }

    /// Ends a rank whose program has ended, with the memory that it lent. Only the first call has an effect, except
    /// that a failure is never lost.
    pub(crate) fn end(&mut self, rank: usize, outcome: Result<()>) {
        if self.ranks[rank].waiting != Waiting::Ended {
            self.ranks[rank].waiting = Waiting::Ended;
            self.ended_at = self.now();
            if let Some(paths) = &mut self.paths {
                paths.end(rank, self.ended_at);
            }
            self.ranks[rank].operations.forget_rooms();
            self.note_departure();
        }
        if let Err(error) = outcome {
            let how = error.to_string();
            self.fail(rank, error, Error::RankDied { rank, how });
        }
    }

    /// Records a failure. Only the first counts, because later ones are its consequences.
    fn fail(&mut self, rank: usize, error: Error, run_error: Error) {
        if self.failure.is_none() {
            self.failure = Some((rank, error));
            self.run_error = Some(run_error);
        }
    }

    /// Ends the run from outside.
    pub(crate) fn abort(&mut self, why: &str) {
        let error = Error::Aborted { why: why.into() };
        self.fail(0, error.clone(), error);
    }

    /// Returns the first rank whose program has not ended.
    pub(crate) fn first_unended(&self) -> Option<usize> {
        self.ranks.iter().position(|rank| !matches!(rank.waiting, Waiting::Ended))
    }

    /// Fails the run if there are no more events and a rank still waits. The error names the waiting ranks and what
    /// they wait for.
    pub(crate) fn declare_deadlock(&mut self) {
        if let Some(first) = self.first_unended() {
            let error = Error::Deadlock { explanation: self.explain_deadlock() };
            self.fail(first, error.clone(), error);
        }
    }
}
