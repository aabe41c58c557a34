//! Arrival in levels: how the members of a large team learn that all of them have put their parts.
//!
//! Members form groups of neighbours. Each member counts itself in its group. The last to arrive in a group compares
//! the calls of the group's members and counts the group. The last of these compares the groups' calls and releases
//! each group by a line of its own. So no member reads a line of every other member, and the last to arrive continues
//! at once: if ranks are oversubscribed, no other rank must run in between.

use std::ops::Range;

use collectives::CallId;

use super::{Counter, SlotHeader};
use crate::ring::LINE_BYTES;

/// The call that a member makes: its call id and its length.
pub(crate) type MeantCall = (CallId, usize);

/// Represents members that make different calls. No call has this length.
const DIFFERENT: MeantCall = (CallId::NONE, usize::MAX);

/// The lines of a slot for arrival in levels.
#[repr(C)]
pub(crate) struct SlotLevels {
    /// Number of groups that have arrived completely. Only the first member's board counts them.
    groups_arrived: Counter,
    /// Call of a group, once all its members have arrived. This line and the next are used on the board of the group's
    /// first member only.
    group: SlotHeader,
    /// Announces to the members of a group that all members have arrived, with their call and a short result.
    release: SlotHeader,
}

#[cfg(test)]
#[cfg(not(loom))]
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

    /// Returns the members of a group.
    fn members_of(self, group: usize) -> Range<usize> {
        let first = group * self.group_members;
        first..self.members.min(first + self.group_members)
    }

    /// Returns the first member of a member's group.
    #[inline]
    pub(crate) fn first_of_group(self, member: usize) -> usize {
        member / self.group_members * self.group_members
    }

    /// Returns the offset of a member's part of `bytes` bytes if the parts of a group lie side by side in `room` bytes,
    /// each in lines of its own, or `None` if they do not fit.
    #[inline]
    pub(crate) fn place_in_group(self, member: usize, bytes: usize, room: usize) -> Option<usize> {
        let each = bytes.next_multiple_of(LINE_BYTES);
        let fit = each * self.group_members <= room;
        fit.then_some((member - self.first_of_group(member)) * each)
    }

    /// Counts member `me`, which has published its part of the step and makes the call `own`. If it is the last member
    /// to arrive, returns the call that all make; that member must then [`release`](Levels::release) all.
    ///
    /// `combine` is called by the last member of a group, and again by the last of all, if the members so far make the
    /// same call. Its arguments are the number of parts and a function that returns the member whose place holds each
    /// part. The result goes to the place of the last part.
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
        // The counter acquires what every member of the group released when it counted: its header is complete.
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

    /// Announces to every member that all have arrived, and the call that they make. `fill` writes a short result.
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

    /// Returns the line that releases a member.
    #[inline]
    pub(crate) fn release_of<'b>(
        self,
        member: usize,
        lines: impl Fn(usize) -> Lines<'b>,
    ) -> &'b SlotHeader {
        &lines(self.first_of_group(member)).levels.release
    }
}

impl SlotHeader {
    /// Returns whether the part of a step is there and its owner makes this call.
    #[inline]
    pub(crate) fn means(&self, epoch: u32, call: MeantCall) -> bool {
        self.holds(epoch) && self.contents() == call
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    SlotLevels { groups_arrived, group, release }
}

#[cfg(all(test, loom))]
impl SlotLevels {
    pub(super) fn watch(&self) {
        self.group.watch();
        self.release.watch();
    }
}
