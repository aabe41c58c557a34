//! Reports of long waits, which the inner fabric sends to the launcher of this host.

use std::rc::Rc;

use contract::{Awaited, LongWaits, OtherEnds, RememberedCall, WaitPlace, WaitTerms};

use crate::ClusterEndpoint;

impl LongWaits for ClusterEndpoint {
    fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        self.inner_mut().expect_other_ends(ends);
    }

    fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        self.inner_mut().describe_waits_in(terms);
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        self.inner().remember_call()
    }

    fn begin_wait_report(&mut self) {
        self.inner_mut().begin_wait_report();
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        self.inner().note_sole_awaited_outside(awaited);
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.note_outer_state();
        self.inner_mut().report_wait(place);
    }

    fn end_wait_reports(&mut self) {
        self.inner_mut().end_wait_reports();
    }
}
