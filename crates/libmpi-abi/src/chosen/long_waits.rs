//! Reports of long waits, which go to the launcher by the fabric.

use std::rc::Rc;

use contract::{Awaited, LongWaits, OtherEnds, RememberedCall, WaitPlace, WaitTerms};

use super::pointer::{Chosen, Fabric, rare, with};

impl LongWaits for Chosen {
    fn expect_other_ends(&mut self, ends: Rc<dyn OtherEnds>) {
        with!(self, mut endpoint => endpoint.expect_other_ends(ends));
    }

    fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        with!(self, mut endpoint => endpoint.describe_waits_in(terms));
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        with!(self, endpoint => endpoint.remember_call())
    }

    fn begin_wait_report(&mut self) {
        with!(self, mut endpoint => endpoint.begin_wait_report());
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        with!(self, endpoint => endpoint.note_sole_awaited(awaited));
    }

    fn report_wait(&mut self, place: WaitPlace) {
        with!(self, mut endpoint => endpoint.report_wait(place));
    }

    fn end_wait_reports(&mut self) {
        with!(self, mut endpoint => endpoint.end_wait_reports());
    }
}
