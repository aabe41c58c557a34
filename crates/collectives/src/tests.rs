//! Every algorithm against what it should do, with members of any speed.
//!
//! A unit is a text. Combining two puts one behind the other, which is associative and does not commute, so that the result tells
//! who was combined, how often and in which order.

use std::collections::{HashMap, VecDeque};

use crate::{
    Area, Blocks, Call, Cursor, LocalStep, Membership, Message, Order, Own, Part, Round, Schedule,
};

/// Numbers that are the same for the same seed (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

type Messages = HashMap<(usize, usize), VecDeque<Vec<String>>>;

/// One member, with its memory.
struct Member {
    me: usize,
    schedule: Schedule,
    cursor: Cursor,
    /// The receives of the round that it is in.
    waits_for: Vec<Message>,
    has_ended: bool,
    areas: [Vec<String>; 3],
    /// The blocks of input and output that do not lie in one piece.
    pieces: [Option<Blocks>; 2],
}

/// The blocks of a member's input and output, where each may lie anywhere.
fn pieces(call: &Call, me: usize) -> [Option<Blocks>; 2] {
    let (input, output) = match call {
        Call::Scatter { root, blocks } if *root == me => (Some(blocks), None),
        Call::Gather { root, blocks } if *root == me => (None, Some(blocks)),
        Call::Allgather { blocks } => (None, Some(blocks)),
        Call::AllToAll { input, output } => (Some(input), Some(output)),
        _ => (None, None),
    };
    [input, output].map(|blocks| blocks.filter(|blocks| !blocks.are_equal()).cloned())
}

impl Member {
    fn check_place(&self, part: Part) {
        let Some(Some(blocks)) = self.pieces.get(part.area as usize) else { return };
        let within = (0..blocks.count()).any(|index| {
            let block = blocks.one(index);
            block.start <= part.start && part.units().end <= block.end
        });
        assert!(within || part.length == 0, "{part:?} is of several blocks of {blocks:?}");
    }

    fn area(&mut self, area: Area) -> &mut Vec<String> {
        &mut self.areas[area as usize]
    }

    fn read(&mut self, part: Part) -> Vec<String> {
        self.check_place(part);
        self.area(part.area)[part.units()].to_vec()
    }

    fn write(&mut self, part: Part, units: Vec<String>) {
        self.check_place(part);
        self.area(part.area)[part.units()].clone_from_slice(&units);
    }

    fn step(&mut self, step: LocalStep) {
        match step {
            LocalStep::Copy { from, to } => {
                assert!(!overlap(from, to), "{step:?}");
                let units = self.read(from);
                self.write(to, units);
            }
            LocalStep::Combine { into, with, into_is_left } => {
                assert!(!overlap(into, with), "{step:?}");
                let (one, other) = (self.read(into), self.read(with));
                let (left, right) = if into_is_left { (one, other) } else { (other, one) };
                let both = left.iter().zip(&right).map(|(left, right)| format!("{left}{right}"));
                self.write(into, both.collect());
                if into_is_left {
                    self.write(with, vec!["spoilt".to_string(); with.length]);
                }
            }
        }
    }

    /// Begins the next round.
    fn begin(&mut self, messages: &mut Messages) {
        let Some(Round { before, receives, sends }) = self.schedule.next(&mut self.cursor) else {
            for step in self.schedule.last_steps().to_vec() {
                self.step(step);
            }
            self.has_ended = true;
            return;
        };
        before.into_iter().for_each(|step| self.step(step));
        for one in &receives {
            assert_ne!(one.rank, self.me);
            let others = receives.iter().chain(&sends).filter(|other| !std::ptr::eq(*other, one));
            for other in others {
                assert!(!overlap(one.part, other.part), "{one:?} and {other:?} in one round");
            }
        }
        for Message { rank, part } in sends {
            assert_ne!(rank, self.me);
            let units = self.read(part);
            messages.entry((self.me, rank)).or_default().push_back(units);
        }
        self.waits_for = receives.into_vec();
    }

    /// Takes one message of those that are there, or begins the next round; false if it can do neither.
    fn go_on(&mut self, messages: &mut Messages, random: &mut Random) -> bool {
        if self.waits_for.is_empty() {
            if self.has_ended {
                return false;
            }
            self.begin(messages);
            return true;
        }
        let index = random.below(self.waits_for.len());
        let Message { rank, part } = self.waits_for[index];
        let Some(units) = messages.get_mut(&(rank, self.me)).and_then(VecDeque::pop_front) else {
            return false;
        };
        assert_eq!(units.len(), part.length, "from {rank} to {}", self.me);
        self.write(part, units);
        self.waits_for.swap_remove(index);
        true
    }
}

fn overlap(one: Part, other: Part) -> bool {
    let (first, second) = (one.units(), other.units());
    one.area == other.area && first.start < second.end && second.start < first.end
}

