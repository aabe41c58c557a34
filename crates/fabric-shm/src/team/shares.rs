//! Long allreduces of which each owner combines a share: each of two members that have a processor each, or,
//! where ranks are oversubscribed and bound, each processor's last member to arrive (decision 0029).
//!
//! An owner puts everything but its share, which it reads where its caller has it, and combines into the free
//! room in its slots. So less is copied than if all members put all. The last member of a processor has nobody
//! to wait for on its own processor, so that each switch between ranks serves a whole window.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use collectives::plan::{Owners, Pieces, part_of};
use contract::{Apply, Combine, Result};

use super::agreement::Awaited;
use super::combining::{chunk_bytes, combine_parts};
use super::copies::copy;
use super::oversubscription::ProcessorGroups;
use super::{Call, Host, Memory, Team};
use crate::board::{SLOTS, SlotCounters};

/// Who owns the shares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Each member. Steps follow one another without a pause, so that both sides are always at work.
    Member,
    /// The last member of each processor. A whole window is put, combined and taken at once.
    Processor,
}

/// Data that are put, combined and taken together: one piece, or those of a window.
#[derive(Clone, Copy)]
struct Stage {
    /// The first and the last step.
    first: u32,
    last: u32,
    /// Where the data begin in the caller's memory, and how long they are.
    start: usize,
    bytes: usize,
    element_bytes: usize,
}

/// The call, as all its steps see it.
#[derive(Clone, Copy)]
struct Shares {
    group: Group,
    pieces: Pieces,
    element_bytes: usize,
    chunk_bytes: usize,
}

impl Shares {
    /// The stage that ends with a step, and steps like it are put together.
    fn ended(&self, epoch: u32, piece: usize) -> Option<Stage> {
        match self.group {
            Group::Member => Some(self.stage(epoch, &(piece..piece + 1))),
            Group::Processor => {
                let (first, window) = self.pieces.ended_window(epoch, piece)?;
                Some(self.stage(first, &window))
            }
        }
    }

    /// The stage that begins with a step.
    fn begun(&self, epoch: u32, piece: usize) -> Option<Stage> {
        match self.group {
            Group::Member => Some(self.stage(epoch, &(piece..piece + 1))),
            Group::Processor => {
                let (_, window) = self.pieces.begun_window(epoch, piece)?;
                Some(self.stage(epoch, &window))
            }
        }
    }

    fn stage(&self, first: u32, pieces: &Range<usize>) -> Stage {
        let (start, bytes) = self.pieces.get_all(pieces);
        let last = first.wrapping_add(pieces.len() as u32 - 1);
        Stage { first, last, start, bytes, element_bytes: self.element_bytes }
    }
}

