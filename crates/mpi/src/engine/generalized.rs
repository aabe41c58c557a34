//! Requests that the program itself completes, which may end a wait although no message arrives.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use contract::{Endpoint, OtherEnds, wait_reports};

use super::Engine;
use crate::error::Result;
use crate::status::Status;

/// A request that the program itself completes.
pub trait Generalized {
    /// Returns whether the program has completed it.
    fn is_complete(&self) -> bool;

    /// Returns its status, after its completion.
    fn status(&self) -> (Status, Result);

    /// Called when the request is freed after its completion. If it was freed before, whoever completes it calls this.
    ///
    /// # Errors
    /// Any error that the program chooses.
    fn release(&self) -> Result;

    /// Called when cancellation is requested.
    ///
    /// # Errors
    /// Any error that the program chooses.
    fn cancel(&self) -> Result;
}

/// The generalized requests of a process that are not complete.
#[derive(Default)]
pub(super) struct OpenGeneralized(RefCell<Vec<Weak<dyn Generalized>>>);

fn is_open(request: &Weak<dyn Generalized>) -> bool {
    request.upgrade().is_some_and(|one| !one.is_complete())
}

impl OpenGeneralized {
    /// Records a request. Those that are complete are forgotten before the list grows: even a weak pointer keeps the
    /// memory of its request.
    fn add(&self, request: &Rc<dyn Generalized>) {
        let mut open = self.0.borrow_mut();
        if open.len() == open.capacity() {
            open.retain(is_open);
        }
        open.push(Rc::downgrade(request));
    }

    fn are_any(&self) -> bool {
        self.0.borrow().iter().any(is_open)
    }
}

impl OtherEnds for OpenGeneralized {
    fn ruled_out(&self) -> Option<u64> {
        (!self.are_any()).then_some(0)
    }

    fn describe(&self) -> Option<String> {
        self.are_any().then(|| "the program may still complete a generalized request".into())
    }
}

impl<E: Endpoint> Engine<E> {
    /// Records that the program may complete a request in any thread, which no wait for it can rule out.
    pub(crate) fn note_generalized(&self, request: &Rc<dyn Generalized>) {
        if self.generalized.get().is_none() {
            // Inside a call that uses the endpoint no request of this kind is waited for. A later request tries again.
            let Ok(mut endpoint) = self.endpoint() else { return };
            let open = self.generalized.get_or_init(Rc::default);
            if let Some(reports) = wait_reports(&mut *endpoint) {
                reports.expect_other_ends(open.clone());
            }
        }
        if let Some(open) = self.generalized.get() {
            open.add(request);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Request(Cell<bool>);

    impl Generalized for Request {
        fn is_complete(&self) -> bool {
            self.0.get()
        }

        fn status(&self) -> (Status, Result) {
            (Status::empty(), Ok(()))
        }

        fn release(&self) -> Result {
            Ok(())
        }

        fn cancel(&self) -> Result {
            Ok(())
        }
    }

    #[test]
    fn complete_requests_take_no_memory() {
        let open = OpenGeneralized::default();
        for _ in 0..10_000 {
            let request: Rc<dyn Generalized> = Rc::new(Request(Cell::new(true)));
            open.add(&request);
        }
        assert!(open.0.borrow().len() <= 64, "{}", open.0.borrow().len());
    }

    #[test]
    fn only_requests_that_exist_and_are_not_complete_may_end_a_wait() {
        let requests = [false; 2].map(|done| Rc::new(Request(Cell::new(done))));
        let open = OpenGeneralized::default();
        assert_eq!(open.ruled_out(), Some(0));
        for request in &requests {
            let request: Rc<dyn Generalized> = request.clone();
            open.add(&request);
        }
        assert_eq!(open.ruled_out(), None);
        requests[0].0.set(true);
        assert_eq!((open.ruled_out(), open.describe().is_some()), (None, true));
        drop(requests);
        assert_eq!((open.ruled_out(), open.describe()), (Some(0), None));
    }
}
