//! Waits for the parts of other members, and detection of parts that cannot come.

use contract::Error;
use launcher::is_liveness_check_due;

use super::agreement::{Agreement, Awaited};
use super::levels::Arrivals;
use super::{CompiledCaller, Result, Stop, Team};
use crate::board::SLOTS;
use crate::primitive::spin_loop;
use crate::transport::{FIRST_POLLS, Rings};

/// The findings of a liveness check; empty at first.
#[derive(Default)]
struct Findings {
    /// A rank that has ended its program but not this step.
    finished: Option<usize>,
    /// A member that has ended this step without its part, or is in another call in it.
    out_of_step: Option<usize>,
    /// A member that makes another collective.
    in_other_call: Option<usize>,
    /// True if a member has found that the members are out of step.
    broken: bool,
}

impl Findings {
    /// Returns whether the awaited parts cannot come.
    fn cannot_complete(&self) -> bool {
        let Findings { finished, out_of_step, in_other_call, broken } = self;
        finished.is_some() || out_of_step.is_some() || in_other_call.is_some() || *broken
    }
}

impl Team {
    /// Waits until every member's part of the step is there, and checks that all of them make the same call.
    #[inline]
    pub(super) fn wait_for_all<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
    ) -> Result<()> {
        if !self.wait_for_arrivals(caller, epoch)? {
            for distance in 1..self.size() {
                self.wait_for_part(caller, (self.me + distance) % self.size(), epoch)?;
            }
        }
        self.ended_by_all = self.before_window;
        Ok(())
    }

    /// If members are counted as they arrive, waits until all have: one sleep, not one for each. Returns whether no
    /// single part needs to be checked: all are there, and of this call.
    #[inline]
    pub(super) fn wait_for_arrivals<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
    ) -> Result<bool> {
        match self.arrivals {
            Arrivals::Seen => {}
            Arrivals::Counted => {
                let all = self.size() as u32;
                self.wait_for(caller, epoch, Awaited::All, |team| {
                    team.board(0).counters[epoch as usize % SLOTS].arrived.is(epoch, all)
                })?;
            }
            Arrivals::InLevels(levels) => return self.wait_for_release(caller, epoch, levels),
        }
        Ok(false)
    }

    /// Calls `take` with every other member's part of the step, each of `bytes` bytes, as they arrive.
    #[inline]
    pub(super) fn each_part<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        bytes: usize,
        mut take: impl FnMut(usize, *const u8),
    ) -> Result<()> {
        if !caller.waits() {
            // A step that stops is made again, and would copy again what it has copied.
            self.wait_for_all(caller, epoch)?;
        }
        let are_there = self.wait_for_arrivals(caller, epoch)?;
        for distance in 1..self.size() {
            let member = (self.me + distance) % self.size();
            if !are_there {
                self.wait_for_part(caller, member, epoch)?;
            }
            take(member, self.place(member, epoch, bytes));
        }
        self.ended_by_all = self.before_window;
        Ok(())
    }

    /// Waits for one member's part of the step, of `bytes` bytes. Returns its location.
    #[inline]
    pub(super) fn part<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        member: usize,
        epoch: u32,
        bytes: usize,
    ) -> Result<*const u8> {
        self.wait_for_part(caller, member, epoch)?;
        Ok(self.place(member, epoch, bytes))
    }

    /// Waits until one member's part of the step is there, and checks that the member makes the same call.
    #[inline]
    pub(super) fn wait_for_part<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        member: usize,
        epoch: u32,
    ) -> Result<()> {
        let slot = epoch as usize % SLOTS;
        self.wait_for(caller, epoch, Awaited::One(member), |team| {
            team.board(member).headers[slot].holds(epoch)
        })?;
        let (call_id, bytes) = self.board(member).headers[slot].contents();
        if (call_id, bytes) != (self.call.call_id, self.call.bytes) {
            return Err(self.mismatch(caller, member, call_id, bytes).into());
        }
        Ok(())
    }

    /// Waits in a step until `ready`, which depends on the parts of the `awaited` members.
    #[inline]
    pub(super) fn wait_for<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        awaited: Awaited,
        ready: impl Fn(&Team) -> bool,
    ) -> Result<()> {
        match C::HAS_OWN_STEPS {
            true => self.poll_for(caller, epoch, awaited, ready),
            false => self.wait_or_stop(caller, epoch, awaited, &ready),
        }
    }

    /// As `wait_for`. Compiled once for all kinds of calls.
    #[inline(never)]
    fn wait_or_stop<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        awaited: Awaited,
        ready: &dyn Fn(&Team) -> bool,
    ) -> Result<()> {
        if caller.waits() {
            return self.poll_for(caller, epoch, awaited, ready);
        }
        if ready(self) { Ok(()) } else { self.stop_for(caller, epoch, awaited, ready) }
    }

    #[inline(always)]
    fn poll_for<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        awaited: Awaited,
        ready: impl Fn(&Team) -> bool,
    ) -> Result<()> {
        let polls = if self.oversubscribed { 1 } else { FIRST_POLLS };
        for _ in 0..polls {
            if ready(self) {
                return Ok(());
            }
            spin_loop();
        }
        if self.keeps_processor(awaited, epoch, &ready) {
            return Ok(());
        }
        self.wait_long_for(caller, epoch, awaited, &ready)
    }

    #[cold]
    fn wait_long_for<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        awaited: Awaited,
        ready: &dyn Fn(&Team) -> bool,
    ) -> Result<()> {
        let mut found = Findings::default();
        let mut polls = 0_u32;
        caller.wait_until(&mut |mut caller| {
            caller.idle();
            polls += 1;
            if ready(self) {
                return true;
            }
            self.check_liveness(&mut caller, epoch, awaited, polls, &mut found);
            let rings = caller.rings();
            rings.seat().note_awaited(|| self.describe_wait(rings, awaited, epoch));
            // A member may have put its part just before.
            found.cannot_complete() && !ready(self)
        })?;
        if ready(self) { Ok(()) } else { self.fail_to_wait(caller, epoch, &found) }
    }

    /// Describes the call in which this rank waits, and the members that are behind it as far as that is visible.
    #[cold]
    fn describe_wait(&self, rings: &Rings, awaited: Awaited, epoch: u32) -> contract::Awaited {
        let slot = epoch as usize % SLOTS;
        let has_come = |member: usize| self.board(member).headers[slot].holds(epoch);
        let counts_by_groups = matches!(self.arrivals, Arrivals::InLevels(_));
        let missing: Vec<usize> = match awaited {
            Awaited::Nobody => Vec::new(),
            Awaited::One(member) => vec![member],
            Awaited::All if counts_by_groups => Vec::new(),
            Awaited::All => (0..self.size()).filter(|&member| !has_come(member)).collect(),
        };
        contract::Awaited::Members {
            context: 2 * self.context,
            collective: self.call.call_id.to_string(),
            members: self.size(),
            missing: missing
                .into_iter()
                .map(|member| rings.rank_at(self.members[member]))
                .collect(),
        }
    }

    /// As `wait_for`, for a call that does not wait: it stops, unless the awaited parts cannot come.
    #[cold]
    fn stop_for<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        awaited: Awaited,
        ready: &dyn Fn(&Team) -> bool,
    ) -> Result<()> {
        let mut found = Findings::default();
        self.started.polls = self.started.polls.wrapping_add(1);
        self.check_liveness(caller, epoch, awaited, self.started.polls, &mut found);
        let rings = caller.rings();
        rings.seat().note_started(|| self.describe_wait(rings, awaited, epoch));
        if ready(self) {
            return Ok(());
        }
        match found.cannot_complete() {
            true => self.fail_to_wait(caller, epoch, &found),
            false => Err(Stop::Later),
        }
    }

    /// Checks from time to time whether the awaited parts cannot come.
    fn check_liveness<C: CompiledCaller>(
        &self,
        caller: &mut C,
        epoch: u32,
        awaited: Awaited,
        polls: u32,
        found: &mut Findings,
    ) {
        if is_liveness_check_due(polls, !self.oversubscribed) {
            found.finished = self.find_finished(caller, epoch);
            // In this order: a member puts its part before it publishes which call it is in.
            found.in_other_call = self.find_contradicting().or_else(|| self.find_in_other_call());
            found.out_of_step = self.find_out_of_step(awaited, epoch);
        }
        found.broken = self.board(0).broken.reaches(self.counts.under_way);
    }

    /// Returns the error of a wait that cannot end.
    fn fail_to_wait<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        found: &Findings,
    ) -> Result<()> {
        match *found {
            Findings { broken: true, .. } => {
                let error = self.after_another(caller);
                Err(caller.on_mismatch(error).into())
            }
            Findings { finished: Some(rank), .. } => {
                let before = "it came to a collective that is waited for".into();
                let rank = caller.rings().rank_at(rank);
                let error = Error::RankEnded { rank, before };
                let (messages, rings) = caller.parts();
                Err(rings.fail(messages, error).into())
            }
            Findings { out_of_step: Some(member), .. } => {
                let header = &self.board(member).headers[epoch as usize % SLOTS];
                if header.holds(epoch) {
                    let (call_id, bytes) = header.contents();
                    return Err(self.mismatch(caller, member, call_id, bytes).into());
                }
                self.agreement = Agreement::OutOfStep;
                let does = "went on without taking part in";
                let error = self.not_in_call(caller, member, does);
                Err(caller.on_mismatch(error).into())
            }
            Findings { in_other_call: Some(member), .. } => {
                self.agreement = Agreement::OutOfStep;
                let error = self.in_other_call(caller, member);
                Err(caller.on_mismatch(error).into())
            }
            _ => Ok(()),
        }
    }
}