impl Team {
    /// Allreduce in shares.
    ///
    /// # Safety
    /// As for `allreduce`.
    pub(super) unsafe fn combine_shares<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        Memory { send, receive }: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        let group = match call.plan.owners {
            Owners::Processors => Group::Processor,
            _ => Group::Member,
        };
        let shares = Shares {
            group,
            pieces: call.plan.pieces,
            element_bytes: combine.element_bytes,
            chunk_bytes: chunk_bytes(&combine),
        };
        let apply = RefCell::new(combine.apply);
        // Of the stage under way.
        let is_owner = Cell::new(group == Group::Member);
        self.run_with_work(
            host,
            &call,
            |team, host, epoch, piece| {
                let Some(stage) = shares.ended(epoch, piece) else { return };
                // All slots of the stage are this rank's now.
                if group == Group::Processor {
                    is_owner.set(team.arrives_last(epoch));
                }
                // SAFETY: the bytes are within what the caller promised.
                unsafe { team.put_for_others(group, stage, send.add(stage.start), is_owner.get()) };
                team.publish_window(
                    stage.first,
                    (stage.last.wrapping_sub(stage.first) + 1) as usize,
                );
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let Some(stage) = shares.begun(epoch, piece) else { return Ok(()) };
                team.wait_for_all(host, stage.last)?;
                if is_owner.get() {
                    // SAFETY: as above.
                    let memory = unsafe { (send.add(stage.start), receive.add(stage.start)) };
                    let apply = &mut **apply.borrow_mut();
                    team.combine_own_share(&shares, stage, memory, apply);
                    let counters = team.share_counters(group, team.own_group(group), stage.last);
                    counters.done.set(stage.last, team.me as u32);
                    team.wake_readers(host);
                }
                Ok(())
            },
            |team, host, epoch, piece| {
                let Some(stage) = shares.begun(epoch, piece) else { return Ok(()) };
                // SAFETY: as above.
                let to = unsafe { receive.add(stage.start) };
                team.take_shares(host, group, stage, to)?;
                if group == Group::Member {
                    team.swap_places(epoch);
                }
                Ok(())
            },
        )
    }

    fn processor_groups(&self) -> &ProcessorGroups {
        self.processors.as_ref().expect("only where members are bound do processors combine")
    }

    /// How many shares there are.
    fn groups(&self, group: Group) -> usize {
        match group {
            Group::Member => self.size(),
            Group::Processor => self.processor_groups().first.len(),
        }
    }

    /// Which share is this rank's, or its processor's.
    fn own_group(&self, group: Group) -> usize {
        match group {
            Group::Member => self.me,
            Group::Processor => self.processor_groups().own,
        }
    }

    /// The first member that may own a share.
    fn first_of(&self, group: Group, index: usize) -> usize {
        match group {
            Group::Member => index,
            Group::Processor => self.processor_groups().first[index],
        }
    }

    /// The counters of a step for a share.
    fn share_counters(&self, group: Group, index: usize, epoch: u32) -> &SlotCounters {
        &self.board(self.first_of(group, index)).counters[epoch as usize % SLOTS]
    }

    /// Counts this rank among the members of its processor that have arrived in this step. Returns whether it
    /// is the last.
    fn arrives_last(&self, epoch: u32) -> bool {
        let groups = self.processor_groups();
        let arrived = &self.share_counters(Group::Processor, groups.own, epoch).claimed;
        arrived.count(epoch) as usize == groups.local.len() + 1
    }

    fn share(&self, group: Group, index: usize, stage: Stage) -> Range<usize> {
        part_of(index, self.groups(group), stage.bytes, stage.element_bytes)
    }

    /// Puts this rank's data of a stage: all that other members combine.
    ///
    /// # Safety
    /// `send` holds the stage's bytes.
    unsafe fn put_for_others(&self, group: Group, stage: Stage, send: *const u8, is_owner: bool) {
        let own = if is_owner { self.share(group, self.own_group(group), stage) } else { 0..0 };
        let span = self.span(self.me, stage.first, stage.bytes);
        for put in [0..own.start, own.end..stage.bytes] {
            // SAFETY: the caller promised the bytes, and the span has room for them.
            unsafe { span.put(put.start, send.add(put.start), put.len()) };
        }
    }

    /// Combines this rank's share of a stage into `to` and into this rank's own slots, where that part is
    /// free. This rank's data of the stage are at `from`, which is `to` or apart from it.
    fn combine_own_share(
        &self,
        shares: &Shares,
        stage: Stage,
        (from, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let share = self.share(shares.group, self.own_group(shares.group), stage);
        let in_place = from == to.cast_const();
        let span = |member| self.span(member, stage.first, stage.bytes);
        let own = span(self.me);
        let mut start = share.start;
        while start < share.end {
            let (slot, room) = own.at(start);
            let here = shares.chunk_bytes.min(share.end - start).min(room);
            let data = |member: usize| match member == self.me {
                true => from.wrapping_add(start),
                false => span(member).at(start).0.cast_const(),
            };
            // SAFETY: every member but this one has put this part, and this rank's data are there for as long
            // as the call lasts. Nobody reads this part in our slots before we have published that it is
            // combined. All boards' slots go on at their start at the same place.
            unsafe {
                let to = to.add(start);
                // By a copy into the slot, where that is possible: it takes lines from the other processor
                // without reading them.
                let (result, second) = if in_place { (slot, to) } else { (to, slot) };
                copy(combine_parts(self.size(), data, result, here, apply), second, here);
            }
            start += here;
        }
    }

    /// Waits until all shares of a stage are combined, and copies those of other members to `to`.
    fn take_shares<H: Host>(
        &mut self,
        host: &mut H,
        group: Group,
        stage: Stage,
        to: *mut u8,
    ) -> Result<()> {
        let (groups, own) = (self.groups(group), self.own_group(group));
        for index in (0..groups).map(|distance| (own + distance) % groups) {
            let owner =
                |team: &Team| team.share_counters(group, index, stage.last).done.get(stage.last);
            // While it is another processor's share no rank on this one has to run first.
            let awaited = match index == own {
                true => Awaited::Nobody,
                false => Awaited::One(self.first_of(group, index)),
            };
            self.wait_for(host, stage.last, awaited, |team| owner(team).is_some())?;
            let other = owner(self).filter(|&member| member as usize != self.me);
            let Some(member) = other else { continue };
            let share = self.share(group, index, stage);
            let span = self.span(member as usize, stage.first, stage.bytes);
            // SAFETY: the member that combined the share has published that. The share stays until this step
            // has ended, and `to` has room for the stage.
            unsafe { span.take(share.start, to.add(share.start), share.len()) };
        }
        Ok(())
    }
}
