//! Arrival in levels: how the members of a large team learn that all of them have put their parts.
//!
//! Members are in groups of neighbours. Each counts itself in its group; the last of a group compares the calls that
//! the group's members mean, and counts the group; the last of these compares the groups' calls, and releases every
//! group by a line of its own. So nobody reads a line of every member, and whoever is there last goes on at once: where
//! ranks are oversubscribed no other rank has to run in between.

use std::ops::Range;

use super::{Counter, SlotHeader};
use crate::ring::LINE_BYTES;

/// What a member means: the id of its call, and the length.
pub(crate) type MeantCall = (u32, usize);

/// Stands for the call of members that do not mean the same one. No call is as long.
const DIFFERENT: MeantCall = (0, usize::MAX);

/// The lines of a slot for arrival in levels.
#[repr(C)]
pub(crate) struct SlotLevels {
    /// Groups of which all members have arrived. Only the first member's board counts them.
    groups_arrived: Counter,
    /// The call of a group, once all its members have arrived. So for the next line, only the group's first member's board
    /// has it.
    group: SlotHeader,
    /// Tells the members of a group that all members have arrived, which call they mean, and a short result.
    pub(super) release: SlotHeader,
}

#[cfg(test)]
impl SlotLevels {
    pub(super) fn empty() -> Self {
        SlotLevels {
            groups_arrived: Counter::new(),
            group: SlotHeader::empty(),
            release: SlotHeader::empty(),
        }
    }
}

/// A member's lines of a slot.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'b> {
    pub(crate) header: &'b SlotHeader,
    pub(crate) arrived: &'b Counter,
    pub(crate) levels: &'b SlotLevels,
}

/// The members of a team, in groups of neighbours. All groups but the last have the same number of members.
#[derive(Clone, Copy)]
pub(crate) struct Levels {
    members: usize,
    group_members: usize,
}

impl Levels {
    pub(crate) fn new(members: usize, group_members: usize) -> Self {
        Levels { members, group_members }
    }

    fn groups(self) -> usize {
        self.members.div_ceil(self.group_members)
    }

    /// The members of a group.
    fn members_of(self, group: usize) -> Range<usize> {
        let first = group * self.group_members;
        first..self.members.min(first + self.group_members)
    }

    /// The first member of a member's group.
    #[inline]
    pub(crate) fn first_beside(self, member: usize) -> usize {
        member / self.group_members * self.group_members
    }

    /// Where a member's part of `bytes` bytes begins, if the parts of a group lie side by side in `room` bytes, each in
    /// lines of its own; none if they do not fit.
    #[inline]
    pub(crate) fn place_beside(self, member: usize, bytes: usize, room: usize) -> Option<usize> {
        let each = bytes.next_multiple_of(LINE_BYTES);
        let fit = each * self.group_members <= room;
        fit.then_some((member - self.first_beside(member)) * each)
    }

    /// Counts member `me`, which has published its part of the step and means the call `own`. Returns the call that all
    /// mean if it is the last member to arrive, which then has to [`release`](Levels::release) all.
    ///
    /// `combine` is called by the last member of a group, and again by the last of all, if the members so far mean the
    /// same call: with a number of parts, and with whose place each has. The result goes to the place of the last.
    pub(crate) fn arrive<'b>(
        self,
        me: usize,
        epoch: u32,
        own: MeantCall,
        lines: impl Fn(usize) -> Lines<'b>,
        mut combine: impl FnMut(usize, &dyn Fn(usize) -> usize),
    ) -> Option<MeantCall> {
        let members = self.members_of(me / self.group_members);
        let of_group = lines(members.start);
        if of_group.arrived.count(epoch) as usize != members.len() {
            return None;
        }
        // Counting acquires what every member of the group released when it counted: its header is there.
        let agree = members.clone().all(|member| lines(member).header.means(epoch, own));
        if agree {
            combine(members.len(), &|part| members.start + part);
        }
        let group = if agree { own } else { DIFFERENT };
        of_group.levels.group.publish(epoch, group.0, group.1);
        if lines(0).levels.groups_arrived.count(epoch) as usize != self.groups() {
            return None;
        }
        let first = |group: usize| self.members_of(group).start;
        let agree =
            (0..self.groups()).all(|group| lines(first(group)).levels.group.means(epoch, own));
        if agree {
            combine(self.groups(), &|group| self.members_of(group).end - 1);
        }
        Some(if agree { own } else { DIFFERENT })
    }

    /// Tells every member that all have arrived, and which call they mean. `fill` writes a short result.
    pub(crate) fn release<'b>(
        self,
        epoch: u32,
        call: MeantCall,
        lines: impl Fn(usize) -> Lines<'b>,
        fill: impl Fn(*mut u8),
    ) {
        for group in 0..self.groups() {
            let release = &lines(self.members_of(group).start).levels.release;
            fill(release.short());
            release.publish(epoch, call.0, call.1);
        }
    }

    /// The line that releases a member.
    #[inline]
    pub(crate) fn release_of<'b>(
        self,
        member: usize,
        lines: impl Fn(usize) -> Lines<'b>,
    ) -> &'b SlotHeader {
        &lines(self.first_beside(member)).levels.release
    }
}

impl SlotHeader {
    /// Whether the part of a step is there, and its owner means this call.
    #[inline]
    pub(crate) fn means(&self, epoch: u32, call: MeantCall) -> bool {
        self.holds(epoch) && self.contents() == call
    }
}
