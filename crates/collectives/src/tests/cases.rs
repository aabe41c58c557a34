//! Random calls of each collective with the expected results.

use std::ops::Range;

use crate::{Blocks, Call, Order};
use random::SplitMix64;

/// Returns unit `index` of the data of member `me`.
fn unit(me: usize, index: usize) -> String {
    format!("({me}:{index})")
}

pub(super) fn units(me: usize, count: usize) -> Vec<String> {
    (0..count).map(|index| unit(me, index)).collect()
}

pub(super) fn nothing(count: usize) -> Vec<String> {
    vec!["?".to_string(); count]
}

/// A call as each member makes it, with the lengths of the members' memory.
pub(super) struct Case {
    pub(super) calls: Vec<Call>,
    pub(super) input: Vec<usize>,
    pub(super) output: Vec<usize>,
    /// Expected content of each output.
    pub(super) wanted: Vec<Vec<String>>,
    /// True if operands may be combined in any order.
    pub(super) any_order: bool,
    /// Part of the output that holds the member's own data, for calls with own data in the output.
    pub(super) own_place: Vec<Option<Range<usize>>>,
}

/// Returns a case with the same call at all members.
fn alike(call: Call, size: usize, input: usize, output: usize) -> Case {
    Case {
        calls: vec![call; size],
        input: vec![input; size],
        output: vec![output; size],
        wanted: vec![nothing(output); size],
        any_order: false,
        own_place: vec![None; size],
    }
}

fn combined(members: Range<usize>, index: usize) -> String {
    members.map(|me| unit(me, index)).collect()
}

/// Random parameters of calls.
struct Drawn {
    size: usize,
    root: usize,
    length: usize,
    equal: bool,
    order: Order,
    lengths: Vec<usize>,
    blocks: Blocks,
}

/// Returns a random call of the collective with this number, and its expected results.
pub(super) fn case(kind: usize, size: usize, random: &mut SplitMix64) -> Case {
    let (root, length) = (random.below(size), random.below(12));
    let equal = random.below(2) == 0;
    let order = if random.below(2) == 0 { Order::Any } else { Order::Ranks };
    let lengths: Vec<usize> =
        (0..size).map(|_| if equal { length } else { random.below(7) }).collect();
    let blocks = match equal {
        true => Blocks::equal(size, length),
        false => Blocks::of_lengths(lengths.iter().copied()),
    };
    let drawn = Drawn { size, root, length, equal, order, lengths, blocks };
    match kind {
        0 => alike(Call::Barrier, size, 0, 0),
        1 => drawn.broadcast(),
        2 => drawn.scatter(),
        3 => drawn.gather(),
        4 => drawn.allgather(),
        5 => all_to_all_case(size, equal, length, random),
        6 => drawn.reduce(),
        7 => drawn.allreduce(),
        8 => drawn.reduce_scatter(),
        _ => drawn.scan(kind == 10),
    }
}

impl Drawn {
    fn broadcast(self) -> Case {
        let Drawn { size, root, length, .. } = self;
        let mut case = alike(Call::Broadcast { root, length }, size, 0, length);
        case.wanted = vec![units(root, length); size];
        case.own_place[root] = Some(0..length);
        case
    }

    /// Returns the blocks that a member other than the root has: its own length alone, unless all are equal.
    fn known_to(&self, me: usize) -> Blocks {
        match self.equal || me == self.root {
            true => self.blocks.clone(),
            false => Blocks::of_lengths([self.lengths[me]]),
        }
    }

    fn scatter(self) -> Case {
        let (root, total) = (self.root, self.blocks.total());
        let mut case = alike(Call::Barrier, self.size, 0, 0);
        for (me, &length) in self.lengths.iter().enumerate() {
            case.calls[me] = Call::Scatter { root, blocks: self.known_to(me) };
            case.output[me] = length;
            case.wanted[me] = units(root, total)[self.blocks.one(me)].to_vec();
        }
        case.input[root] = total;
        case
    }

