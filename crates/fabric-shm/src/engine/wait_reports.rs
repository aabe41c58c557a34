//! Reports to the launcher about a long wait (`segment::WaitNote`), and how the rank finds out what it waits for.
//!
//! A wait knows its end by a function. While [`WaitReports::is_asked`], that function is called once more and checks
//! for each request that it waits for whether it is hopeless. These requests are noted.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use contract::{
    AWAITED_MAX, Awaited, Envelope, LockHolder, OtherEnds, Request, Selector, WaitPlace, WaitTerms,
    describe_unexpected,
};

use super::Engine;
use super::operation::Direction;
use crate::callers;
use crate::segment::{Answer, AnsweredWait, PollState};

/// Maximum number of items that a rank says it waits for; a program may wait for thousands.
const NAMED: usize = 6;

/// The engine's reports of its long waits.
#[derive(Default)]
pub(super) struct WaitReports {
    /// True if the launcher asks what this rank waits for.
    pub(super) is_asked: bool,
    /// Number of state changes of this rank that no other part of it shows.
    pub(super) moves: u64,
    /// True between the beginning of a report and its end.
    is_reporting: bool,
    /// The state of another fabric that this one is a part of, if there is one, and the messages there that no receive
    /// matches.
    outside: Option<Outside>,
    /// What else than messages and collectives may end a wait.
    other_ends: Vec<Rc<dyn OtherEnds>>,
    /// The terms in which the face describes waits.
    terms: Option<Rc<dyn WaitTerms>>,
    /// The launcher's question that `answers` answer, and the answers about the waits of the threads, by their numbers.
    question: u32,
    answers: Vec<(u64, AnsweredWait)>,
    awaited: RefCell<Vec<Awaited>>,
    /// Events for which started collectives wait, even if this rank does not wait for these collectives.
    started: RefCell<Vec<Awaited>>,
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

