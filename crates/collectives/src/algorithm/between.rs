//! Collectives between two groups: what the members of one put in goes to the members of the other.
//!
//! The members of both are numbered one group after the other. Blocks are counted by the members of the other group.

use std::ops::Range;

use super::Own;
use crate::schedule::Within;
use crate::{Area, Blocks, Call, Manner, Membership, Message, Order, Part, Schedule, select};

/// One member's view of two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoGroups {
    /// This member, among all of both.
    pub me: usize,
    /// How many members the first group has.
    pub first: usize,
    /// How many both have.
    pub size: usize,
}

/// Who gives or gets the data of a call with a root, as one member sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootBetween {
    /// This member.
    Me,
    /// Another member of its group: it has no part in the call.
    Beside,
    /// This member of the other group.
    Across(usize),
}

impl TwoGroups {
    /// Returns whether this member is in the first group.
    pub fn is_first(self) -> bool {
        self.me < self.first
    }

    /// Returns the members of this one's group.
    pub fn own(self) -> Range<usize> {
        if self.is_first() { 0..self.first } else { self.first..self.size }
    }

    /// Returns the members of the other group.
    pub fn other(self) -> Range<usize> {
        if self.is_first() { self.first..self.size } else { 0..self.first }
    }

    /// This member among those of its group.
    fn within_own(self) -> Membership {
        let own = self.own();
        Membership { me: self.me - own.start, size: own.len() }
    }

    /// Returns a member of the other group among all.
    fn across(self, rank: usize) -> usize {
        self.other().start + rank
    }

    /// Returns the members of the other group with their places in it, beginning with the one that stands where this
    /// one stands in its own, so that not all send to the same member at once.
    fn others(self) -> impl Iterator<Item = (usize, usize)> {
        let (count, first) = (self.other().len(), self.within_own().me);
        (0..count).map(move |step| {
            let place = (first + step) % count;
            (place, self.across(place))
        })
    }

    /// A schedule of this member's group, with its input and output there.
    fn inside(self, schedule: &mut Schedule, next: Schedule, input: Part, output: Part) {
        schedule.then(next, Within { members: self.own().collect(), input, output });
    }

    /// Carries the elements of this group, combined, to the first member of the other, and brings those of the other to the
    /// first member of this one, who gets them in the part that this returns.
    fn swap_sums(
        self,
        schedule: &mut Schedule,
        length: usize,
        order: Order,
        unit_bytes: usize,
    ) -> Part {
        let sum = combined(self, schedule, length, order, unit_bytes);
        let leads = self.within_own().me == 0;
        let theirs = if leads { schedule.room(length) } else { Part::EMPTY };
        if leads {
            let leader = self.across(0);
            schedule.exchange(Message::new(leader, sum), Message::new(leader, theirs));
        }
        theirs
    }
}

/// Combines the inputs of this member's group at its first member, in a part of its own, which this returns.
fn combined(
    groups: TwoGroups,
    schedule: &mut Schedule,
    length: usize,
    order: Order,
    unit_bytes: usize,
) -> Part {
    let group = groups.within_own();
    let call = Call::Reduce { root: 0, length, order };
    let algorithm = select(&call, group.size, unit_bytes, Manner::Blocking, None);
    let sum = if group.me == 0 { schedule.room(length) } else { Part::EMPTY };
    let up = call.schedule(algorithm, group, Own::InInput, None);
    groups.inside(schedule, up, Part::of(Area::Input, 0..length), sum);
    sum
}

/// The root's output becomes that of the other group's members.
pub fn broadcast(groups: TwoGroups, root: RootBetween, length: usize) -> Schedule {
    let (root, receivers) = match root {
        RootBetween::Beside => return Schedule::default(),
        RootBetween::Me => (groups.me, groups.other()),
        RootBetween::Across(rank) => (groups.across(rank), groups.own()),
    };
    let members: Vec<usize> = std::iter::once(root).chain(receivers).collect();
    let me = members.iter().position(|&one| one == groups.me).expect("it is one of them");
    let group = Membership { me, size: members.len() };
    let call = Call::Broadcast { root: 0, length };
    let algorithm = select(&call, group.size, 1, Manner::Blocking, None);
    let output = Part::of(Area::Output, 0..length);
    let mut schedule = Schedule::default();
    let down = call.schedule(algorithm, group, Own::InOutput, None);
    schedule.then(down, Within { members, input: Part::EMPTY, output });
    schedule
}

