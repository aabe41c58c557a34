//! How a member waits for the others' parts, and finds out that it waits in vain.

use contract::{Error, Result};

use super::agree::{Agreement, Whom, out_of_step};
use super::{Host, Team};
use crate::board::SLOTS;
use crate::engine::{Engine, FIRST_POLLS};
use crate::primitive::spin_loop;
use crate::wait;

impl Team {
    /// Waits until every member's part of the step is there, and checks that all of them mean the same call.
    #[inline]
    pub(super) fn wait_for_all<H: Host>(&mut self, host: &mut H, epoch: u32) -> Result<()> {
        self.wait_for_arrivals(host, epoch)?;
        for distance in 1..self.size() {
            self.wait_for_part(host, (self.me + distance) % self.size(), epoch)?;
        }
        self.ended_by_all = self.before_window;
        Ok(())
    }

    /// Where ranks share processors, waits until all have said that they are there: one sleep, not one for each.
    #[inline]
    pub(super) fn wait_for_arrivals<H: Host>(&mut self, host: &mut H, epoch: u32) -> Result<()> {
        if !self.shares_processors {
            return Ok(());
        }
        let all = self.size() as u32;
        self.wait_for(host, epoch, Whom::All, |team| {
            team.board(0).counters[epoch as usize % SLOTS].arrived.is(epoch, all)
        })
    }

    /// Waits for one member's part of the step, of `bytes` bytes; gives where it lies.
    #[inline]
    pub(super) fn part<H: Host>(
        &mut self,
        host: &mut H,
        member: usize,
        epoch: u32,
        bytes: usize,
    ) -> Result<*const u8> {
        self.wait_for_part(host, member, epoch)?;
        Ok(self.place(member, epoch, bytes))
    }

    /// Waits until one member's part of the step is there, and checks that the member means the same call.
    #[inline]
    pub(super) fn wait_for_part<H: Host>(
        &mut self,
        host: &mut H,
        member: usize,
        epoch: u32,
    ) -> Result<()> {
        let slot = epoch as usize % SLOTS;
        self.wait_for(host, epoch, Whom::One(member), |team| {
            team.board(member).headers[slot].holds(epoch)
        })?;
        let (call_id, bytes) = self.board(member).headers[slot].contents();
        if (call_id, bytes) != (self.call.call_id, self.call.bytes) {
            return Err(self.disagree(host, member, call_id, bytes));
        }
        Ok(())
    }

    /// Waits in step `epoch` until `ready`, which depends on the parts of `whom`.
    #[inline]
    pub(super) fn wait_for<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        whom: Whom,
        ready: impl Fn(&Team) -> bool,
    ) -> Result<()> {
        let polls = if self.shares_processors { 1 } else { FIRST_POLLS };
        for _ in 0..polls {
            if ready(self) {
                return Ok(());
            }
            spin_loop();
        }
        if self.keeps_processor(whom, epoch, &ready) {
            return Ok(());
        }
        self.wait_long_for(host, epoch, whom, &ready)
    }

    #[cold]
    fn wait_long_for<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        whom: Whom,
        ready: &dyn Fn(&Team) -> bool,
    ) -> Result<()> {
        let (mut gone, mut astray, mut parted, mut broken) = (None, None, None, false);
        let mut polls = 0_u32;
        Engine::wait_until(host, H::engine, &mut |host| {
            host.idle();
            polls += 1;
            if ready(self) {
                return true;
            }
            if wait::is_liveness_check_due(polls, !self.shares_processors) {
                gone = self.gone_before(host, epoch);
                // In this order: a member puts its part before it says which call it is in.
                parted = self.contradicting().or_else(|| self.elsewhere());
                astray = self.astray(whom, epoch);
            }
            broken = self.board(0).broken.is_set();
            // It may have given its part just before it went.
            let vain = gone.is_some() || astray.is_some() || parted.is_some() || broken;
            vain && !ready(self)
        })?;
        match gone {
            _ if ready(self) => Ok(()),
            _ if broken => Err(host.disagree(out_of_step())),
            None if let Some(member) = astray => {
                let header = &self.board(member).headers[epoch as usize % SLOTS];
                if header.holds(epoch) {
                    let (call_id, bytes) = header.contents();
                    return Err(self.disagree(host, member, call_id, bytes));
                }
                self.agreement = Agreement::OutOfStep;
                Err(host.disagree(self.without(member, "went on without taking part in")))
            }
            None if let Some(member) = parted => {
                self.agreement = Agreement::OutOfStep;
                Err(host.disagree(self.without(member, "makes another collective and not")))
            }
            Some(rank) => {
                let how = "its program ended before it came to a collective that is waited for";
                let error = Error::RankDied { rank, how: how.into() };
                Err(host.engine().fail(error))
            }
            None => Ok(()),
        }
    }
}
