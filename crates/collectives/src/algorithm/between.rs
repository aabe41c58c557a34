//! Collectives between two groups: the data of one group's members go to the members of the other.
//!
//! The members of both groups are numbered consecutively, the first group first. Blocks are counted by the members of
//! the other group.

use std::ops::Range;

use super::Own;
use crate::schedule::Within;
use crate::{Area, Blocks, Call, Manner, Membership, Message, Order, Part, Schedule, select};

/// Two groups as seen by one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoGroups {
    /// Number of this member among all members of both groups.
    pub me: usize,
    /// Number of members of the first group.
    pub first: usize,
    /// Number of members of both groups.
    pub size: usize,
}

/// Role of the root's data in a call with a root, as seen by one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootBetween {
    /// This member is the root.
    Me,
    /// Another member of this group is the root: this member takes no part in the call.
    NoPart,
    /// A member of the other group is the root.
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

    /// Returns this member's place within its own group.
    fn within_own(self) -> Membership {
        let own = self.own();
        Membership { me: self.me - own.start, size: own.len() }
    }

    /// Returns the number of a member of the other group among all members.
    fn across(self, rank: usize) -> usize {
        self.other().start + rank
    }

    /// Returns the members of the other group with their places in it, beginning with the member whose place equals
    /// this member's place in its own group, so that not all send to the same member at once.
    fn others(self) -> impl Iterator<Item = (usize, usize)> {
        let (count, first) = (self.other().len(), self.within_own().me);
        (0..count).map(move |step| {
            let place = (first + step) % count;
            (place, self.across(place))
        })
    }

    /// Appends a schedule of this member's group with the given input and output.
    fn inside(self, schedule: &mut Schedule, next: Schedule, input: Part, output: Part) {
        schedule.then(next, Within { members: self.own().collect(), input, output });
    }

    /// Sends the combined elements of this group to the first member of the other, and receives those of the other
    /// group at the first member of this one. Returns the part that contains them.
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

/// Combines the inputs of this member's group at its first member, in a new part, which it returns.
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

/// Copies the root's output to the output of the other group's members.
pub fn broadcast(groups: TwoGroups, root: RootBetween, length: usize) -> Schedule {
    let (root, receivers) = match root {
        RootBetween::NoPart => return Schedule::default(),
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

/// Gathers the input of member r of the other group into block r of the root's output. Members other than the root pass
/// their own block as the only one.
pub fn gather(groups: TwoGroups, root: RootBetween, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        RootBetween::NoPart => {}
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

/// Copies block r of the root's input to the output of member r of the other group.
pub fn scatter(groups: TwoGroups, root: RootBetween, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        RootBetween::NoPart => {}
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

/// Copies the input of member r of the other group to block r of the output of each member.
pub fn allgather(groups: TwoGroups, length: usize, blocks: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    let input = Part::of(Area::Input, 0..length);
    let receive = |(place, rank)| Message::new(rank, Part::of(Area::Output, blocks.one(place)));
    let send = |(_, rank)| Message::new(rank, input);
    schedule.messages(groups.others().map(receive), groups.others().map(send));
    schedule
}

/// Copies block r of the input of member s of one group to block s of the output of member r of the other.
pub fn all_to_all(groups: TwoGroups, input: &Blocks, output: &Blocks) -> Schedule {
    let mut schedule = Schedule::default();
    let receive = |(place, rank)| Message::new(rank, Part::of(Area::Output, output.one(place)));
    let send = |(place, rank)| Message::new(rank, Part::of(Area::Input, input.one(place)));
    schedule.messages(groups.others().map(receive), groups.others().map(send));
    schedule
}

/// Combines the inputs of the other group in the root's output.
pub fn reduce(
    groups: TwoGroups,
    root: RootBetween,
    length: usize,
    order: Order,
    unit_bytes: usize,
) -> Schedule {
    let mut schedule = Schedule::default();
    match root {
        RootBetween::NoPart => {}
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

/// Combines the inputs of the other group in the output of each member.
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

/// Combines block r of the inputs of the other group in the output of member r of this one.
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
