//! Reports of a long wait to the launcher, if that is on the same host.

use std::cell::RefCell;
use std::rc::Rc;

use contract::{
    AWAITED_MAX, Awaited, OtherEnds, Request, Selector, WaitPlace, describe_unexpected,
};
use fabric_shm::PollState;

use super::operation::Operation;
use super::{Connection, Engine};

/// The engine's reports of its long waits.
#[derive(Default)]
pub(super) struct WaitReports {
    /// True if the launcher asks what this rank waits for.
    pub(super) is_asked: bool,
    awaited: RefCell<Vec<Awaited>>,
}

impl Engine {
    /// Excludes the waits of this rank from those that can be proved endless, unless `ends` rules itself out.
    pub(crate) fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        if let Some(launcher) = self.supervision.launcher() {
            launcher.expect_other_ends_outside(ends);
        }
    }

    /// Notes an operation that this rank waits for, if the launcher asks.
    pub(crate) fn note_request(&self, request: Request) {
        if self.wait_reports.is_asked && !self.is_done(request) {
            self.note(self.awaited_by(request));
        }
    }

    /// Returns what an operation that is not done waits for.
    pub(crate) fn awaited_by(&self, request: Request) -> Awaited {
        match self.operations.get(request) {
            Operation::Send(send) => Awaited::Receive { to: send.to, envelope: send.envelope },
            Operation::Receive(receive) => match receive.envelope {
                Some(envelope) => Awaited::Data(envelope),
                None => Awaited::Message(receive.selector),
            },
        }
    }

    /// Notes a message that is probed for, if the launcher asks.
    pub(crate) fn note_probe(&self, selector: Selector) {
        if self.wait_reports.is_asked {
            self.note(Awaited::Message(selector));
        }
    }

    /// Notes something once, however many requests wait for the same.
    fn note(&self, awaited: Awaited) {
        let mut all = self.wait_reports.awaited.borrow_mut();
        if all.len() < AWAITED_MAX && !all.contains(&awaited) {
            all.push(awaited);
        }
    }

    /// Prepares for [`report_wait`](Engine::report_wait): from here on awaited operations are noted, if the launcher
    /// asks.
    pub(crate) fn begin_report(&mut self) {
        self.wait_reports.awaited.borrow_mut().clear();
        let launcher = self.supervision.launcher();
        self.wait_reports.is_asked = launcher.is_some_and(|one| one.is_asked_what_it_awaits());
    }

    /// Reports that a sleep for everything has run out.
    pub(crate) fn report_wait(&mut self, place: WaitPlace) {
        let is_asked = std::mem::take(&mut self.wait_reports.is_asked);
        let awaited = self.wait_reports.awaited.take();
        let connections = || self.peers.iter().flatten();
        let sum = |index: usize| connections().map(|one| one.traffic[index]).sum();
        let queued = connections().filter(|one| Connection::has_outgoing(one)).count() as u64;
        let (receives, messages) = self.matching.waiting();
        let counts = (receives as u64) << 20 ^ (messages as u64) << 40 ^ queued << 60;
        let found = PollState {
            state: self.activity ^ counts,
            sent_bytes: sum(0),
            received_bytes: sum(1),
            may_end_otherwise: false,
        };
        let remarks = match is_asked {
            true => describe_unexpected(self.matching.unexpected()),
            false => Vec::new(),
        };
        if let Some(launcher) = self.supervision.launcher() {
            launcher.report_wait_of(place, found, is_asked.then_some(&awaited), remarks);
        }
    }

    /// Declares that a long wait is over.
    pub(crate) fn end_long_wait(&mut self) {
        self.wait_reports.is_asked = false;
        if let Some(launcher) = self.supervision.launcher() {
            launcher.end_long_wait();
        }
    }
}