    /// Excludes the waits of this rank from those that can be proved endless, unless `ends` rules itself out.
    pub(crate) fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        self.wait_reports.other_ends.push(ends);
    }

    /// Sets the terms in which reports describe waits.
    pub(crate) fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        self.wait_reports.terms = Some(terms);
    }

    /// Declares that this fabric is a part of another one, which [adds](Engine::note_outside) to each report.
    pub(crate) fn expect_outside(&mut self) {
        self.wait_reports.outside = Some(Outside::default());
    }

    /// Returns whether a report is in progress, to which another fabric must contribute.
    #[inline]
    pub(crate) fn is_reporting(&self) -> bool {
        self.wait_reports.is_reporting
    }

    /// Adds to the report in progress what a poll of the other fabric has found, and its unexpected messages.
    pub(crate) fn note_outside(&mut self, found: PollState, unexpected: Vec<Envelope>) {
        self.wait_reports.outside = Some(Outside { found: Some(found), unexpected });
    }

    /// Notes something that this rank waits for, if the launcher asks.
    #[inline]
    pub(crate) fn note_awaited(&self, awaited: impl FnOnce() -> Awaited) {
        if self.wait_reports.is_asked {
            self.note_named(self.named(awaited()));
        }
    }

    /// Forgets what was noted in the report in progress.
    pub(crate) fn forget_awaited(&self) {
        self.wait_reports.awaited.borrow_mut().clear();
    }

    /// As [`note_awaited`](Engine::note_awaited), for something outside of this fabric, and only if the launcher asks.
    pub(crate) fn note_named(&self, awaited: Awaited) {
        let mut all = self.wait_reports.awaited.borrow_mut();
        if all.len() < AWAITED_MAX && !all.contains(&awaited) {
            all.push(awaited);
        }
    }

    /// Returns whether this poll notes what the rank waits for.
    pub(crate) fn is_asked(&self) -> bool {
        self.wait_reports.is_asked
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

    /// As [`note_awaited`](Engine::note_awaited), for a started collective.
    pub(crate) fn note_started(&self, awaited: impl FnOnce() -> Awaited) {
        if self.wait_reports.is_asked {
            let awaited = self.named(awaited());
            self.wait_reports.started.borrow_mut().push(awaited);
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
    pub(crate) fn begin_report(&mut self) {
        self.wait_reports.awaited.borrow_mut().clear();
        self.wait_reports.started.borrow_mut().clear();
        self.wait_reports.is_asked = self.segment.block(self.me).wait_note().question().is_some();
        self.wait_reports.is_reporting = true;
        if let Some(outside) = &mut self.wait_reports.outside {
            *outside = Outside::default();
        }
    }

    /// Reports that a poll for everything was idle, and answers what this rank waits for.
    pub(crate) fn report_wait(&mut self, place: WaitPlace) {
        let own = PollState { state: self.state_number(), ..PollState::default() };
        let name =
            |one: &Envelope| Envelope { source: self.name_of(one.source as usize) as u32, ..*one };
        let mut messages: Vec<Envelope> = match self.wait_reports.is_asked {
            true => self.unexpected.envelopes().map(name).collect(),
            false => Vec::new(),
        };
        let found = match self.wait_reports.outside.take() {
            None => own,
            Some(outside) => {
                messages.extend(outside.unexpected);
                self.wait_reports.outside = Some(Outside::default());
                with_outside(own, outside.found)
            }
        };
        self.report_noted(place, found, &messages);
    }

    /// Reports what an idle poll has found, with what was noted in it and the unexpected messages, if it is asked.
    pub(crate) fn report_noted(
        &mut self,
        place: WaitPlace,
        found: PollState,
        unexpected: &[Envelope],
    ) {
        self.wait_reports.is_reporting = false;
        let is_asked = std::mem::take(&mut self.wait_reports.is_asked);
        let mut awaited = self.wait_reports.awaited.take();
        if awaited.is_empty() {
            awaited = self.wait_reports.started.take();
        }
        let terms = self.wait_reports.terms.as_deref();
        let mut remarks = describe_unexpected(unexpected.iter(), terms);
        remarks.extend(terms.filter(|_| is_asked).into_iter().flat_map(WaitTerms::remarks));
        self.publish_wait(place, found, is_asked.then_some(&awaited), remarks);
    }

    /// Publishes what a poll of a wait has found, once all waits of this rank have polled, and answers the launcher's
    /// question, once all of them have been `asked` what they await.
    fn publish_wait(
        &mut self,
        place: WaitPlace,
        mut found: PollState,
        asked: Option<&Vec<Awaited>>,
        mut remarks: Vec<String>,
    ) {
        let note = self.segment.block(self.me).wait_note();
        let question = note.question();
        let reports = &mut self.wait_reports;
        let terms = reports.terms.as_deref();
        if let (Some(question), Some(awaited)) = (question, asked) {
            if std::mem::replace(&mut reports.question, question) != question {
                reports.answers.clear();
            }
            reports.answers.retain(|(wait, _)| *wait != place.wait);
            reports.answers.push((place.wait, answer(awaited, terms)));
        }
        if !place.have_all_polled {
            return;
        }
        let mut hasher = DefaultHasher::new();
        found.state.hash(&mut hasher);
        for ends in &reports.other_ends {
            let ruled_out = ends.ruled_out();
            found.may_end_otherwise |= ruled_out.is_none();
            ruled_out.hash(&mut hasher);
        }
        found.state = hasher.finish();
        note.report(found);
        if let Some(question) = question
            && question == reports.question
            && reports.answers.len() >= place.waits
        {
            remarks.extend(reports.other_ends.iter().filter_map(|ends| ends.describe()));
            let waits = reports.answers.drain(..).map(|(_, answer)| answer).collect();
            note.answer(question, &Answer { waits, remarks });
        }
    }

    /// Answers the launcher's question what this rank waits for in its only wait, and which messages are unexpected.
    pub(crate) fn answer(&self, awaited: &[Awaited], unexpected: &[Envelope]) {
        let note = self.segment.block(self.me).wait_note();
        let Some(question) = note.question() else { return };
        let terms = self.wait_reports.terms.as_deref();
        let mut remarks = describe_unexpected(unexpected.iter(), terms);
        remarks.extend(terms.into_iter().flat_map(WaitTerms::remarks));
        note.answer(question, &Answer { waits: vec![answer(awaited, terms)], remarks });
    }

    /// Declares that a long wait is over.
    #[cold]
    pub(crate) fn end_long_wait(&mut self) {
        self.wait_reports.is_reporting = false;
        self.wait_reports.is_asked = false;
        self.wait_reports.answers.clear();
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

/// Returns the state of both fabrics. Without a poll of the other one, something may have arrived there.
fn with_outside(own: PollState, outside: Option<PollState>) -> PollState {
    let Some(outside) = outside else { return PollState { may_end_otherwise: true, ..own } };
    let mut hasher = DefaultHasher::new();
    (own.state, outside.state).hash(&mut hasher);
    PollState { state: hasher.finish(), ..outside }
}

/// Returns what the active call of this thread waits for.
fn answer(awaited: &[Awaited], terms: Option<&dyn WaitTerms>) -> AnsweredWait {
    let callers = callers::find();
    let mut lines: Vec<String> = awaited.iter().map(|one| one.describe(terms)).collect();
    // Several messages may be one thing in these terms.
    lines.dedup();
    let more = lines.len().saturating_sub(NAMED);
    lines.truncate(NAMED);
    if more > 0 {
        lines.push(format!("and for {more} more"));
    }
    AnsweredWait { call: callers.call, callers: callers.addresses, lines }
}
