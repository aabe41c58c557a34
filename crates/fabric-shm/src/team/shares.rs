//! Long allreduces of which each group of members combines a share. With two members that have a processor each, each
//! member is a group; if ranks are oversubscribed and bound, the members of each processor are (decision 0014).
//!
//! The last member of a group to arrive owns its share. It puts all its data but that share, reads the share in its
//! caller's memory, and combines into the free room in its slots. So less is copied than if all members put everything.
//! If a group shares a processor, its owner waits for nobody there, so that each switch between ranks serves a whole
//! window.

use std::cell::RefCell;
use std::ops::Range;

use collectives::plan::{Owners, Pieces, part_of};
use contract::{Apply, Combine};

use super::agreement::Awaited;
use super::combining::{chunk_bytes, combine_parts};
use super::copies::copy;
use super::{Call, CompiledCaller, Memory, Result, Team};
use crate::board::{SLOTS, SlotCounters};

/// The call, as all its steps see it.
#[derive(Clone, Copy)]
struct Shares {
    pieces: Pieces,
    /// True if the pieces of a window are one stage. With two members that have a processor each, each piece is a
    /// stage, so that both always work.
    by_window: bool,
    element_bytes: usize,
    chunk_bytes: usize,
}

/// Data that are put, combined and taken together.
#[derive(Clone, Copy)]
struct Stage {
    /// The first and the last step.
    first: u32,
    last: u32,
    /// Start of the data in the caller's memory, and their length.
    start: usize,
    bytes: usize,
    element_bytes: usize,
}

impl Shares {
    /// Returns the stage that ends with a step.
    fn ended(&self, epoch: u32, piece: usize) -> Option<Stage> {
        if !self.by_window {
            return self.begun(epoch, piece);
        }
        let (first, window) = self.pieces.ended_window(epoch, piece)?;
        Some(self.stage(first, epoch, &window))
    }

    /// Returns the stage that begins with a step.
    fn begun(&self, epoch: u32, piece: usize) -> Option<Stage> {
        if !self.by_window {
            return Some(self.stage(epoch, epoch, &(piece..piece + 1)));
        }
        let (last, window) = self.pieces.begun_window(epoch, piece)?;
        Some(self.stage(epoch, last, &window))
    }

    fn stage(&self, first: u32, last: u32, pieces: &Range<usize>) -> Stage {
        let (start, bytes) = self.pieces.get_all(pieces);
        Stage { first, last, start, bytes, element_bytes: self.element_bytes }
    }
}