    fn gather(self) -> Case {
        let root = self.root;
        let mut case = alike(Call::Barrier, self.size, 0, 0);
        for (me, &length) in self.lengths.iter().enumerate() {
            case.calls[me] = Call::Gather { root, blocks: self.known_to(me) };
            case.input[me] = length;
        }
        case.output[root] = self.blocks.total();
        case.wanted[root] = self.all_blocks();
        case.own_place[root] = Some(self.blocks.one(root));
        case
    }

    /// Returns the blocks of all members in order.
    fn all_blocks(&self) -> Vec<String> {
        let members = self.lengths.iter().enumerate();
        members.flat_map(|(me, &length)| units(me, length)).collect()
    }

    fn allgather(self) -> Case {
        let call = Call::Allgather { blocks: self.blocks.clone() };
        let mut case = alike(call, self.size, 0, self.blocks.total());
        case.wanted = vec![self.all_blocks(); self.size];
        case.own_place = (0..self.size).map(|me| Some(self.blocks.one(me))).collect();
        case.input = self.lengths;
        case
    }

    /// Returns the combination of all members' units.
    fn sum(&self, units: Range<usize>) -> Vec<String> {
        units.map(|index| combined(0..self.size, index)).collect()
    }

    fn reduce(self) -> Case {
        let Drawn { size, root, length, order, .. } = self;
        let mut case = alike(Call::Reduce { root, length, order }, size, length, 0);
        case.output[root] = length;
        case.wanted[root] = self.sum(0..length);
        case.any_order = order == Order::Any;
        case.own_place[root] = Some(0..length);
        case
    }

    fn allreduce(self) -> Case {
        let Drawn { size, length, order, .. } = self;
        let mut case = alike(Call::Allreduce { length, order }, size, length, length);
        case.wanted = vec![self.sum(0..length); size];
        case.any_order = order == Order::Any;
        case.own_place = vec![Some(0..length); size];
        case
    }

    fn reduce_scatter(self) -> Case {
        let call = Call::ReduceScatter { blocks: self.blocks.clone(), order: self.order };
        let mut case = alike(call, self.size, self.blocks.total(), 0);
        case.wanted = (0..self.size).map(|me| self.sum(self.blocks.one(me))).collect();
        case.any_order = self.order == Order::Any;
        case.output = self.lengths;
        case
    }

    fn scan(self, exclusive: bool) -> Case {
        let Drawn { size, length, .. } = self;
        let mut case = alike(Call::Scan { length, exclusive }, size, length, length);
        for me in 0..size {
            let members = 0..if exclusive { me } else { me + 1 };
            let of = |index| combined(members.clone(), index);
            case.wanted[me] = (0..length).map(of).collect();
        }
        if exclusive {
            case.wanted[0] = nothing(length);
        }
        case.own_place = (0..size).map(|me| (me > 0 || !exclusive).then_some(0..length)).collect();
        case
    }
}

fn all_to_all_case(size: usize, equal: bool, length: usize, random: &mut SplitMix64) -> Case {
    // Equal lengths in both directions, so blocks can be exchanged in place.
    let drawn: Vec<Vec<usize>> = (0..size)
        .map(|_| (0..size).map(|_| if equal { length } else { random.below(5) }).collect())
        .collect();
    let of = |me: usize, other: usize| drawn[me.min(other)][me.max(other)];
    let lengths: Vec<Vec<usize>> =
        (0..size).map(|me| (0..size).map(|other| of(me, other)).collect()).collect();
    let blocks = |all: Vec<usize>| match equal {
        true => Blocks::equal(size, length),
        false => Blocks::of_lengths(all),
    };
    let input: Vec<Blocks> = (0..size).map(|me| blocks(lengths[me].clone())).collect();
    let output: Vec<Blocks> =
        (0..size).map(|me| blocks((0..size).map(|from| lengths[from][me]).collect())).collect();
    let mut case = alike(Call::Barrier, size, 0, 0);
    for me in 0..size {
        case.calls[me] = Call::AllToAll { input: input[me].clone(), output: output[me].clone() };
        (case.input[me], case.output[me]) = (input[me].total(), output[me].total());
        let from = |from: usize| units(from, input[from].total())[input[from].one(me)].to_vec();
        case.wanted[me] = (0..size).flat_map(from).collect();
    }
    case.own_place = (0..size).map(|me| Some(0..input[me].total())).collect();
    case
}
