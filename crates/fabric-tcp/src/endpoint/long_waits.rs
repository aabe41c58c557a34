//! Reports of long waits to the launcher of this host.

use std::rc::Rc;

use contract::{Awaited, LongWaits, OtherEnds, RememberedCall, WaitPlace, WaitTerms};

use super::TcpEndpoint;

impl LongWaits for TcpEndpoint {
    fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        if let Some(here) = self.launched_mut() {
            here.expect_other_ends(ends);
        }
    }

    fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        if let Some(here) = self.launched_mut() {
            here.describe_waits_in(terms);
        }
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        self.launched()?.remember_call()
    }

    fn begin_wait_report(&mut self) {
        self.engine.begin_report();
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        if let Some(here) = self.launched() {
            here.note_sole_awaited_outside(awaited);
        }
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }

    fn end_wait_reports(&mut self) {
        self.engine.end_long_wait();
    }
}
