//! All members of a collective in one process, scheduled at random.

use std::collections::{HashMap, VecDeque};

use random::SplitMix64;

use crate::{Area, Blocks, Call, Cursor, LocalStep, Message, Part, Round, Schedule};

type Messages = HashMap<(usize, usize), VecDeque<Vec<String>>>;

/// A member with its memory.
struct Member {
    me: usize,
    schedule: Schedule,
    cursor: Cursor,
    /// Receives of the current round.
    waits_for: Vec<Message>,
    has_ended: bool,
    areas: [Vec<String>; 3],
    /// Blocks of input and output that are not contiguous.
    pieces: [Option<Blocks>; 2],
}

/// Returns the blocks of a member's input and output if they need not be contiguous.
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

    /// Takes one of the available messages, or begins the next round. Returns false if neither is possible.
    fn advance(&mut self, messages: &mut Messages, random: &mut SplitMix64) -> bool {
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

/// Carries out the schedule of each member from its input and output, and returns the outputs.
pub(super) fn run(
    seed: u64,
    calls: &[Call],
    schedules: Vec<Schedule>,
    inputs: Vec<Vec<String>>,
    outputs: Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let mut random = SplitMix64::new(seed);
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
        let moved = members[index].advance(&mut messages, &mut random);
        idle = if moved { 0 } else { idle + 1 };
        assert!(idle < 1000 * members.len(), "seed {seed}: nobody goes on");
    }
    assert!(messages.values().all(VecDeque::is_empty), "seed {seed}: messages without a receive");
    members.into_iter().map(|member| member.areas[Area::Output as usize].clone()).collect()
}
