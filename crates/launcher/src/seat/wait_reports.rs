//! Reports to the launcher about a long wait, which every fabric makes in the same way.
//!
//! A wait that has become long [begins](Seat::begin_wait_report) a report, polls for everything, and
//! [reports](Seat::report_wait) what the poll has found. While the launcher asks, the check whether the wait is over is
//! made once more, and [notes](Seat::note_awaited) each thing that it waits for.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use contract::{
    AWAITED_MAX, Awaited, Envelope, OtherEnds, RememberedCall, WaitPlace, WaitReports, WaitTerms,
    describe_unexpected,
};

use super::Seat;
use crate::callers;
use crate::page::{Answer, AnsweredWait, PollState, WaitNote};

/// Maximum number of items that a rank says it waits for; a program may wait for thousands.
const NAMED: usize = 6;

/// A rank's reports of its long waits.
#[derive(Default)]
pub(super) struct Waits {
    /// True if the launcher asks what this rank waits for.
    is_requested: Cell<bool>,
    /// True between the beginning of a report and its end.
    is_reporting: Cell<bool>,
    /// True if that report is of polls of the program, which is in no wait.
    is_of_program: Cell<bool>,
    /// What else than messages and collectives may end a wait.
    other_ends: RefCell<Vec<Rc<dyn OtherEnds>>>,
    /// The terms in which the face describes waits.
    terms: RefCell<Option<Rc<dyn WaitTerms>>>,
    /// The launcher's question that `answers` answer, and the answers about the waits of the threads, by their numbers.
    question: Cell<u32>,
    answers: RefCell<Vec<(u64, AnsweredWait)>>,
    awaited: RefCell<Vec<Awaited>>,
    /// Events for which started collectives wait, even if this rank does not wait for these collectives.
    started: RefCell<Vec<Awaited>>,
}

impl Seat {
    fn note(&self) -> &WaitNote {
        self.memory.rank_page(self.rank).wait_note()
    }

    /// Returns whether the launcher asks what this rank waits for.
    pub fn must_report_wait(&self) -> bool {
        self.note().question().is_some()
    }

    /// Returns whether the poll in progress notes what this rank waits for: then a wait checks each of its requests.
    #[inline]
    pub fn is_noting_waits(&self) -> bool {
        self.waits.is_requested.get()
    }

    /// Returns whether a report is in progress.
    #[inline]
    pub fn is_reporting(&self) -> bool {
        self.waits.is_reporting.get()
    }

    /// Prepares for the poll whose result [`report_wait`](Seat::report_wait) reports.
    pub fn begin_wait_report(&self) {
        self.forget_awaited();
        self.waits.started.borrow_mut().clear();
        self.waits.is_requested.set(self.must_report_wait());
        self.waits.is_reporting.set(true);
        self.waits.is_of_program.set(false);
    }

    /// Notes something that this rank waits for, if the poll in progress [notes](Seat::is_noting_waits) anything.
    #[inline]
    pub fn note_awaited(&self, awaited: impl FnOnce() -> Awaited) {
        if self.is_noting_waits() {
            self.add_awaited(awaited());
        }
    }

    #[cold]
    fn add_awaited(&self, awaited: Awaited) {
        let mut all = self.waits.awaited.borrow_mut();
        if all.len() < AWAITED_MAX && !all.contains(&awaited) {
            all.push(awaited);
        }
    }

    /// As [`note_awaited`](Seat::note_awaited), for a started collective.
    pub fn note_started(&self, awaited: impl FnOnce() -> Awaited) {
        if self.is_noting_waits() {
            self.waits.started.borrow_mut().push(awaited());
        }
    }

    /// Forgets what was noted in the report in progress.
    fn forget_awaited(&self) {
        self.waits.awaited.borrow_mut().clear();
    }

    /// Reports what an idle poll of the only wait of this rank has found, of which nothing was noted.
    pub fn report_idle_poll(&self, found: PollState) {
        self.publish_wait(WaitPlace::ALONE, found, None, Vec::new());
    }

