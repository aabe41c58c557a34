//! Waits, during which all activities advance.

use std::rc::Rc;

use contract::{CollectiveCall, ContextPlace, Endpoint, LongWaits, Request, give_up_on};

use super::{Activity, Engine, Orphan};
use crate::error::Result;

/// The outcome of a poll of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// The wait is over.
    End,
    /// A message that can never come or go.
    Unsatisfiable(Request),
}

impl<E: Endpoint> Engine<E> {
    /// Returns whether no activity is in progress, and no other thread may want to enter: then a blocking call of the
    /// endpoint may wait by itself.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.activities.is_empty() && !self.has_other_threads()
    }

    /// Makes progress on everything until `done` returns true. It is called after every poll, may use the endpoint, and
    /// must not wait.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn wait_until(&self, done: &mut dyn FnMut(&mut E) -> bool) -> Result {
        self.wait_for(done, &|_| None)
    }

    /// As [`wait_until`](Engine::wait_until), and fails once `unsatisfiable` returns a message that the wait needs and
    /// that a rank which has left can never send or receive.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn wait_for(
        &self,
        done: &mut dyn FnMut(&mut E) -> bool,
        unsatisfiable: &dyn Fn(&mut dyn LongWaits) -> Option<Request>,
    ) -> Result {
        match self.others.get() {
            None => self.wait_for_a_turn(done, unsatisfiable, &mut || false).map(drop),
            Some(&others) => self.wait_in_turns(others, done, unsatisfiable),
        }
    }

    /// As [`wait_for`](Engine::wait_for), until `is_over` ends it. Returns whether `done` has returned true.
    #[inline(always)]
    pub(super) fn wait_for_a_turn(
        &self,
        done: &mut dyn FnMut(&mut E) -> bool,
        unsatisfiable: &dyn Fn(&mut dyn LongWaits) -> Option<Request>,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<bool> {
        let mut endpoint = self.endpoint()?;
        let mut found = Found::Nothing;
        endpoint.wait_until(&mut |endpoint| {
            found = self.check_wait(endpoint, done, unsatisfiable);
            found != Found::Nothing || is_over()
        })?;
        match found {
            Found::Unsatisfiable(request) => Err(give_up_on(&mut *endpoint, request).into()),
            found => Ok(found == Found::End),
        }
    }

    /// Advances everything after a poll, and checks whether a wait has ended or never can.
    #[inline(always)]
    pub(super) fn check_wait(
        &self,
        endpoint: &mut E,
        done: &mut dyn FnMut(&mut E) -> bool,
        unsatisfiable: &dyn Fn(&mut dyn LongWaits) -> Option<Request>,
    ) -> Found {
        self.activities.advance(endpoint);
        if done(endpoint) {
            return Found::End;
        }
        if let Some(waits) = endpoint.long_waits()
            && waits.any_has_left()
            && let Some(found) = unsatisfiable(waits)
        {
            // What the rank sent before it left may have arrived since the last poll, so it must still be unsatisfiable
            // after a poll that begins now. A failure of this poll shows in the next.
            let looked = endpoint.progress(None);
            let again = endpoint.long_waits().and_then(unsatisfiable);
            let again = again.filter(|&again| again == found);
            if let Some(request) = again.filter(|_| looked.is_ok() && !done(endpoint)) {
                return Found::Unsatisfiable(request);
            }
        }
        Found::Nothing
    }

    /// Polls once for everything in progress.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn progress(&self) -> Result {
        let mut endpoint = self.endpoint()?;
        endpoint.progress(None)?;
        self.activities.advance(&mut endpoint);
        Ok(())
    }

    /// Starts an activity.
    ///
    /// # Errors
    /// As for [`endpoint`](Engine::endpoint).
    pub(crate) fn start(&self, activity: &Rc<impl Activity<E> + 'static>) -> Result {
        activity.advance(&mut *self.endpoint()?);
        if !activity.has_ended() {
            self.add(activity.clone());
        }
        Ok(())
    }

    /// Adds an activity that advances from now on.
    pub(crate) fn add(&self, activity: Rc<dyn Activity<E>>) {
        self.activities.add(activity);
    }

    /// Lets the fabric carry out a collective. Returns `None` if it leaves that to messages.
    #[inline(always)]
    pub(crate) fn collective(
        &self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
    ) -> Option<Result> {
        // A user's operation that calls back gets here while the endpoint is in use, and gets an error.
        let mut endpoint = match self.endpoint() {
            Ok(endpoint) => endpoint,
            Err(error) => return Some(Err(error)),
        };
        let outcome =
            endpoint.collective(place, call, &mut |endpoint| self.activities.advance(endpoint))?;
        Some(outcome.map_err(Into::into))
    }

    /// Keeps a request that nobody waits for any more until it has ended.
    ///
    /// # Errors
    /// As for [`endpoint`](Engine::endpoint).
    pub(crate) fn adopt(&self, orphan: Box<dyn Orphan<E>>) -> Result {
        self.orphans.borrow_mut().push(orphan);
        self.release_orphans()
    }

    /// Frees the orphans that have ended.
    ///
    /// # Errors
    /// As for [`endpoint`](Engine::endpoint).
    pub(crate) fn release_orphans(&self) -> Result {
        if self.orphans.borrow().is_empty() {
            return Ok(());
        }
        let mut endpoint = self.endpoint()?;
        self.orphans.borrow_mut().retain(|orphan| {
            let ended = orphan.has_ended(&endpoint);
            if ended {
                orphan.handle_end(&mut endpoint);
            }
            !ended
        });
        Ok(())
    }

    /// Waits for the orphans.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn finish_orphans(&self) -> Result {
        let orphans = self.orphans.take();
        self.wait_until(&mut |endpoint| orphans.iter().all(|one| one.has_ended(endpoint)))
    }
}
