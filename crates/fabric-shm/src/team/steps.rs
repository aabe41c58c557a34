//! The steps of a call: when a slot may be reused, how a part is published, and who wakes whom.

use super::agreement::{Agreement, Awaited, out_of_step};
use super::call::Agreed;
use super::levels::Arrivals;
use super::started::{Position, Stage};
use super::{Call, CompiledCaller, Result, Stop, Team};
use crate::board::{SLOTS, has_reached};
use crate::primitive::{Ordering, fence};

/// The function that puts a piece, as a value.
type Put<'a, C> = &'a mut dyn FnMut(&mut Team, &mut C, u32, usize);
/// The function that does another part of a step, as a value.
type Act<'a, C> = &'a mut dyn FnMut(&mut Team, &mut C, u32, usize) -> Result<()>;

impl Team {
    /// Makes the steps of one call. `put` gets the epoch of the step and the number of the piece, and may use this
    /// rank's slot; `take` does what must wait for others.
    ///
    /// If the members are not in the same call, its steps are made all the same, so that the next call finds all in
    /// step. If their numbers of steps differ, no call of this team can succeed any more.
    #[inline(always)]
    pub(super) fn run<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: &Call,
        put: impl FnMut(&mut Team, &mut C, u32, usize),
        take: impl FnMut(&mut Team, &mut C, u32, usize) -> Result<()>,
    ) -> Result<()> {
        self.run_with_work(caller, call, put, |_, _, _, _| Ok(()), take)
    }

    /// As `run`, with a third part between the two. `work` is done for all pieces of a window before the first is
    /// taken, so that an oversubscribed rank waits once for what others do, not once for each piece. Forced into its
    /// callers, of which each is another collective.
    #[inline(always)]
    pub(super) fn run_with_work<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: &Call,
        mut put: impl FnMut(&mut Team, &mut C, u32, usize),
        mut work: impl FnMut(&mut Team, &mut C, u32, usize) -> Result<()>,
        mut take: impl FnMut(&mut Team, &mut C, u32, usize) -> Result<()>,
    ) -> Result<()> {
        if C::HAS_OWN_STEPS {
            self.begin_counted_call(caller, call)?;
            return self.go_through(caller, call, &mut Position::default(), put, work, take);
        }
        self.advance(caller, call, (&mut put, &mut work, &mut take))
    }

    /// Goes through the steps of a call from its position. Compiled once for all kinds of calls.
    #[inline(never)]
    fn advance<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: &Call,
        (put, work, take): (Put<'_, C>, Act<'_, C>, Act<'_, C>),
    ) -> Result<()> {
        let mut at = Position::default();
        if caller.waits() {
            self.begin_counted_call(caller, call)?;
        } else {
            at = self.begin_or_resume(caller, call)?;
        }
        let outcome = self.go_through(caller, call, &mut at, put, work, take);
        if !caller.waits() {
            self.started.position = at;
        }
        outcome
    }

    /// Goes through the steps of a call from `at` on. If it stops there, it resumes there: no other step has failed
    /// before.
    #[inline(always)]
    fn go_through<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: &Call,
        at: &mut Position,
        mut put: impl FnMut(&mut Team, &mut C, u32, usize),
        mut work: impl FnMut(&mut Team, &mut C, u32, usize) -> Result<()>,
        mut take: impl FnMut(&mut Team, &mut C, u32, usize) -> Result<()>,
    ) -> Result<()> {
        let (pieces, mut outcome) = (call.plan.pieces, Ok(()));
        let count = pieces.count();
        // Not an iterator with steps, whose division takes a large part of the time of a short call.
        while at.first < count {
            let end = count.min(at.first + pieces.window);
            if at.stage == Stage::Put {
                if at.piece == at.first {
                    self.before_window = self.epoch;
                }
                while at.piece < end {
                    let epoch = self.begin(caller)?;
                    put(self, caller, epoch, at.piece);
                    at.piece += 1;
                }
                if at.first == 0 {
                    self.publish_call(call.call_id);
                }
                (at.stage, at.piece) = (Stage::Work, at.first);
            }
            let first_epoch = self.before_window.wrapping_add(1);
            let epoch_of = |at: &Position| first_epoch.wrapping_add((at.piece - at.first) as u32);
            if at.stage == Stage::Work {
                while at.piece < end {
                    if outcome.is_ok() {
                        outcome = work(self, caller, epoch_of(at), at.piece);
                        self.check_outcome(&outcome, caller)?;
                    }
                    at.piece += 1;
                }
                (at.stage, at.piece) = (Stage::Take, at.first);
            }
            while at.piece < end {
                if outcome.is_ok() {
                    outcome = take(self, caller, epoch_of(at), at.piece);
                    self.check_outcome(&outcome, caller)?;
                }
                self.end(caller, epoch_of(at));
                at.piece += 1;
            }
            if self.agreement == Agreement::OutOfStep {
                break;
            }
            (at.stage, at.first) = (Stage::Put, end);
        }
        outcome
    }

    /// Begins a blocking call.
    #[inline(always)]
    fn begin_counted_call<C: CompiledCaller>(&mut self, caller: &mut C, call: &Call) -> Result<()> {
        let number = self.counts.take_number();
        self.begin_call(caller, call, number)
    }

    #[inline(always)]
    pub(super) fn begin_call<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: &Call,
        number: u32,
    ) -> Result<()> {
        caller.parts().0.check()?;
        if caller.waits() && std::mem::take(&mut self.must_yield) {
            self.yield_to_members();
        }
        if self.board(0).broken.reaches(number) {
            return Err(caller.on_mismatch(out_of_step()).into());
        }
        (self.call, self.agreement) = (Agreed::of(call), Agreement::Yes);
        self.forget_published_call(number);
        if let Some(bytes) = self.poisoned_bytes.take() {
            self.call.bytes = bytes;
        }
        Ok(())
    }

    /// Begins a step: from here on this rank may use its slot and the step's counters.
    #[inline]
    fn begin<C: CompiledCaller>(&mut self, caller: &mut C) -> Result<u32> {
        let epoch = self.epoch.wrapping_add(1);
        let before = epoch.wrapping_sub(SLOTS as u32);
        if !has_reached(self.ended_by_all, before) {
            self.wait_for_slot(caller, epoch, before)?;
        }
        self.epoch = epoch;
        Ok(epoch)
    }

    #[cold]
    fn wait_for_slot<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        before: u32,
    ) -> Result<()> {
        self.wait_for_slot_begins();
        let mut oldest = epoch.wrapping_sub(1);
        for distance in 1..self.size() {
            let member = (self.me + distance) % self.size();
            let ended = |team: &Team| has_reached(team.board(member).progress.ended(), before);
            match self.wait_for(caller, epoch, Awaited::Nobody, ended) {
                Ok(()) => {}
                Err(Stop::Later) => return Err(Stop::Later),
                Err(stop) => {
                    self.stop_waiting_for_slot();
                    return Err(stop);
                }
            }
            let theirs = self.board(member).progress.ended();
            oldest = if has_reached(theirs, oldest) { oldest } else { theirs };
        }
        self.stop_waiting_for_slot();
        self.ended_by_all = oldest;
        Ok(())
    }

    #[inline]
    fn end<C: CompiledCaller>(&self, caller: &mut C, epoch: u32) {
        self.board(self.me).progress.end(epoch);
        if self.oversubscribed {
            fence(Ordering::SeqCst);
            if self.board(0).waiters.0.load(Ordering::Relaxed) != 0 {
                self.wake_others(caller);
            }
        }
    }

    /// Puts `bytes` bytes, which `fill` writes, into this rank's slot.
    #[inline]
    pub(super) fn put(&self, epoch: u32, bytes: usize, fill: impl FnOnce(*mut u8)) {
        fill(self.place(self.me, epoch, bytes));
        self.publish(epoch);
    }

    /// Publishes this rank's part of the step.
    #[inline]
    pub(super) fn publish(&self, epoch: u32) {
        let header = &self.board(self.me).headers[epoch as usize % SLOTS];
        header.publish(epoch, self.call.call_id, self.call.bytes);
    }

    /// Publishes the parts of a whole window, whose first step is `first`.
    #[inline]
    pub(super) fn publish_window(&self, first: u32, steps: usize) {
        for step in 0..steps as u32 {
            self.publish(first.wrapping_add(step));
        }
    }

    /// Counts this rank among those that have put their part of the step. The last one wakes the others.
    #[inline]
    pub(super) fn arrive<C: CompiledCaller>(&self, caller: &mut C, epoch: u32) {
        match self.arrivals {
            Arrivals::Seen => {}
            Arrivals::Counted => {
                let arrived = &self.board(0).counters[epoch as usize % SLOTS].arrived;
                if arrived.count(epoch) as usize == self.size() {
                    self.wake_others(caller);
                }
            }
            Arrivals::InLevels(levels) => {
                self.arrive_in_levels(caller, epoch, levels, |_, _| {}, |_| {});
            }
        }
    }

    /// Returns whether every member's part of the step is there already.
    pub(super) fn all_are_there(&self, epoch: u32) -> bool {
        self.board(self.me).headers[epoch as usize % SLOTS].holds(epoch)
            && self.others_are_there(epoch)
    }

    /// Returns whether the other members' parts are there already.
    pub(super) fn others_are_there(&self, epoch: u32) -> bool {
        let slot = epoch as usize % SLOTS;
        self.others().all(|member| self.board(member).headers[slot].holds(epoch))
    }

    /// Wakes the ranks that sleep until a part is there that only this rank has put.
    #[inline]
    pub(super) fn wake_readers<C: CompiledCaller>(&self, caller: &mut C) {
        if self.oversubscribed {
            self.wake_others(caller);
        }
    }

    /// Wakes the members that sleep.
    pub(super) fn wake_others<C: CompiledCaller>(&self, caller: &mut C) {
        let segment = caller.rings().segment();
        for &rank in self.members.iter().filter(|&&rank| rank != self.members[self.me]) {
            segment.seat().wake_if_asleep(rank);
        }
    }
}