/// Carries out what each member does, from its input and output; gives their outputs.
fn run(
    seed: u64,
    calls: &[Call],
    schedules: Vec<Schedule>,
    inputs: Vec<Vec<String>>,
    outputs: Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let mut random = Random(seed);
    let mut messages = Messages::new();
    let given = schedules.into_iter().zip(inputs).zip(outputs).enumerate();
    let mut members: Vec<Member> = given
        .map(|(me, ((schedule, input), output))| {
            let scratch = vec!["?".to_string(); schedule.scratch()];
            let (cursor, waits_for) = (Cursor::default(), Vec::new());
            let areas = [input, output, scratch];
            let pieces = pieces(&calls[me], me);
            Member { me, schedule, cursor, waits_for, has_ended: false, areas, pieces }
        })
        .collect();
    let mut idle = 0;
    while members.iter().any(|member| !member.has_ended) {
        let index = random.below(members.len());
        let moved = members[index].go_on(&mut messages, &mut random);
        idle = if moved { 0 } else { idle + 1 };
        assert!(idle < 1000 * members.len(), "seed {seed}: nobody goes on");
    }
    assert!(messages.values().all(VecDeque::is_empty), "seed {seed}: messages without a receive");
    members.into_iter().map(|member| member.areas[Area::Output as usize].clone()).collect()
}

/// Unit `index` of what member `me` puts in.
fn unit(me: usize, index: usize) -> String {
    format!("({me}:{index})")
}

fn units(me: usize, count: usize) -> Vec<String> {
    (0..count).map(|index| unit(me, index)).collect()
}

fn nothing(count: usize) -> Vec<String> {
    vec!["?".to_string(); count]
}

/// A call with every member's version of it, and the lengths of their memory.
struct Case {
    calls: Vec<Call>,
    input: Vec<usize>,
    output: Vec<usize>,
    /// What each output must hold.
    wanted: Vec<Vec<String>>,
    /// Whether the order in a combined unit may be any.
    any_order: bool,
    /// For a call with the own data in the output: which part of the output holds them.
    own_place: Vec<Option<std::ops::Range<usize>>>,
}

/// All of `size` members alike.
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

fn combined(members: std::ops::Range<usize>, index: usize) -> String {
    members.map(|me| unit(me, index)).collect()
}

/// A random call of `operation` number `kind`, and what must come of it.
fn case(kind: usize, size: usize, random: &mut Random) -> Case {
    let root = random.below(size);
    let length = random.below(12);
    let equal = random.below(2) == 0;
    let order = if random.below(2) == 0 { Order::Any } else { Order::Ranks };
    let lengths: Vec<usize> =
        (0..size).map(|_| if equal { length } else { random.below(7) }).collect();
    let blocks = match equal {
        true => Blocks::equal(size, length),
        false => Blocks::of_lengths(lengths.iter().copied()),
    };
    let total = blocks.total();
    match kind {
        0 => alike(Call::Barrier, size, 0, 0),
        1 => {
            let mut case = alike(Call::Broadcast { root, length }, size, 0, length);
            case.wanted = vec![units(root, length); size];
            case.own_place[root] = Some(0..length);
            case
        }
        2 => {
            let mut case = alike(Call::Scatter { root, blocks: blocks.clone() }, size, 0, 0);
            for (me, &length) in lengths.iter().enumerate() {
                case.output[me] = length;
                case.wanted[me] = units(root, total)[blocks.one(me)].to_vec();
                if !equal && me != root {
                    let own = Blocks::of_lengths([length]);
                    case.calls[me] = Call::Scatter { root, blocks: own };
                }
            }
            case.input[root] = total;
            case
        }
        3 => {
            let mut case = alike(Call::Gather { root, blocks: blocks.clone() }, size, 0, 0);
            for (me, &length) in lengths.iter().enumerate() {
                case.input[me] = length;
                if !equal && me != root {
                    let own = Blocks::of_lengths([length]);
                    case.calls[me] = Call::Gather { root, blocks: own };
                }
                case.wanted[me].clear();
            }
            case.output[root] = total;
            case.wanted[root] = (0..size).flat_map(|me| units(me, lengths[me])).collect();
            case.own_place[root] = Some(blocks.one(root));
            case
        }
        4 => {
            let mut case = alike(Call::Allgather { blocks: blocks.clone() }, size, 0, total);
            case.input = lengths.clone();
            case.wanted = vec![(0..size).flat_map(|me| units(me, lengths[me])).collect(); size];
            case.own_place = (0..size).map(|me| Some(blocks.one(me))).collect();
            case
        }
        5 => all_to_all_case(size, equal, length, random),
        6 => {
            let mut case = alike(Call::Reduce { root, length, order }, size, length, 0);
            case.wanted = vec![Vec::new(); size];
            case.output[root] = length;
            case.wanted[root] = (0..length).map(|index| combined(0..size, index)).collect();
            case.any_order = order == Order::Any;
            case.own_place[root] = Some(0..length);
            case
        }
        7 => {
            let mut case = alike(Call::Allreduce { length, order }, size, length, length);
            case.wanted = vec![(0..length).map(|index| combined(0..size, index)).collect(); size];
            case.any_order = order == Order::Any;
            case.own_place = vec![Some(0..length); size];
            case
        }
        8 => {
            let call = Call::ReduceScatter { blocks: blocks.clone(), order };
            let mut case = alike(call, size, total, 0);
            for (me, &length) in lengths.iter().enumerate() {
                case.output[me] = length;
                case.wanted[me] = blocks.one(me).map(|index| combined(0..size, index)).collect();
            }
            case.any_order = order == Order::Any;
            case
        }
        _ => {
            let exclusive = kind == 10;
            let mut case = alike(Call::Scan { length, exclusive }, size, length, length);
            for me in 0..size {
                let members = 0..if exclusive { me } else { me + 1 };
                let of = |index| combined(members.clone(), index);
                case.wanted[me] = (0..length).map(of).collect();
            }
            if exclusive {
                case.wanted[0] = nothing(length);
            }
            case.own_place =
                (0..size).map(|me| (me > 0 || !exclusive).then_some(0..length)).collect();
            case
        }
    }
}

