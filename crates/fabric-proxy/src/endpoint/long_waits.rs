//! Reports of long waits to the launcher of this process, which answers by itself.

use std::rc::Rc;

use contract::{Awaited, LongWaits, RememberedCall, WaitTerms};

use super::ProxyEndpoint;

impl LongWaits for ProxyEndpoint {
    fn describe_waits_in(&mut self, terms: Rc<dyn WaitTerms>) {
        if let Some(launched) = &mut *self.caller.launched_mut() {
            launched.describe_waits_in(terms);
        }
    }

    fn remember_call(&self) -> Option<RememberedCall> {
        self.caller.launched().as_ref()?.remember_call()
    }

    fn note_sole_awaited(&self, awaited: Awaited) {
        if self.telling.get() {
            *self.awaited.borrow_mut() = vec![awaited];
        }
    }
}
