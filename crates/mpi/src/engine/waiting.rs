//! Waiting, while everything that is under way goes on.

use std::rc::Rc;

use contract::{CollectiveCall, ContextPlace, Endpoint, Request};

use super::{Activity, Engine, Orphan};
use crate::error::Result;

impl<E: Endpoint> Engine<E> {
    /// Returns whether no activity is under way, and no other thread may want to get in: then a blocking call of the
    /// endpoint may wait by itself.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.activities.is_empty() && !self.has_other_threads()
    }

    /// Runs everything that is under way until `done` says so. It is asked after every look at what has arrived, may use
    /// the endpoint, and must not wait.
    ///
    /// # Errors
    /// Those that end the run.
    pub fn wait_until(&self, done: &mut dyn FnMut(&mut E) -> bool) -> Result {
        self.wait_for(done, &|_| None)
    }

    /// The same, and fails once `hopeless` names a message without which there is no end, and that a rank which has left
    /// will never send or take.
    ///
    /// # Errors
    /// Those that end the run.
    pub fn wait_for(
        &self,
        done: &mut dyn FnMut(&mut E) -> bool,
        hopeless: &dyn Fn(&E) -> Option<Request>,
    ) -> Result {
        match self.others.get() {
            None => self.wait_for_a_turn(done, hopeless, &mut || false).map(drop),
            Some(&others) => self.wait_in_turns(others, done, hopeless),
        }
    }

    /// The same until `is_over` ends it; returns whether `done` has.
    #[inline(always)]
    pub(super) fn wait_for_a_turn(
        &self,
        done: &mut dyn FnMut(&mut E) -> bool,
        hopeless: &dyn Fn(&E) -> Option<Request>,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<bool> {
        let mut endpoint = self.endpoint()?;
        let (mut lost, mut is_done) = (None, false);
        endpoint.wait_until(&mut |endpoint| {
            self.activities.advance(endpoint);
            is_done = done(endpoint);
            if is_done {
                return true;
            }
            if endpoint.any_has_left()
                && let Some(found) = hopeless(endpoint)
            {
                // What the rank sent before it left may have arrived since the last look, so it must still be hopeless after
                // a look that begins now. A failure of this look shows in the next.
                let looked = endpoint.progress();
                let again = hopeless(endpoint).filter(|&again| again == found);
                lost = again.filter(|_| looked.is_ok() && !done(endpoint));
            }
            lost.is_some() || is_over()
        })?;
        match lost {
            Some(request) => Err(endpoint.give_up_on(request).into()),
            None => Ok(is_done),
        }
    }

    /// One look at everything that is under way.
    ///
    /// # Errors
    /// Those that end the run.
    pub fn progress(&self) -> Result {
        let mut endpoint = self.endpoint()?;
        endpoint.progress()?;
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

    /// Goes on with an activity from now on.
    pub(crate) fn add(&self, activity: Rc<dyn Activity<E>>) {
        self.activities.add(activity);
    }

    /// Has the fabric carry out a collective; `None` if it leaves that to messages.
    #[inline(always)]
    pub(crate) fn collective(
        &self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
    ) -> Option<Result> {
        // A user's operation that calls back comes here while the endpoint is held, and is told so.
        let mut endpoint = match self.endpoint() {
            Ok(endpoint) => endpoint,
            Err(error) => return Some(Err(error)),
        };
        let outcome =
            endpoint.collective(place, call, &mut |endpoint| self.activities.advance(endpoint))?;
        Some(outcome.map_err(Into::into))
    }

    /// Keeps what nobody waits for any more until it has ended.
    ///
    /// # Errors
    /// As for [`endpoint`](Engine::endpoint).
    pub(crate) fn adopt(&self, orphan: Box<dyn Orphan<E>>) -> Result {
        self.orphans.borrow_mut().push(orphan);
        self.settle_orphans()
    }

    /// Forgets the orphans that have ended.
    ///
    /// # Errors
    /// As for [`endpoint`](Engine::endpoint).
    pub(crate) fn settle_orphans(&self) -> Result {
        if self.orphans.borrow().is_empty() {
            return Ok(());
        }
        let mut endpoint = self.endpoint()?;
        self.orphans.borrow_mut().retain(|orphan| {
            let ended = orphan.has_ended(&endpoint);
            if ended {
                orphan.settle(&mut endpoint);
            }
            !ended
        });
        Ok(())
    }

    /// Waits for the orphans, but for those that only the program can end, which it may never do.
    ///
    /// # Errors
    /// Those that end the run.
    pub(crate) fn finish_orphans(&self) -> Result {
        let orphans = self.orphans.take();
        self.wait_until(&mut |endpoint| {
            orphans.iter().filter(|one| one.is_waited_for()).all(|one| one.has_ended(endpoint))
        })
    }
}
