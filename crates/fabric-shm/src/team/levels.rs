//! Arrival in levels, for teams with too many members for each to poll all others (decision 0014).

use contract::Apply;

use super::agreement::{Awaited, out_of_step};
use super::combining::combine_parts;
use super::copies::copy;
use super::{CompiledCaller, Result, Team};
use crate::board::{Levels, Lines, SHORT_BYTES, SLOTS};

/// The ways in which members learn that all of them have put their parts.
#[derive(Clone, Copy)]
pub(super) enum Arrivals {
    /// Each polls the headers of all others.
    Seen,
    /// One counter counts all members: the last to arrive wakes the others.
    Counted,
    /// In groups.
    InLevels(Levels),
}

impl Arrivals {
    /// Returns the kind for a number of members.
    pub(super) fn of(members: usize, oversubscribed: bool) -> Self {
        match collectives::plan::group_ranks(members) {
            Some(group) => Arrivals::InLevels(Levels::new(members, group)),
            None if oversubscribed => Arrivals::Counted,
            None => Arrivals::Seen,
        }
    }
}

impl Team {
    /// Returns a member's lines of a step's slot.
    #[inline]
    fn lines(&self, member: usize, epoch: u32) -> Lines<'_> {
        let (board, slot) = (self.board(member), epoch as usize % SLOTS);
        Lines {
            header: &board.headers[slot],
            arrived: &board.counters[slot].arrived,
            levels: &board.levels[slot],
        }
    }

    /// Counts this rank in its group. The last rank to arrive releases the others; `combine` and `fill` are as for
    /// [`Levels::arrive`] and [`Levels::release`].
    pub(super) fn arrive_in_levels<C: CompiledCaller>(
        &self,
        caller: &mut C,
        epoch: u32,
        levels: Levels,
        combine: impl FnMut(usize, &dyn Fn(usize) -> usize),
        fill: impl Fn(*mut u8),
    ) {
        let own = (self.call.call_id, self.call.bytes);
        let lines = |member| self.lines(member, epoch);
        if let Some(call) = levels.arrive(self.me, epoch, own, lines, combine) {
            levels.release(epoch, call, lines, fill);
            if self.oversubscribed {
                self.wake_others(caller);
            }
        }
    }

    /// As [`arrive_in_levels`](Team::arrive_in_levels), with a part of `bytes` bytes, which the last of each group and
    /// the last of all combine.
    pub(super) fn arrive_and_combine<C: CompiledCaller>(
        &self,
        caller: &mut C,
        epoch: u32,
        bytes: usize,
        apply: &mut Apply<'_>,
    ) {
        let Arrivals::InLevels(levels) = self.arrivals else { return };
        let place = |member: usize| self.place(member, epoch, bytes);
        let combine = |parts: usize, member: &dyn Fn(usize) -> usize| {
            let (part, result) = (|index| place(member(index)).cast_const(), member(parts - 1));
            // SAFETY: these members have put `bytes` bytes each, or the last of their groups has combined as many; they
            // do not change them until all have ended the step. Nobody else reads the last one's place before it is
            // counted.
            unsafe { combine_parts(parts, part, place(result), bytes, apply) };
        };
        let fill = |short: *mut u8| {
            if bytes <= SHORT_BYTES {
                // SAFETY: both lines have room for a short part, and the result is there.
                unsafe { copy(place(self.size() - 1), short, bytes) };
            }
        };
        self.arrive_in_levels(caller, epoch, levels, combine, fill);
    }

    /// Waits until all members have arrived. Returns whether all make this rank's call, so that no single part needs to
    /// be checked.
    pub(super) fn wait_for_release<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        levels: Levels,
    ) -> Result<bool> {
        let is_released = |team: &Team| {
            levels.release_of(team.me, |member| team.lines(member, epoch)).holds(epoch)
        };
        self.wait_for(caller, epoch, Awaited::All, is_released)?;
        let release = levels.release_of(self.me, |member| self.lines(member, epoch));
        Ok(release.contents() == (self.call.call_id, self.call.bytes))
    }

    /// Waits until all parts are combined in levels, and copies the result to `to`.
    pub(super) fn take_released<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        bytes: usize,
        to: *mut u8,
    ) -> Result<()> {
        self.wait_for_all(caller, epoch)?;
        let Arrivals::InLevels(levels) = self.arrivals else {
            return Err(caller.on_mismatch(out_of_step()).into());
        };
        let from = match bytes <= SHORT_BYTES {
            true => levels.release_of(self.me, |member| self.lines(member, epoch)).short(),
            false => self.place(self.size() - 1, epoch, bytes),
        };
        // SAFETY: all members make this call, so the result is there, and stays until this step has ended; `to` has
        // room for it.
        unsafe { copy(from, to, bytes) };
        Ok(())
    }
}
