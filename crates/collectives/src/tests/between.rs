//! Tests collectives between two groups against their definitions, with members of random speed.

use super::cases::{nothing, units};
use random::SplitMix64;

use super::model::run;
use crate::algorithm::between::*;
use crate::{Blocks, Call, Order, Schedule};

/// Two groups with the data and expected results of each member.
struct Case {
    sizes: [usize; 2],
    schedules: Vec<Schedule>,
    inputs: Vec<Vec<String>>,
    outputs: Vec<Vec<String>>,
    wanted: Vec<Vec<String>>,
}

impl Case {
    fn new(sizes: [usize; 2]) -> Self {
        let size = sizes[0] + sizes[1];
        let none = || vec![Vec::new(); size];
        Case { sizes, schedules: Vec::new(), inputs: none(), outputs: none(), wanted: none() }
    }

    fn groups(&self, me: usize) -> TwoGroups {
        TwoGroups { me, first: self.sizes[0], size: self.sizes[0] + self.sizes[1] }
    }

    fn members(&self) -> impl Iterator<Item = (usize, TwoGroups)> + use<> {
        let (first, size) = (self.sizes[0], self.sizes[0] + self.sizes[1]);
        (0..size).map(move |me| (me, TwoGroups { me, first, size }))
    }

    fn check(self, seed: u64, what: &str) {
        let calls = vec![Call::Barrier; self.schedules.len()];
        let found = run(seed, &calls, self.schedules, self.inputs, self.outputs);
        assert_eq!(found, self.wanted, "seed {seed}: {what} between {:?}", self.sizes);
    }
}

/// Returns the root as each member of the two groups sees it.
fn seen(root: usize, groups: TwoGroups) -> RootBetween {
    match root {
        _ if root == groups.me => RootBetween::Me,
        _ if groups.own().contains(&root) => RootBetween::NoPart,
        _ => RootBetween::Across(root - groups.other().start),
    }
}

/// Returns the units of the members of a group, in order.
fn behind(members: std::ops::Range<usize>, count: usize) -> Vec<String> {
    members.flat_map(|member| units(member, count)).collect()
}

/// Returns the combined units of all members of a group.
fn sums(members: std::ops::Range<usize>, units_of: std::ops::Range<usize>) -> Vec<String> {
    let one = |index: usize| -> String {
        members.clone().map(|member| units(member, index + 1).remove(index)).collect()
    };
    units_of.map(one).collect()
}

fn rooted(seed: u64, sizes: [usize; 2], random: &mut SplitMix64) {
    let (root, length) = (random.below(sizes[0] + sizes[1]), random.below(4));
    for (kind, name) in ["broadcast", "gather", "scatter", "reduce"].into_iter().enumerate() {
        let mut case = Case::new(sizes);
        for (me, groups) in case.members() {
            let (place, many) = (seen(root, groups), groups.other().len());
            let is_root = place == RootBetween::Me;
            let takes_part = place != RootBetween::NoPart;
            let blocks = Blocks::equal(if is_root { many } else { 1 }, length);
            let [input, output] = match kind {
                0 => [0, length],
                1 if is_root => [0, many * length],
                1 => [length, 0],
                2 if is_root => [many * length, 0],
                2 => [0, length],
                _ if is_root => [0, length],
                _ => [length, 0],
            };
            case.inputs[me] = units(me, input);
            case.outputs[me] = nothing(output);
            case.wanted[me] = match kind {
                0 if takes_part => units(root, length),
                1 if is_root => behind(groups.other(), length),
                2 if takes_part && !is_root => {
                    let first = (me - groups.own().start) * length;
                    units(root, first + length)[first..].to_vec()
                }
                3 if is_root => sums(groups.other(), 0..length),
                _ => nothing(output),
            };
            if kind == 0 && is_root {
                case.outputs[me] = units(root, length);
            }
            case.schedules.push(match kind {
                0 => broadcast(groups, place, length),
                1 => gather(groups, place, &blocks),
                2 => scatter(groups, place, &blocks),
                _ => reduce(groups, place, length, Order::Ranks, 8),
            });
        }
        case.check(seed, name);
    }
}

fn of_all(seed: u64, sizes: [usize; 2], random: &mut SplitMix64) {
    let lengths: Vec<usize> = (0..sizes[0] + sizes[1]).map(|_| random.below(4)).collect();
    let mut case = Case::new(sizes);
    for (me, groups) in case.members() {
        case.inputs[me] = units(me, lengths[me]);
        case.wanted[me] = groups.other().flat_map(|one| units(one, lengths[one])).collect();
        case.outputs[me] = nothing(case.wanted[me].len());
        let blocks = Blocks::of_lengths(groups.other().map(|one| lengths[one]));
        case.schedules.push(allgather(groups, lengths[me], &blocks));
    }
    case.check(seed, "allgather");
    // Member s sends member r as many units as both have lengths together.
    let mut case = Case::new(sizes);
    for (me, groups) in case.members() {
        let blocks = Blocks::of_lengths(groups.other().map(|one| lengths[one] + lengths[me]));
        case.inputs[me] = units(me, blocks.total());
        case.outputs[me] = nothing(blocks.total());
        for other in groups.other() {
            let theirs = case.groups(other).other();
            let before: usize = theirs
                .clone()
                .take(me - theirs.start)
                .map(|one| lengths[one] + lengths[other])
                .sum();
            let count = lengths[me] + lengths[other];
            case.wanted[me].extend_from_slice(&units(other, before + count)[before..]);
        }
        case.schedules.push(all_to_all(groups, &blocks, &blocks));
    }
    case.check(seed, "all-to-all");
}

fn combined(seed: u64, sizes: [usize; 2], random: &mut SplitMix64) {
    let each = random.below(3);
    // Both groups have equally many elements in all, for any sizes.
    let total = sizes[0] * sizes[1] * each;
    for kind in 0..2 {
        let mut case = Case::new(sizes);
        for (me, groups) in case.members() {
            let own = groups.own();
            let blocks = Blocks::equal(own.len(), total / own.len());
            case.inputs[me] = units(me, total);
            let wanted = if kind == 0 { 0..total } else { blocks.one(me - own.start) };
            case.outputs[me] = nothing(wanted.len());
            case.wanted[me] = sums(groups.other(), wanted);
            case.schedules.push(match kind {
                0 => allreduce(groups, total, Order::Ranks, 8),
                _ => reduce_scatter(groups, &blocks, Order::Ranks, 8),
            });
        }
        case.check(seed, ["allreduce", "reduce-scatter"][kind]);
    }
}

#[test]
fn every_collective_between_two_groups_moves_the_right_data() {
    for first in 1..=6 {
        for second in 1..=5 {
            for turn in 0..4_u64 {
                let seed = 1 << 60 | (first as u64) << 16 | (second as u64) << 8 | turn;
                let mut random = SplitMix64::new(seed);
                rooted(seed, [first, second], &mut random);
                of_all(seed, [first, second], &mut random);
                combined(seed, [first, second], &mut random);
            }
        }
    }
}
