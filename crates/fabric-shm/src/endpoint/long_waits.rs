//! Reports of long waits to the launcher.

use std::rc::Rc;

use contract::{Awaited, LongWaits, OtherEnds, RememberedCall, WaitPlace, WaitTerms};

use super::ShmEndpoint;
use crate::callers;

impl LongWaits for ShmEndpoint {
    fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        self.engine.expect_other_ends(ends);
    }

    fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        self.engine.describe_waits_in(terms);
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        Some(Box::new(callers::remember()))
    }

    fn begin_wait_report(&mut self) {
        self.engine.begin_report();
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        if self.engine.is_asked() {
            self.engine.forget_awaited();
            self.engine.note_awaited(|| awaited);
        }
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }

    fn end_wait_reports(&mut self) {
        self.engine.end_long_wait();
    }
}