fn all_to_all_case(size: usize, equal: bool, length: usize, random: &mut Random) -> Case {
    // As much from one to the other as back, so that blocks can be exchanged in their places.
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

/// The members that a combined unit tells of, in order.
fn sorted(units: &[String]) -> Vec<Vec<&str>> {
    units
        .iter()
        .map(|unit| {
            let mut operands: Vec<&str> = unit.split_inclusive(')').collect();
            operands.sort_unstable();
            operands
        })
        .collect()
}

fn check(seed: u64, kind: usize, size: usize, in_output: bool, random: &mut Random) {
    let case = case(kind, size, random);
    for &algorithm in case.calls[0].collective().algorithms() {
        if !case.calls.iter().all(|call| call.is_served_by(algorithm)) {
            let serves = case.calls.iter().filter(|call| call.is_served_by(algorithm)).count();
            assert_eq!(
                serves, 0,
                "the members disagree about {algorithm:?} for {:?}",
                case.calls[0]
            );
            continue;
        }
        let own = |me: usize| match &case.own_place[me] {
            // The root of a broadcast has its data nowhere else.
            Some(place) if in_output || kind == 1 => (Own::InOutput, Some(place.clone())),
            _ => (Own::InInput, None),
        };
        let mut inputs: Vec<Vec<String>> = (0..size).map(|me| units(me, case.input[me])).collect();
        let mut outputs: Vec<Vec<String>> = (0..size).map(|me| nothing(case.output[me])).collect();
        let mut schedules = Vec::new();
        for me in 0..size {
            let (own, place) = own(me);
            if let Some(place) = place {
                let count = place.len();
                outputs[me][place].clone_from_slice(&units(me, count));
                inputs[me] = Vec::new();
            }
            schedules.push(case.calls[me].schedule(algorithm, Membership { me, size }, own));
        }
        println!("seed {seed}: {algorithm:?} for {:?}", case.calls);
        let found = run(seed, &case.calls, schedules, inputs, outputs);
        for me in 0..size {
            let what =
                format!("seed {seed}: {algorithm:?} for {:?}, {me} of {size}", case.calls[me]);
            match case.any_order {
                true => {
                    assert_eq!(sorted(&found[me]), sorted(&case.wanted[me]), "{what}");
                    // The same bits at all members.
                    assert!(kind != 7 || found[me] == found[0], "{what}");
                }
                false => assert_eq!(found[me], case.wanted[me], "{what}"),
            }
        }
    }
}

#[test]
fn every_algorithm_does_what_its_collective_is_for() {
    for kind in 0..11 {
        for size in (1..=9).chain([13, 16, 21]) {
            for turn in 0..6 {
                let seed = (kind as u64) << 32 | (size as u64) << 8 | turn;
                // Every seed but 0 will do.
                let mut random = Random(seed | 1 << 60);
                check(seed | 1 << 60, kind, size, turn % 2 == 1, &mut random);
            }
        }
    }
}

#[test]
fn a_long_ring_is_made_round_by_round() {
    let blocks = Blocks::equal(5000, 1);
    let group = Membership { me: 17, size: 5000 };
    let schedule = crate::algorithm::allgather::ring(group, &blocks, Own::InInput);
    // The round that copies the own block to its place, and one for each of the others.
    assert_eq!(schedule.count(), 5000);
    let mut cursor = Cursor::default();
    let rounds = std::iter::from_fn(|| schedule.next(&mut cursor)).collect::<Vec<Round>>();
    assert_eq!(rounds.len(), 5000);
    // The last block that comes is that of the member after this one, from the left.
    let last = rounds[4999].receives[0];
    assert_eq!((last.rank, last.part), (16, Part::of(Area::Output, 18..19)));
}
