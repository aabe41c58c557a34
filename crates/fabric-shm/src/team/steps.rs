//! The steps of a call: when a slot may be used again, how a part is published, and who wakes whom.

use contract::Result;

use super::agreement::{Agreement, Awaited, out_of_step};
use super::call::Agreed;
use super::levels::Arrivals;
use super::{Call, Host, Team};
use crate::board::{SLOTS, has_reached};
use crate::primitive::{Ordering, fence};
use crate::wait;

impl Team {
    /// Makes the steps of one call. `put` gets the epoch of the step and the number of the piece, and may use
    /// this rank's slot; `take` does what has to wait for others.
    ///
    /// If the members are not in the same call, its steps are made all the same, so that the next call finds
    /// all in step. Where their numbers of steps differ, no call of this team can succeed any more.
    #[inline(always)]
    pub(super) fn run<H: Host>(
        &mut self,
        host: &mut H,
        call: &Call,
        put: impl FnMut(&mut Team, &mut H, u32, usize),
        take: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
    ) -> Result<()> {
        self.run_with_work(host, call, put, |_, _, _, _| Ok(()), take)
    }

    /// The same with a third part between the two. `work` is done for all pieces of a window before the first
    /// is taken, so that an oversubscribed rank waits once for what others do, not once for each piece. It is
    /// forced into its callers, of which each is another collective.
    #[inline(always)]
    pub(super) fn run_with_work<H: Host>(
        &mut self,
        host: &mut H,
        call: &Call,
        mut put: impl FnMut(&mut Team, &mut H, u32, usize),
        mut work: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
        mut take: impl FnMut(&mut Team, &mut H, u32, usize) -> Result<()>,
    ) -> Result<()> {
        self.begin_call(host, call)?;
        let (pieces, mut outcome) = (call.plan.pieces, Ok(()));
        let (count, mut first) = (pieces.count(), 0);
        // Not an iterator with steps, which would divide: that takes as long as much of a short call.
        while first < count {
            let window = first..count.min(first + pieces.window);
            let before = self.epoch;
            self.before_window = before;
            for piece in window.clone() {
                let epoch = self.begin(host)?;
                put(self, host, epoch, piece);
            }
            if first == 0 {
                self.publish_call(call.call_id);
            }
            let epoch_of = |piece: usize| before.wrapping_add(1 + (piece - first) as u32);
            for piece in window.clone() {
                if outcome.is_ok() {
                    outcome = work(self, host, epoch_of(piece), piece);
                    self.check_outcome(&outcome, host)?;
                }
            }
            for piece in window {
                if outcome.is_ok() {
                    outcome = take(self, host, epoch_of(piece), piece);
                    self.check_outcome(&outcome, host)?;
                }
                self.end(host, epoch_of(piece));
            }
            if self.agreement == Agreement::OutOfStep {
                break;
            }
            first += pieces.window;
        }
        outcome
    }

    #[inline(always)]
    fn begin_call<H: Host>(&mut self, host: &mut H, call: &Call) -> Result<()> {
        host.engine().check_alive()?;
        if std::mem::take(&mut self.must_yield) {
            self.yield_to_members();
        }
        if self.board(0).broken.is_set() {
            return Err(host.on_mismatch(out_of_step()));
        }
        (self.call, self.agreement) = (Agreed::of(call), Agreement::Yes);
        self.forget_published_call();
        if let Some(bytes) = self.poisoned_bytes.take() {
            self.call.bytes = bytes;
        }
        Ok(())
    }

    /// Begins a step: from here on this rank may use its slot, and the step's counters.
    #[inline]
    fn begin<H: Host>(&mut self, host: &mut H) -> Result<u32> {
        self.epoch = self.epoch.wrapping_add(1);
        let before = self.epoch.wrapping_sub(SLOTS as u32);
        if !has_reached(self.ended_by_all, before) {
            self.wait_for_slot(host, before)?;
        }
        Ok(self.epoch)
    }