    /// Reports what an idle poll has found, with what was noted in it. `unexpected` are the messages that no receive
    /// matches, which are asked for only if the poll [notes](Seat::is_noting_waits) anything.
    pub fn report_wait(
        &self,
        place: WaitPlace,
        found: PollState,
        unexpected: impl FnOnce() -> Vec<Envelope>,
    ) {
        let unexpected = if self.is_noting_waits() { unexpected() } else { Vec::new() };
        self.waits.is_reporting.set(false);
        let is_requested = self.waits.is_requested.take();
        let mut awaited = self.waits.awaited.take();
        if awaited.is_empty() {
            awaited = self.waits.started.take();
        }
        let terms = self.waits.terms.borrow();
        let terms = terms.as_deref();
        let mut remarks = describe_unexpected(unexpected.iter(), terms);
        remarks.extend(terms.filter(|_| is_requested).into_iter().flat_map(WaitTerms::remarks));
        let wait = is_requested.then(|| describe(&awaited, terms));
        self.publish_wait(place, found, wait, remarks);
    }

    /// Publishes what a poll of a wait has found, once all waits of this rank have polled, and answers the launcher's
    /// question, once all of them have said what they await.
    fn publish_wait(
        &self,
        place: WaitPlace,
        mut found: PollState,
        wait: Option<AnsweredWait>,
        mut remarks: Vec<String>,
    ) {
        let question = self.note().question();
        let mut answers = self.waits.answers.borrow_mut();
        if let (Some(question), Some(wait)) = (question, wait) {
            if self.waits.question.replace(question) != question {
                answers.clear();
            }
            answers.retain(|(wait, _)| *wait != place.wait);
            answers.push((place.wait, wait));
        }
        if !place.have_all_polled {
            return;
        }
        let other_ends = self.waits.other_ends.borrow();
        let mut hasher = DefaultHasher::new();
        found.state.hash(&mut hasher);
        for ends in &*other_ends {
            let ruled_out = ends.ruled_out();
            found.may_end_otherwise |= ruled_out.is_none();
            ruled_out.hash(&mut hasher);
        }
        found.state = hasher.finish();
        // A program that polls may do anything else instead.
        found.is_of_program = self.waits.is_of_program.take();
        found.may_end_otherwise |= found.is_of_program;
        self.note().report(found);
        if let Some(question) = question
            && question == self.waits.question.get()
            && answers.len() >= place.waits
        {
            remarks.extend(other_ends.iter().filter_map(|ends| ends.describe()));
            let waits = answers.drain(..).map(|(_, wait)| wait).collect();
            self.note().answer(question, &Answer { waits, remarks });
        }
    }

    /// Declares that a long wait is over.
    #[cold]
    pub fn end_wait_reports(&self) {
        self.waits.is_reporting.set(false);
        self.waits.is_requested.set(false);
        self.waits.answers.borrow_mut().clear();
        self.note().end();
    }
}

impl WaitReports for Seat {
    fn expect_other_ends(&self, ends: Rc<dyn OtherEnds>) {
        self.waits.other_ends.borrow_mut().push(ends);
    }

    fn describe_waits_in(&self, terms: Rc<dyn WaitTerms>) {
        *self.waits.terms.borrow_mut() = Some(terms);
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        Some(Box::new(callers::remember()))
    }

    fn begin(&self) {
        self.begin_wait_report();
    }

    fn begin_of_program(&self) {
        self.begin_wait_report();
        self.waits.is_of_program.set(true);
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        if self.is_noting_waits() {
            self.forget_awaited();
            self.add_awaited(awaited);
        }
    }

    fn end(&self) {
        self.end_wait_reports();
    }
}

/// Returns what the active call of this thread waits for.
fn describe(awaited: &[Awaited], terms: Option<&dyn WaitTerms>) -> AnsweredWait {
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