/// The input of member r of the other group becomes block r of the root's output. Members other than the root give a block of
/// their own.
pub fn gather(groups: TwoGroups, root: RootBetween, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        RootBetween::Beside => {}
        RootBetween::Me => {
            let one = |(place, rank)| Message::new(rank, Part::of(Area::Output, blocks.one(place)));
            schedule.messages(groups.others().map(one), []);
        }
        RootBetween::Across(rank) => {
            schedule.send(groups.across(rank), Part::of(Area::Input, blocks.one(0)));
        }
    }
    schedule
}

/// Block r of the root's input becomes the output of member r of the other group.
pub fn scatter(groups: TwoGroups, root: RootBetween, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        RootBetween::Beside => {}
        RootBetween::Me => {
            let one = |(place, rank)| Message::new(rank, Part::of(Area::Input, blocks.one(place)));
            schedule.messages([], groups.others().map(one));
        }
        RootBetween::Across(rank) => {
            schedule.receive(groups.across(rank), Part::of(Area::Output, blocks.one(0)));
        }
    }
    schedule
}

/// The input of member r of the other group becomes block r of everybody's output.
pub fn allgather(groups: TwoGroups, length: usize, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    let input = Part::of(Area::Input, 0..length);
    let receive = |(place, rank)| Message::new(rank, Part::of(Area::Output, blocks.one(place)));
    let send = |(_, rank)| Message::new(rank, input);
    schedule.messages(groups.others().map(receive), groups.others().map(send));
    schedule
}

/// Block r of the input of member s of the one group becomes block s of the output of member r of the other.
pub fn all_to_all(groups: TwoGroups, input: &Blocks, output: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    let receive = |(place, rank)| Message::new(rank, Part::of(Area::Output, output.one(place)));
    let send = |(place, rank)| Message::new(rank, Part::of(Area::Input, input.one(place)));
    schedule.messages(groups.others().map(receive), groups.others().map(send));
    schedule
}

/// The inputs of the other group, combined, become the root's output.
pub fn reduce(
    groups: TwoGroups,
    root: RootBetween,
    length: usize,
    order: Order,
    unit_bytes: usize,
) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        RootBetween::Beside => {}
        RootBetween::Me => schedule.receive(groups.across(0), Part::of(Area::Output, 0..length)),
        RootBetween::Across(rank) => {
            let sum = combined(groups, &mut schedule, length, order, unit_bytes);
            if groups.within_own().me == 0 {
                schedule.send(groups.across(rank), sum);
            }
        }
    }
    schedule
}

/// The inputs of the other group, combined, become everybody's output.
pub fn allreduce(groups: TwoGroups, length: usize, order: Order, unit_bytes: usize) -> Schedule {
    let mut schedule = Schedule::default();
    let theirs = groups.swap_sums(&mut schedule, length, order, unit_bytes);
    let (group, output) = (groups.within_own(), Part::of(Area::Output, 0..length));
    if group.me == 0 {
        schedule.copy(theirs, output);
    }
    let call = Call::Broadcast { root: 0, length };
    let algorithm = select(&call, group.size, unit_bytes, Manner::Blocking, None);
    let down = call.schedule(algorithm, group, Own::InOutput, None);
    groups.inside(&mut schedule, down, Part::EMPTY, output);
    schedule
}

/// Block r of the inputs of the other group, combined, becomes the output of member r of this one.
pub fn reduce_scatter(
    groups: TwoGroups,
    blocks: &Blocks,
    order: Order,
    unit_bytes: usize,
) -> Schedule {
    let mut schedule = Schedule::default();
    let theirs = groups.swap_sums(&mut schedule, blocks.total(), order, unit_bytes);
    let group = groups.within_own();
    let output = Part::of(Area::Output, 0..blocks.one(group.me).len());
    if group.me != 0 {
        schedule.receive(groups.own().start, output);
        return schedule;
    }
    schedule.copy(theirs.within(blocks.one(0)), output);
    let first = groups.own().start;
    let one = |place| Message::new(first + place, theirs.within(blocks.one(place)));
    schedule.messages([], (1..group.size).map(one));
    schedule
}
