//! Activities that advance whenever a process makes progress.

use std::cell::RefCell;
use std::rc::Rc;

use contract::{LongWaits, Request};

use crate::error::Result;

/// An operation of several messages in progress.
pub(crate) trait Activity<E> {
    /// Advances as far as possible.
    fn advance(&self, endpoint: &mut E);

    /// Returns whether it has ended, well or not.
    fn has_ended(&self) -> bool;

    /// Returns a message of it that can never complete because the rank that it needs has left.
    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Request>;

    /// Returns its outcome; called once.
    fn take_outcome(&self) -> Result;

    /// Returns the number of its context.
    fn context(&self) -> u32;
}

/// A request that nobody waits for any more, whose memory is needed until it ends.
pub(crate) trait Orphan<E> {
    /// Returns whether it has ended.
    fn has_ended(&self, endpoint: &E) -> bool;

    /// Handles the end.
    fn handle_end(&self, endpoint: &mut E);
}

/// The activities in progress.
pub(super) struct Activities<E>(RefCell<Vec<Rc<dyn Activity<E>>>>);

impl<E> Default for Activities<E> {
    fn default() -> Self {
        Activities(RefCell::default())
    }
}

impl<E> Activities<E> {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(super) fn add(&self, activity: Rc<dyn Activity<E>>) {
        self.0.borrow_mut().push(activity);
    }

    /// Advances all activities.
    #[inline]
    pub(super) fn advance(&self, endpoint: &mut E) {
        if !self.is_empty() {
            self.advance_each(endpoint);
        }
    }

    #[cold]
    fn advance_each(&self, endpoint: &mut E) {
        // A user's operation may start another, so the list must not be borrowed meanwhile.
        let at = |index: usize| self.0.borrow().get(index).cloned();
        let (mut index, mut has_any_ended) = (0, false);
        while let Some(activity) = at(index) {
            activity.advance(endpoint);
            has_any_ended |= activity.has_ended();
            index += 1;
        }
        if has_any_ended {
            self.0.borrow_mut().retain(|activity| !activity.has_ended());
        }
    }
}
