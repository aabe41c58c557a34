//! Waits, during which both fabrics make progress.
//!
//! The inner fabric's wait is the wait of both: it spins, yields and sleeps as that fabric does, and polls the outer
//! fabric in between. A sleeping rank sleeps on a bell, which ranks of its host ring, and on all its connections.

use contract::{Endpoint, Error, LongWaits, Request, Result, WaitPlace, WaitReports};

use crate::ClusterEndpoint;
use crate::requests::Side;

/// How many of the polls of a wait poll the outer fabric, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollShare {
    /// Number of polls of the inner fabric between two polls of the outer.
    every: u32,
    /// The awaited rank on another host, if it is one.
    partner: Option<usize>,
}

/// Interval if something may arrive from either side and every rank has a processor: a poll of all connections takes as
/// long as many polls of memory.
const EVERY_OF_BOTH: u32 = 4;
/// Interval if something must arrive from a rank of this host.
const EVERY_OF_INNER: u32 = 64;
/// Number of polls at the beginning of a wait that leave the outer fabric out if ranks share processors: before this
/// rank has yielded, little can have changed since it last polled.
const POLLS_OF_INNER_FIRST: u32 = 2;

impl ClusterEndpoint {
    /// Receives what has arrived on either side.
    pub(crate) fn poll_both(&mut self) -> Result<()> {
        let looked = self.inner_mut().progress();
        self.settle();
        looked.map_err(|error| self.outer_error(error))?;
        let looked = self.rest_mut().outer.progress();
        self.settle();
        looked.map_err(|error| self.fail_inside(error))
    }

    /// Ends this rank's wait inside its host, and every later call, because the fabric between hosts has failed.
    /// Otherwise this rank could take part in collectives of its host as if nothing had happened.
    #[cold]
    pub(crate) fn fail_inside(&mut self, error: Error) -> Error {
        self.inner_mut().fail(error.clone());
        error
    }

    fn share(&self, requests: &[Request]) -> PollShare {
        let outer = &self.rest().outer;
        let of_inner = requests.iter().all(|&one| matches!(Side::of(one), Side::Inner(_)));
        let (every, partner) = match requests {
            &[request] => match Side::of(request) {
                Side::Outer(request) => (1, outer.partner(request)),
                Side::Inner(_) => (EVERY_OF_INNER, None),
                Side::Twin(_) => (EVERY_OF_BOTH, None),
            },
            _ if of_inner => (EVERY_OF_INNER, None),
            _ => (EVERY_OF_BOTH, None),
        };
        let spins = outer.every_rank_has_a_processor();
        PollShare { every: if spins { every } else { 1 }, partner }
    }

    /// Returns the share of the outer fabric in a wait for anything.
    pub(crate) fn share_of_both(&self) -> PollShare {
        self.share(&[])
    }

    /// Polls the outer fabric at some of the polls of the inner fabric's wait, of which this is number `poll`.
    pub(crate) fn step(&mut self, share: PollShare, poll: u32) -> Result<()> {
        self.settle();
        let (inner, rest) = self.both_mut();
        rest.polls = rest.polls.wrapping_add(1);
        if inner.seat().is_reporting() {
            rest.outer.poll_for_report()?;
            self.settle();
            self.note_outer_state();
            return Ok(());
        }
        let has_yielded = rest.outer.every_rank_has_a_processor() || poll > POLLS_OF_INNER_FIRST;
        if !rest.polls.is_multiple_of(if has_yielded { share.every } else { EVERY_OF_INNER }) {
            return Ok(());
        }
        rest.outer.poll_with(share.partner)?;
        if rest.outer.is_liveness_check_due(rest.polls) {
            rest.outer.check_run()?;
        }
        self.settle();
        Ok(())
    }

    /// Limits the next sleep to the time for which the outer fabric needs no poll. Must be called after all that a poll
    /// has led to.
    pub(crate) fn limit_sleep(&mut self) {
        let (inner, rest) = self.both_mut();
        inner.sleep_at_most(rest.outer.sleep_limit());
    }

    /// Adds the state of the outer fabric to the report in progress.
    pub(crate) fn note_outer_state(&mut self) {
        let (inner, rest) = self.both_mut();
        let unexpected = match inner.seat().is_noting_waits() {
            true => rest.outer.unexpected(),
            false => Vec::new(),
        };
        inner.note_outside(rest.outer.poll_state(), unexpected);
    }

    /// Waits until `done` returns true, which is called after every poll.
    pub(crate) fn wait_for(
        &mut self,
        share: PollShare,
        done: &mut dyn FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        let rest = self.rest_pointer();
        let (mut failed, mut polls) = (None, 0_u32);
        let waited = self.inner_mut().wait_until(&mut |inner| {
            let mut this = ClusterEndpoint::seen_as(inner, rest);
            polls = polls.saturating_add(1);
            let has_ended = match this.step(share, polls) {
                Ok(()) => done(&mut this),
                Err(error) => {
                    failed = Some(error);
                    true
                }
            };
            // Other ranks do not sleep in their waits.
            if !has_ended && !this.rest().outer.every_rank_has_a_processor() {
                this.limit_sleep();
            }
            has_ended
        });
        match failed {
            Some(error) => Err(self.fail_inside(error)),
            None => waited.map_err(|error| self.outer_error(error)),
        }
    }

    /// Waits until one of `requests` is done, and returns the lowest index of those.
    pub(crate) fn wait_for_any(&mut self, requests: &[Request]) -> Result<usize> {
        let first_done = |this: &Self| requests.iter().position(|&request| this.has_ended(request));
        if let Some(index) = first_done(self) {
            return Ok(index);
        }
        let (mut found, mut failed, mut polls) = (None, None, 0_u32);
        self.wait_for(self.share(requests), &mut |this| {
            found = first_done(this);
            polls = polls.wrapping_add(1);
            let is_due = this.is_liveness_check_due(polls) || this.inner().seat().is_noting_waits();
            if found.is_none() && is_due {
                failed = this.why_none_can_end(requests).transpose();
            }
            found.is_some() || failed.is_some()
        })?;
        match (failed, found.or_else(|| first_done(self))) {
            (_, Some(index)) => Ok(index),
            (Some(Ok(error)) | Some(Err(error)), None) => Err(error),
            (None, None) => unreachable!("the wait has ended for one of the two"),
        }
    }

    /// Returns the error of a wait for requests of which none can complete.
    fn why_none_can_end(&mut self, requests: &[Request]) -> Result<Option<Error>> {
        let none = |this: &Self| requests.iter().all(|&request| this.cannot_end(request));
        if !none(self) {
            return Ok(None);
        }
        // What they sent before they ended may have arrived since the last poll.
        self.poll_both()?;
        let has_ended = requests.iter().any(|&request| self.has_ended(request));
        Ok((!has_ended && none(self)).then(|| self.give_up(requests[0])))
    }
}

/// Reports of long waits go to the launcher of this host, by the inner fabric.
impl LongWaits for ClusterEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        self.inner().wait_reports()
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.note_outer_state();
        self.inner_mut().report_wait(place);
    }
}
