//! Reports of long waits to the launcher of this host.

use std::rc::Rc;

use contract::{
    Awaited, LongWaits, OtherEnds, RememberedCall, Request, Selector, WaitPlace, WaitTerms,
};
use fabric_shm::ShmEndpoint;

use super::OfiEndpoint;

impl OfiEndpoint {
    /// Returns the rank of the launcher of this host.
    fn reporting(&self) -> Option<&ShmEndpoint> {
        self.launched.as_ref().map(|here| &here.endpoint).or(self.outer.launched())
    }

    pub(super) fn reporting_mut(&mut self) -> Option<&mut ShmEndpoint> {
        match &mut self.launched {
            Some(here) => Some(&mut here.endpoint),
            None => self.outer.launched_mut(),
        }
    }

    /// Returns whether the poll in progress notes what this rank waits for.
    pub(super) fn is_noting_waits(&self) -> bool {
        self.reporting().is_some_and(ShmEndpoint::is_noting_waits)
    }

    /// Notes in such a poll what a request waits for.
    pub(super) fn note_request(&self, request: Request) {
        if self.is_noting_waits()
            && let Some(awaited) = self.engine.awaited_by(request)
        {
            self.note(awaited);
        }
    }

    /// Notes in such a poll a message that is probed for.
    pub(super) fn note_probe(&self, selector: Selector) {
        if self.is_noting_waits() {
            self.note(Awaited::Message(selector));
        }
    }

    fn note(&self, awaited: Awaited) {
        if let Some(here) = self.reporting() {
            here.note_awaited_outside(awaited);
        }
    }
}

impl LongWaits for OfiEndpoint {
    fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        if let Some(here) = self.reporting_mut() {
            here.expect_other_ends(ends);
        }
    }

    fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        if let Some(here) = self.reporting_mut() {
            here.describe_waits_in(terms);
        }
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        self.reporting()?.remember_call()
    }

    fn begin_wait_report(&mut self) {
        self.reporting_mut().into_iter().for_each(LongWaits::begin_wait_report);
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        if let Some(here) = self.reporting() {
            here.note_sole_awaited_outside(awaited);
        }
    }

    fn report_wait(&mut self, place: WaitPlace) {
        let found = self.poll_state();
        let unexpected = match self.is_noting_waits() {
            true => self.engine.unexpected(),
            false => Vec::new(),
        };
        if let Some(here) = self.reporting_mut() {
            here.report_noted_wait(place, found, &unexpected);
        }
    }

    fn end_wait_reports(&mut self) {
        self.reporting_mut().into_iter().for_each(LongWaits::end_wait_reports);
    }
}
