//! What this engine contributes to the reports of a long wait.
//!
//! A wait knows its end by a function. While the seat [notes](launcher::Seat::is_noting_waits) what this rank waits for,
//! that function is called once more and checks for each request that it waits for whether it is hopeless. These
//! requests are noted.

use std::hash::{DefaultHasher, Hash, Hasher};

use contract::{Awaited, Envelope, LockHolder, Request, Selector, WaitPlace};
use launcher::PollState;

use super::Engine;
use super::operation::Direction;

/// The engine's part of the reports.
#[derive(Default)]
pub(super) struct WaitReports {
    /// Number of state changes of this rank that no other part of it shows.
    pub(super) moves: u64,
    /// The state of another fabric that this one is a part of, if there is one, and the messages there that no receive
    /// matches.
    outside: Option<Outside>,
}

/// The part of a report that another fabric contributes.
#[derive(Default)]
struct Outside {
    /// What its poll has found in the report in progress.
    found: Option<PollState>,
    unexpected: Vec<Envelope>,
}

impl Engine {
    /// Counts an action in a collective that others can see.
    pub(crate) fn count_move(&mut self) {
        self.wait_reports.moves = self.wait_reports.moves.wrapping_add(1);
    }

    /// Declares that this fabric is a part of another one, which [adds](Engine::note_outside) to each report.
    pub(crate) fn expect_outside(&mut self) {
        self.wait_reports.outside = Some(Outside::default());
    }

    /// Adds to the report in progress what a poll of the other fabric has found, and its unexpected messages.
    pub(crate) fn note_outside(&mut self, found: PollState, unexpected: Vec<Envelope>) {
        self.wait_reports.outside = Some(Outside { found: Some(found), unexpected });
    }

    /// Notes something that this rank waits for, if the launcher asks.
    #[inline]
    pub(crate) fn note_awaited(&self, awaited: impl FnOnce() -> Awaited) {
        self.seat().note_awaited(|| self.named(awaited()));
    }

    /// As [`note_awaited`](Engine::note_awaited), for a started collective.
    pub(crate) fn note_started(&self, awaited: impl FnOnce() -> Awaited) {
        self.seat().note_started(|| self.named(awaited()));
    }

    /// Replaces the numbers of ranks by those that people know.
    fn named(&self, awaited: Awaited) -> Awaited {
        let name = |rank: u32| self.name_of(rank as usize) as u32;
        match awaited {
            Awaited::Message(selector) => {
                Awaited::Message(Selector { source: selector.source.map(name), ..selector })
            }
            Awaited::Data(envelope) => {
                Awaited::Data(Envelope { source: name(envelope.source), ..envelope })
            }
            Awaited::Receive { to, envelope } => {
                Awaited::Receive { to: self.name_of(to), envelope }
            }
            Awaited::Members { context, collective, members, missing } => {
                let missing = missing.into_iter().map(|rank| self.name_of(rank)).collect();
                Awaited::Members { context, collective, members, missing }
            }
            Awaited::Lock { context, of, holder } => {
                let holder = match holder {
                    LockHolder::Rank(rank) => LockHolder::Rank(self.name_of(rank)),
                    other => other,
                };
                Awaited::Lock { context, of: self.name_of(of), holder }
            }
        }
    }

    /// As [`note_awaited`](Engine::note_awaited), for an operation in progress.
    #[inline]
    pub(crate) fn note_request(&self, request: Request) {
        if self.seat().is_noting_waits() && !self.is_done(request) {
            self.note_awaited(|| self.awaited_by(request));
        }
    }

    /// As [`note_awaited`](Engine::note_awaited), for a message that is probed for.
    #[inline]
    pub(crate) fn note_probe(&self, selector: Selector) {
        self.note_awaited(|| Awaited::Message(selector));
    }

    fn awaited_by(&self, request: Request) -> Awaited {
        let operation = &self.operations[request];
        match operation.direction {
            Direction::Send { to } => {
                Awaited::Receive { to: to as usize, envelope: operation.envelope }
            }
            Direction::Receive(selector) if self.posted.holds(request) => {
                Awaited::Message(selector)
            }
            Direction::Receive(_) => Awaited::Data(operation.envelope),
        }
    }

    /// Prepares for the poll whose result [`report_wait`](Engine::report_wait) reports.
    pub(crate) fn begin_report(&mut self) {
        self.seat().begin_wait_report();
        self.wait_reports.outside.iter_mut().for_each(|outside| *outside = Outside::default());
    }

    /// Reports that a poll for everything was idle, and answers what this rank waits for.
    pub(crate) fn report_wait(&mut self, place: WaitPlace) {
        let own = PollState { state: self.state_number(), ..PollState::default() };
        let (found, outside) = match self.wait_reports.outside.as_mut().map(std::mem::take) {
            None => (own, Vec::new()),
            Some(outside) => (with_outside(own, outside.found), outside.unexpected),
        };
        let name =
            |one: &Envelope| Envelope { source: self.name_of(one.source as usize) as u32, ..*one };
        let unexpected = || self.unexpected.envelopes().map(name).chain(outside).collect();
        self.seat().report_wait(place, found, unexpected);
    }

    /// Returns a number that changes whenever anything of this rank has moved: it has taken something from a ring or
    /// put something there, or a request, a queue or a collective has changed.
    fn state_number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.wait_reports.moves.hash(&mut hasher);
        for inbound in &self.inbound {
            inbound.ring.as_ref().map(|ring| ring.position()).hash(&mut hasher);
        }
        for outbound in &self.outbound {
            let waiting = (outbound.queue.len(), outbound.pending_rts);
            (outbound.ring.position(), waiting).hash(&mut hasher);
        }
        (self.co_copies.len(), self.in_place.len()).hash(&mut hasher);
        self.posted.hash_into(&mut hasher);
        for envelope in self.unexpected.envelopes() {
            (envelope.context, envelope.source, envelope.tag, envelope.bytes).hash(&mut hasher);
        }
        self.operations.hash_into(&mut hasher);
        hasher.finish()
    }
}

/// Returns the state of both fabrics. Without a poll of the other one, something may have arrived there.
fn with_outside(own: PollState, outside: Option<PollState>) -> PollState {
    let Some(outside) = outside else { return PollState { may_end_otherwise: true, ..own } };
    let mut hasher = DefaultHasher::new();
    (own.state, outside.state).hash(&mut hasher);
    PollState { state: hasher.finish(), ..outside }
}