    #[cold]
    fn wait_for_slot<H: Host>(&mut self, host: &mut H, before: u32) -> Result<()> {
        let waiters = &self.board(0).waiters.0;
        // Sequentially consistent with the fence in `end`: either a member that ends its step sees that we
        // wait, or we see that it has ended it.
        waiters.fetch_add(1, Ordering::SeqCst);
        let mut oldest = self.epoch.wrapping_sub(1);
        let mut outcome = Ok(());
        for distance in 1..self.size() {
            let member = (self.me + distance) % self.size();
            let ended = |team: &Team| has_reached(team.board(member).progress.ended(), before);
            if outcome.is_ok() {
                outcome = self.wait_for(host, self.epoch, Awaited::Nobody, ended);
            }
            let theirs = self.board(member).progress.ended();
            oldest = if has_reached(theirs, oldest) { oldest } else { theirs };
        }
        self.board(0).waiters.0.fetch_sub(1, Ordering::Relaxed);
        outcome?;
        self.ended_by_all = oldest;
        Ok(())
    }

    #[inline]
    fn end<H: Host>(&self, host: &mut H, epoch: u32) {
        self.board(self.me).progress.end(epoch);
        if self.oversubscribed {
            fence(Ordering::SeqCst);
            if self.board(0).waiters.0.load(Ordering::Relaxed) != 0 {
                self.wake_others(host);
            }
        }
    }

    /// Puts `bytes` bytes, which `fill` writes, into this rank's slot.
    #[inline]
    pub(super) fn put(&self, epoch: u32, bytes: usize, fill: impl FnOnce(*mut u8)) {
        fill(self.place(self.me, epoch, bytes));
        self.publish(epoch);
    }

    /// Says that this rank's part of the step is there.
    #[inline]
    pub(super) fn publish(&self, epoch: u32) {
        let header = &self.board(self.me).headers[epoch as usize % SLOTS];
        header.publish(epoch, self.call.call_id, self.call.bytes);
    }

    /// Says the same of a whole window, whose first step is `first`.
    #[inline]
    pub(super) fn publish_window(&self, first: u32, steps: usize) {
        for step in 0..steps as u32 {
            self.publish(first.wrapping_add(step));
        }
    }

    /// Counts this rank among those that have put their part of the step. The last one wakes the others.
    #[inline]
    pub(super) fn arrive<H: Host>(&self, host: &mut H, epoch: u32) {
        match self.arrivals {
            Arrivals::Seen => {}
            Arrivals::Counted => {
                let arrived = &self.board(0).counters[epoch as usize % SLOTS].arrived;
                if arrived.count(epoch) as usize == self.size() {
                    self.wake_others(host);
                }
            }
            Arrivals::InLevels(levels) => {
                self.arrive_in_levels(host, epoch, levels, |_, _| {}, |_| {});
            }
        }
    }

    /// Whether every member's part of the step is there already.
    pub(super) fn all_are_there(&self, epoch: u32) -> bool {
        self.board(self.me).headers[epoch as usize % SLOTS].holds(epoch)
            && self.others_are_there(epoch)
    }

    /// The same for the other members' parts.
    pub(super) fn others_are_there(&self, epoch: u32) -> bool {
        let slot = epoch as usize % SLOTS;
        self.others().all(|member| self.board(member).headers[slot].holds(epoch))
    }

    /// Wakes those who sleep until a part that only this rank has put is there.
    #[inline]
    pub(super) fn wake_readers<H: Host>(&self, host: &mut H) {
        if self.oversubscribed {
            self.wake_others(host);
        }
    }

    /// Wakes the members that sleep.
    pub(super) fn wake_others<H: Host>(&self, host: &mut H) {
        let segment = host.engine().segment();
        for &rank in self.members.iter().filter(|&&rank| rank != self.members[self.me]) {
            wait::wake_if_asleep(segment.block(rank).sleep_word());
        }
    }
}
