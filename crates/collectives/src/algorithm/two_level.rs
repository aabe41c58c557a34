//! Two-level collectives: inside groups of members, and between one member of each group, its leader. If the members of
//! a group share a host, the data cross between two hosts once per host (Husbands and Hoe 1998, Kielmann and others
//! 1999).
//!
//! If the order of the ranks matters, the members of a group must be consecutive.

use super::{
    Own, allreduce, barrier as flat_barrier, broadcast as flat_broadcast, reduce as flat_reduce,
};
use crate::schedule::Within;
use crate::{Area, HostMap, Membership, Order, Part, Schedule};

/// Radix of the trees inside groups. If members share processors, each level costs a turn of all of them. If they do
/// not, a message to another member of a host is short compared with one between hosts.
const RADIX: usize = 4;

/// The groups of a collective's members.
struct Groups<'a> {
    group: Membership,
    map: &'a HostMap,
    /// Member that leads its group, at any place there.
    root: Option<usize>,
}

impl<'a> Groups<'a> {
    fn new(group: Membership, map: &'a HostMap, root: Option<usize>) -> Self {
        Groups { group, map, root }
    }

    fn number(&self, member: usize) -> usize {
        self.map.number(member)
    }

    fn leader(&self, number: usize) -> usize {
        let led_by_root = self.root.filter(|&root| self.number(root) == number);
        let first = || self.map.members(number).next().expect("a group has members");
        led_by_root.unwrap_or_else(first)
    }

    fn leads(&self) -> bool {
        self.leader(self.number(self.group.me)) == self.group.me
    }

    /// Returns the leaders, in the order of their groups.
    fn leaders(&self) -> Level {
        let members = (0..self.map.hosts()).map(|number| self.leader(number)).collect();
        Level { members, me: self.number(self.group.me) }
    }

    /// Returns the members of this member's group, and the leader's place among them.
    fn own(&self) -> (Level, usize) {
        let number = self.number(self.group.me);
        let members: Vec<usize> = self.map.members(number).collect();
        let place = |wanted| members.iter().position(|&member| member == wanted);
        let (me, leader) = (place(self.group.me), place(self.leader(number)));
        let is_in = "a member and its leader are in its group";
        (Level { me: me.expect(is_in), members }, leader.expect(is_in))
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

    /// Returns the bounds of this level's schedule.
    fn within(self, input: Part, output: Part) -> Within {
        Within { members: self.members, input, output }
    }
}

/// Builds signals from the members of a group to their leader, between the leaders, and from each leader to its group.
pub fn barrier(group: Membership, map: &HostMap) -> Schedule {
    let groups = Groups::new(group, map, None);
    let mut schedule = Schedule::default();
    let (own, leader) = groups.own();
    let up = flat_reduce::knomial(own.membership(), (leader, RADIX), 0, Own::InInput);
    schedule.then(up, own.within(Part::EMPTY, Part::EMPTY));
    if groups.leads() {
        let leaders = groups.leaders();
        let across = flat_barrier::dissemination(leaders.membership());
        schedule.then(across, leaders.within(Part::EMPTY, Part::EMPTY));
    }
    spread(&mut schedule, &groups, 0);
    schedule
}

/// Broadcasts from the root to the leaders, and from each leader to its group.
pub fn broadcast(group: Membership, map: &HostMap, root: usize, length: usize) -> Schedule {
    let groups = Groups::new(group, map, Some(root));
    let mut schedule = Schedule::default();
    if groups.leads() {
        let leaders = groups.leaders();
        let across = flat_broadcast::binomial(leaders.membership(), groups.number(root), length);
        schedule.then(across, leaders.within(Part::EMPTY, Part::of(Area::Output, 0..length)));
    }
    spread(&mut schedule, &groups, length);
    schedule
}

/// Copies a leader's output to the output of its group.
fn spread(schedule: &mut Schedule, groups: &Groups<'_>, length: usize) {
    let (own, leader) = groups.own();
    let down = flat_broadcast::knomial(own.membership(), (leader, RADIX), length);
    schedule.then(down, own.within(Part::EMPTY, Part::of(Area::Output, 0..length)));
}

/// Combines each group at its leader, and the leaders' results at the root's leader. If the order of the ranks matters,
/// the first member of a group leads it, and the root's leader sends the result to the root.
pub fn reduce(
    (group, map): (Membership, &HostMap),
    root: usize,
    length: usize,
    order: Order,
    own: Own,
) -> Schedule {
    let groups = Groups::new(group, map, (order == Order::Any).then_some(root));
    let root_leader = groups.leader(groups.number(root));
    let mut schedule = Schedule::default();
    let vector = match groups.leads() {
        true if group.me == root => Part::of(Area::Output, 0..length),
        true => schedule.room(length),
        false => Part::EMPTY,
    };
    combine_groups(&mut schedule, &groups, length, own, vector);
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

/// Combines each group at its leader, the results among the leaders, and copies the result from each leader to its
/// group.
pub fn allreduce(
    (group, map): (Membership, &HostMap),
    length: usize,
    order: Order,
    own: Own,
) -> Schedule {
    let groups = Groups::new(group, map, None);
    let mut schedule = Schedule::default();
    let vector = Part::of(Area::Output, 0..length);
    combine_groups(&mut schedule, &groups, length, own, vector);
    if groups.leads() {
        let leaders = groups.leaders();
        let across =
            allreduce::recursive_doubling(leaders.membership(), length, order, Own::InOutput);
        schedule.then(across, leaders.within(Part::EMPTY, vector));
    }
    spread(&mut schedule, &groups, length);
    schedule
}

/// Combines the inputs of each group in its leader's `vector`.
fn combine_groups(
    schedule: &mut Schedule,
    groups: &Groups<'_>,
    length: usize,
    own: Own,
    vector: Part,
) {
    let (level, leader) = groups.own();
    let input = own.part(length);
    let in_place = if input == vector { Own::InOutput } else { Own::InInput };
    let up = flat_reduce::knomial(level.membership(), (leader, RADIX), length, in_place);
    schedule.then(up, level.within(input, vector));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests groups of four for ten members: 0 to 3, 4 to 7, 8 and 9. Member 6 leads the second as the root.
    #[test]
    fn groups_are_as_wide_as_they_are_many() {
        let map = HostMap::squares(10);
        let groups = |me, root| Groups::new(Membership { me, size: 10 }, &map, root);
        assert_eq!(groups(0, None).leaders().members, [0, 4, 8]);
        assert_eq!(groups(0, Some(6)).leaders().members, [0, 6, 8]);
        let (own, leader) = groups(5, Some(6)).own();
        assert_eq!((own.members, own.me, leader), (vec![4, 5, 6, 7], 1, 2));
        let (own, leader) = groups(9, None).own();
        assert_eq!((own.members, own.me, leader), (vec![8, 9], 1, 0));
    }
}