impl Team {
    /// Makes an allreduce in shares.
    ///
    /// # Safety
    /// As for `allreduce`.
    pub(super) unsafe fn combine_shares<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        Memory { send, receive }: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        let shares = Shares {
            pieces: call.plan.pieces,
            by_window: call.plan.owners == Owners::Processors,
            element_bytes: combine.element_bytes,
            chunk_bytes: chunk_bytes(&combine),
        };
        let apply = RefCell::new(combine.apply);
        self.run_with_work(
            caller,
            &call,
            |team, caller, epoch, piece| {
                let Some(stage) = shares.ended(epoch, piece) else { return };
                // This rank owns all slots of the stage now.
                team.owns_share = team.arrives_last(epoch);
                // SAFETY: the bytes are within what the caller promised.
                unsafe { team.put_for_others(stage, send.add(stage.start)) };
                let steps = stage.last.wrapping_sub(stage.first) + 1;
                team.publish_window(stage.first, steps as usize);
                team.arrive(caller, epoch);
            },
            |team, caller, epoch, piece| {
                let Some(stage) = shares.begun(epoch, piece) else { return Ok(()) };
                team.wait_for_all(caller, stage.last)?;
                if team.owns_share {
                    // SAFETY: as above.
                    let memory = unsafe { (send.add(stage.start), receive.add(stage.start)) };
                    let apply = &mut **apply.borrow_mut();
                    team.combine_own_share(stage, shares.chunk_bytes, memory, apply);
                    let counters = team.group_counters(team.groups.own, stage.last);
                    counters.done.set(stage.last, team.me as u32);
                    team.wake_readers(caller);
                }
                Ok(())
            },
            |team, caller, epoch, piece| {
                let Some(stage) = shares.begun(epoch, piece) else { return Ok(()) };
                // SAFETY: as above.
                team.take_shares(caller, stage, unsafe { receive.add(stage.start) })?;
                if !shares.by_window {
                    team.swap_places(epoch);
                }
                Ok(())
            },
        )
    }

    /// Returns the counters of a step for a group.
    fn group_counters(&self, group: usize, epoch: u32) -> &SlotCounters {
        &self.board(self.groups.first[group]).counters[epoch as usize % SLOTS]
    }

    /// Counts this rank among the members of its group that have arrived in this step. Returns whether it is the last.
    fn arrives_last(&self, epoch: u32) -> bool {
        let arrived = &self.group_counters(self.groups.own, epoch).claimed;
        arrived.count(epoch) as usize == self.groups.local.len() + 1
    }

    fn share(&self, group: usize, stage: Stage) -> Range<usize> {
        part_of(group, self.groups.first.len(), stage.bytes, stage.element_bytes)
    }

    /// Puts this rank's data of a stage: everything that other members combine.
    ///
    /// # Safety
    /// `send` holds the stage's bytes.
    unsafe fn put_for_others(&self, stage: Stage, send: *const u8) {
        let own = if self.owns_share { self.share(self.groups.own, stage) } else { 0..0 };
        let span = self.span(self.me, stage.first, stage.bytes);
        for put in [0..own.start, own.end..stage.bytes] {
            // SAFETY: the caller promised the bytes, and the span has room for them.
            unsafe { span.put(put.start, send.add(put.start), put.len()) };
        }
    }

    /// Combines the share of this rank's group into `to` and into this rank's own slots, where that part is free. This
    /// rank's data of the stage are at `from`, which is `to` or apart from it.
    fn combine_own_share(
        &self,
        stage: Stage,
        chunk_bytes: usize,
        (from, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let share = self.share(self.groups.own, stage);
        let in_place = from == to.cast_const();
        let span = |member| self.span(member, stage.first, stage.bytes);
        let own = span(self.me);
        let mut start = share.start;
        while start < share.end {
            let (slot, room) = own.at(start);
            let here = chunk_bytes.min(share.end - start).min(room);
            let data = |member: usize| match member == self.me {
                true => from.wrapping_add(start),
                false => span(member).at(start).0.cast_const(),
            };
            // SAFETY: every member but this one has put this part, and this rank's data exist for the duration of the
            // call. Nobody reads this part in our slots before we have published that it is combined. The slots of all
            // boards wrap around at the same place.
            unsafe {
                let to = to.add(start);
                // By a copy into the slot if possible: it takes lines from the other processor without reading them.
                let (result, second) = if in_place { (slot, to) } else { (to, slot) };
                copy(combine_parts(self.size(), data, result, here, apply), second, here);
            }
            start += here;
        }
    }

    /// Waits until all shares of a stage are combined, and copies those of other members to `to`.
    fn take_shares<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        stage: Stage,
        to: *mut u8,
    ) -> Result<()> {
        let (groups, own) = (self.groups.first.len(), self.groups.own);
        let from_own = |distance: usize| (own + distance) % groups;
        if !caller.waits() {
            // A step that stops is made again, and would copy again what it has copied.
            for group in (0..groups).map(from_own) {
                self.wait_for_share(caller, stage, group)?;
            }
        }
        for group in (0..groups).map(from_own) {
            let member = self.wait_for_share(caller, stage, group)?;
            if member == self.me {
                continue;
            }
            let share = self.share(group, stage);
            let span = self.span(member, stage.first, stage.bytes);
            // SAFETY: the member that combined the share has published that. The share stays until this step has ended,
            // and `to` has room for the stage.
            unsafe { span.take(share.start, to.add(share.start), share.len()) };
        }
        Ok(())
    }

    /// Waits until the share of a group is combined. Returns the member that has combined it.
    fn wait_for_share<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        stage: Stage,
        group: usize,
    ) -> Result<usize> {
        let owner = |team: &Team| team.group_counters(group, stage.last).done.get(stage.last);
        // No rank on this processor must run first while the share belongs to another processor.
        let awaited = match group == self.groups.own {
            true => Awaited::Nobody,
            false => Awaited::One(self.groups.first[group]),
        };
        self.wait_for(caller, stage.last, awaited, |team| owner(team).is_some())?;
        // Every rank can write the number.
        let member = owner(self).and_then(|member| member.below(self.size() as u32));
        member.map(|member| member as usize).ok_or_else(|| {
            let first = self.members[self.groups.first[group]];
            let what = "the number of a member that there is not, or one beside it did";
            caller.parts().0.refuse(first, what).into()
        })
    }
}
