//! Reports to the launcher about a long wait (`segment::WaitNote`), and how the rank finds out what it waits for.
//!
//! A wait knows its end by a function. While [`WaitReports::is_asked`], that function is called once more and checks for
//! each request that it waits for whether it is hopeless. These requests are noted.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use contract::{Awaited, Request, Selector, describe_unexpected};

use super::Engine;
use super::operation::Direction;
use crate::callers;
use crate::segment::{Answer, PollState};

/// Maximum number of items that a rank says it waits for; a program may wait for thousands.
const NAMED: usize = 6;

/// The engine's reports of its long waits.
#[derive(Default)]
pub(super) struct WaitReports {
    /// True if the launcher asks what this rank waits for.
    pub(super) is_asked: bool,
    /// Number of state changes of this rank that no other part of it shows.
    pub(super) moves: u64,
    /// True if something else than messages and collectives may end a wait.
    pub(super) has_other_ends: bool,
    awaited: RefCell<Vec<Awaited>>,
    /// Events for which started collectives wait, even if this rank does not wait for these collectives.
    started: RefCell<Vec<Awaited>>,
}

impl Engine {
    /// Counts an action in a collective that others can see.
    pub(crate) fn count_move(&mut self) {
        self.wait_reports.moves = self.wait_reports.moves.wrapping_add(1);
    }

    /// Excludes the waits of this rank from those that can be proved endless.
    pub(crate) fn expect_other_ends(&mut self) {
        self.wait_reports.has_other_ends = true;
    }

    /// Notes something that this rank waits for, if the launcher asks.
    #[inline]
    pub(crate) fn note_awaited(&self, awaited: impl FnOnce() -> Awaited) {
        if self.wait_reports.is_asked {
            self.wait_reports.awaited.borrow_mut().push(awaited());
        }
    }

    /// As [`note_awaited`](Engine::note_awaited), for a started collective.
    pub(crate) fn note_started(&self, awaited: impl FnOnce() -> Awaited) {
        if self.wait_reports.is_asked {
            self.wait_reports.started.borrow_mut().push(awaited());
        }
    }

    /// As [`note_awaited`](Engine::note_awaited), for an operation in progress.
    #[inline]
    pub(crate) fn note_request(&self, request: Request) {
        if self.wait_reports.is_asked && !self.is_done(request) {
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
    pub(super) fn begin_report(&mut self) {
        self.wait_reports.awaited.borrow_mut().clear();
        self.wait_reports.started.borrow_mut().clear();
        self.wait_reports.is_asked = self.segment.block(self.me).wait_note().question().is_some();
    }

    /// Reports that a poll for everything was idle, and answers what this rank waits for.
    pub(super) fn report_wait(&mut self) {
        let is_asked = std::mem::take(&mut self.wait_reports.is_asked);
        if self.wait_reports.has_other_ends {
            return;
        }
        let mut awaited = self.wait_reports.awaited.take();
        if awaited.is_empty() {
            awaited = self.wait_reports.started.take();
        }
        let found = PollState { state: self.state_number(), ..PollState::default() };
        self.segment.block(self.me).wait_note().report(found);
        if is_asked {
            self.answer(&awaited, &describe_unexpected(self.unexpected.envelopes()));
        }
    }

    /// Answers the launcher's question what this rank waits for, with further lines about it.
    pub(crate) fn answer(&self, awaited: &[Awaited], remarks: &[String]) {
        let note = self.segment.block(self.me).wait_note();
        let Some(question) = note.question() else { return };
        let callers = callers::find();
        let mut lines = vec![callers.call];
        lines.extend(awaited.iter().take(NAMED).map(Awaited::to_string));
        if awaited.len() > NAMED {
            lines.push(format!("and for {} more", awaited.len() - NAMED));
        }
        lines.extend_from_slice(remarks);
        note.answer(question, &Answer { text: lines.join("\n"), callers: callers.addresses });
    }

    /// Declares that a long wait is over.
    #[cold]
    pub(crate) fn end_long_wait(&mut self) {
        self.wait_reports.is_asked = false;
        self.segment.block(self.me).wait_note().end();
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
