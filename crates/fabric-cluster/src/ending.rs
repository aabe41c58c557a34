//! The end of a rank's participation.

use contract::{Endpoint, Error, Result};

use crate::ClusterEndpoint;

impl ClusterEndpoint {
    /// Declares that this rank sends no messages of its own any more, after all that it has sent is in transit.
    pub(crate) fn leave_once(&mut self) -> Result<()> {
        if self.rest().has_left {
            return Ok(());
        }
        self.rest_mut().has_left = true;
        self.wait_for(self.share_of_both(), &mut |this| !this.inner().has_queued())?;
        let left = self.inner_mut().leave();
        left.map_err(|error| self.outer_error(error))?;
        self.rest_mut().outer.leave()
    }

    /// Completes what is in progress on both sides, and waits until all ranks have: no connection is closed, and no
    /// memory is released, while another rank needs it.
    fn end_together(&mut self) -> Result<()> {
        self.leave_once()?;
        let share = self.share_of_both();
        self.wait_for(share, &mut |this| {
            !this.inner().is_sending() && !this.rest().outer.is_sending()
        })?;
        self.rest_mut().outer.begin_goodbye()?;
        self.wait_for(share, &mut |this| !this.rest().outer.is_telling())?;
        self.rest_mut().outer.say_goodbye()?;
        self.wait_for(share, &mut |this| this.rest().outer.is_through())
    }

    /// Returns why the run ended for this rank, if another rank caused that.
    fn end_by_another(&self) -> Option<Error> {
        let of_host =
            self.inner().seat().abort_reason().map(|error| self.rest().places.outer_error(error));
        let known = of_host.or_else(|| self.rest().outer.failure());
        known.filter(Error::is_by_another)
    }

    /// Ends this rank's part of the run in both fabrics, and returns the status of its process.
    pub(crate) fn end_run(mut self, outcome: Result<()>) -> i32 {
        // The program's report of another rank's death must not hide its cause, which the other's host knows.
        let outcome = outcome.map_err(|error| self.end_by_another().unwrap_or(error));
        let outcome = outcome.and_then(|()| self.end_together());
        let (inner, rest) = self.into_parts();
        // In this order: whoever started the run should hear from the rank itself before it hears from its host.
        let status = rest.outer.close(outcome.clone());
        status.max(inner.finish(outcome))
    }
}
