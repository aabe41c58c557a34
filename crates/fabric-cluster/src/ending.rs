//! The end of a rank's part.

use contract::{Endpoint, Error, Result};

use crate::ClusterEndpoint;

impl ClusterEndpoint {
    /// Says that this rank sends nothing more of its own, once all that it has sent is on its way.
    pub(crate) fn leave_once(&mut self) -> Result<()> {
        if self.rest().has_left {
            return Ok(());
        }
        self.rest_mut().has_left = true;
        self.wait_for(self.pace_of_both(), &mut |this| !this.inner().has_queued())?;
        let left = self.inner_mut().leave();
        left.map_err(|error| self.outer_error(error))?;
        self.rest_mut().outer.leave()
    }

    /// Completes what is under way at both sides, and waits until everybody has: nobody's connection is closed, and no
    /// memory is given up, while another rank needs it.
    fn end_together(&mut self) -> Result<()> {
        self.leave_once()?;
        let pace = self.pace_of_both();
        self.wait_for(pace, &mut |this| {
            !this.inner().is_sending() && !this.rest().outer.is_sending()
        })?;
        self.rest_mut().outer.say_goodbye()?;
        self.wait_for(pace, &mut |this| this.rest().outer.is_through())
    }

    /// Returns why the run ended for this rank, if another rank is to blame.
    fn end_by_another(&self) -> Option<Error> {
        let of_host = self.inner().given_up().map(|error| self.outer_error(error));
        let known = of_host.or_else(|| self.rest().outer.failure());
        known.filter(|error| matches!(error, Error::RankDied { .. } | Error::Aborted { .. }))
    }

    /// Ends this rank's part of the run in both fabrics; the status of its process.
    pub(crate) fn end_run(mut self, outcome: Result<()>) -> i32 {
        // What a program says of another rank's death must not hide how that rank died, which its host knows.
        let outcome = outcome.map_err(|error| self.end_by_another().unwrap_or(error));
        let outcome = outcome.and_then(|()| self.end_together());
        let (inner, rest) = self.into_parts();
        // In this order: whoever started the run should hear the rank itself before its host does.
        let status = rest.outer.close(outcome.clone());
        status.max(inner.finish(outcome))
    }
}
