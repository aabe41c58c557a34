//! Collectives in two levels: inside groups of members that follow one another, and between one member of each group, its
//! leader. Where the members of a group share a host, the data cross between two hosts once for each host (Husbands and Hoe
//! 1998, Kielmann and others 1999).
//!
//! No fabric says yet which members share a host, so the groups are as many as each has members.

use super::{
    Own, allreduce, barrier as flat_barrier, broadcast as flat_broadcast, reduce as flat_reduce,
};
use crate::schedule::Within;
use crate::{Area, Membership, Order, Part, Schedule};

/// The groups of a collective's members.
struct Groups {
    group: Membership,
    /// The members of each group but the last, which may have fewer.
    width: usize,
    /// The member that leads its group, whatever its place there.
    root: Option<usize>,
}

impl Groups {
    fn new(group: Membership, root: Option<usize>) -> Self {
        let width = (1..=group.size).find(|width| width * width >= group.size).unwrap_or(1);
        Groups { group, width, root }
    }

    fn number(&self, member: usize) -> usize {
        member / self.width
    }

    fn leader(&self, number: usize) -> usize {
        let led_by_root = self.root.filter(|&root| self.number(root) == number);
        led_by_root.unwrap_or(number * self.width)
    }

    fn leads(&self) -> bool {
        self.leader(self.number(self.group.me)) == self.group.me
    }

    /// The leaders, in the order of their groups.
    fn leaders(&self) -> Level {
        let count = self.group.size.div_ceil(self.width);
        let members = (0..count).map(|number| self.leader(number)).collect();
        Level { members, me: self.number(self.group.me) }
    }

    /// The members of this member's group, and the leader's place among them.
    fn own(&self) -> (Level, usize) {
        let number = self.number(self.group.me);
        let first = number * self.width;
        let members = (first..(first + self.width).min(self.group.size)).collect();
        (Level { members, me: self.group.me - first }, self.leader(number) - first)
    }
}

/// The members of one level, and this one's place among them.
struct Level {
    members: Vec<usize>,
    me: usize,
}

impl Level {
    fn membership(&self) -> Membership {
        Membership { me: self.me, size: self.members.len() }
    }

    /// The setting of this level's schedule.
    fn within(self, input: Part, output: Part) -> Within {
        Within { members: self.members, input, output }
    }
}

/// The members of a group tell their leader, the leaders each other, and each leader its group.
pub fn barrier(group: Membership) -> Schedule {
    let groups = Groups::new(group, None);
    let mut schedule = Schedule::default();
    let (own, leader) = groups.own();
    let up = flat_reduce::binomial(own.membership(), leader, 0, Order::Any, Own::InInput);
    schedule.then(up, own.within(Part::EMPTY, Part::EMPTY));
    if groups.leads() {
        let leaders = groups.leaders();
        let across = flat_barrier::dissemination(leaders.membership());
        schedule.then(across, leaders.within(Part::EMPTY, Part::EMPTY));
    }
    spread(&mut schedule, &groups, 0);
    schedule
}

/// The root gives to the leaders, each leader to its group.
pub fn broadcast(group: Membership, root: usize, length: usize) -> Schedule {
    let groups = Groups::new(group, Some(root));
    let mut schedule = Schedule::default();
    if groups.leads() {
        let leaders = groups.leaders();
        let across = flat_broadcast::binomial(leaders.membership(), groups.number(root), length);
        schedule.then(across, leaders.within(Part::EMPTY, Part::of(Area::Output, 0..length)));
    }
    spread(&mut schedule, &groups, length);
    schedule
}

/// A leader's output becomes that of its group.
fn spread(schedule: &mut Schedule, groups: &Groups, length: usize) {
    let (own, leader) = groups.own();
    let down = flat_broadcast::binomial(own.membership(), leader, length);
    schedule.then(down, own.within(Part::EMPTY, Part::of(Area::Output, 0..length)));
}

/// Each group combines at its leader, the leaders at the root's. Where the order of the ranks counts, the first member
/// of a group leads it, and the root's leader passes the result on.
pub fn reduce(group: Membership, root: usize, length: usize, order: Order, own: Own) -> Schedule {
    let groups = Groups::new(group, (order == Order::Any).then_some(root));
    let root_leader = groups.leader(groups.number(root));
    let mut schedule = Schedule::default();
    let vector = match groups.leads() {
        true if group.me == root => Part::of(Area::Output, 0..length),
        true => schedule.room(length),
        false => Part::EMPTY,
    };
    combine_groups(&mut schedule, &groups, length, order, (own, vector));
    if groups.leads() {
        let leaders = groups.leaders();
        let to = groups.number(root);
        let across = flat_reduce::binomial(leaders.membership(), to, length, order, Own::InOutput);
        schedule.then(across, leaders.within(Part::EMPTY, vector));
    }
    if root_leader != root && group.me == root_leader {
        schedule.send(root, vector);
    } else if root_leader != root && group.me == root {
        schedule.receive(root_leader, Part::of(Area::Output, 0..length));
    }
    schedule
}

/// Each group combines at its leader, the leaders with each other, and each leader gives the result to its group.
pub fn allreduce(group: Membership, length: usize, order: Order, own: Own) -> Schedule {
    let groups = Groups::new(group, None);
    let mut schedule = Schedule::default();
    let vector = Part::of(Area::Output, 0..length);
    combine_groups(&mut schedule, &groups, length, order, (own, vector));
    if groups.leads() {
        let leaders = groups.leaders();
        let across =
            allreduce::recursive_doubling(leaders.membership(), length, order, Own::InOutput);
        schedule.then(across, leaders.within(Part::EMPTY, vector));
    }
    spread(&mut schedule, &groups, length);
    schedule
}

/// The inputs of each group, combined, become its leader's `vector`.
fn combine_groups(
    schedule: &mut Schedule,
    groups: &Groups,
    length: usize,
    order: Order,
    (own, vector): (Own, Part),
) {
    let (level, leader) = groups.own();
    let input = own.part(length);
    let in_place = if input == vector { Own::InOutput } else { Own::InInput };
    let up = flat_reduce::binomial(level.membership(), leader, length, order, in_place);
    schedule.then(up, level.within(input, vector));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten members are in groups of four: 0 to 3, 4 to 7, 8 and 9. Member 6 leads the second as the root.
    #[test]
    fn groups_are_as_wide_as_they_are_many() {
        let groups = |me, root| Groups::new(Membership { me, size: 10 }, root);
        assert_eq!(groups(0, None).leaders().members, [0, 4, 8]);
        assert_eq!(groups(0, Some(6)).leaders().members, [0, 6, 8]);
        let (own, leader) = groups(5, Some(6)).own();
        assert_eq!((own.members, own.me, leader), (vec![4, 5, 6, 7], 1, 2));
        let (own, leader) = groups(9, None).own();
        assert_eq!((own.members, own.me, leader), (vec![8, 9], 1, 0));
    }
}
