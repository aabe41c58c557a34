//! Schedules: actions of one rank of a collective, round by round.

use std::ops::Range;
use std::rc::Rc;

use smallvec::SmallVec;

/// Memory to which a schedule refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Data of this rank.
    Input,
    /// Result of this rank.
    Output,
    /// Scratch memory of the schedule.
    Scratch,
}

/// A part of an area, in units: elements of a reduction, bytes of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Area of the units.
    pub area: Area,
    /// First unit.
    pub start: usize,
    /// Number of units.
    pub length: usize,
}

impl Part {
    /// A part without units.
    pub const EMPTY: Part = Part { area: Area::Scratch, start: 0, length: 0 };

    /// Returns the given units of an area.
    pub fn of(area: Area, units: Range<usize>) -> Self {
        Part { area, start: units.start, length: units.end - units.start }
    }

    /// Returns a part of this part.
    pub fn within(self, units: Range<usize>) -> Self {
        debug_assert!(units.start <= units.end && units.end <= self.length);
        Part::of(self.area, self.start + units.start..self.start + units.end)
    }

    /// Returns the units of the part.
    pub fn units(self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

/// A step that a rank carries out without messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalStep {
    /// Copies units. The two parts are of one length and do not overlap.
    Copy {
        /// Source.
        from: Part,
        /// Destination.
        to: Part,
    },
    /// Combines units of a reduction. The two parts have equal length and do not overlap. If `with` is the right
    /// operand, its content afterwards is unspecified: a program's function may put its result there.
    Combine {
        /// Operand that the result replaces.
        into: Part,
        /// Other operand.
        with: Part,
        /// True if `into` is the left operand, that of the lower ranks.
        into_is_left: bool,
    },
}

/// A message to or from another member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other member.
    pub rank: usize,
    /// Units to send, or the place of received units.
    pub part: Part,
}

impl Message {
    /// Returns the message of `part` to or from member `rank`.
    pub fn new(rank: usize, part: Part) -> Self {
        Message { rank, part }
    }
}

/// Actions of a rank before it begins the next round: first the steps, in order, then all messages.
///
/// Several messages from one member to another in a round match receives in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Steps that precede the messages.
    pub before: Vec<LocalStep>,
    /// Messages to receive.
    pub receives: SmallVec<[Message; 1]>,
    /// Messages to send.
    pub sends: SmallVec<[Message; 1]>,
}

impl Round {
    /// Returns a round of one message to a member and one from the same or another member.
    pub fn exchange(send: Message, receive: Message) -> Self {
        let one = |message| SmallVec::from_buf([message]);
        Round { before: Vec::new(), receives: one(receive), sends: one(send) }
    }
}

/// Embedding of one schedule in another: its members, and the place of its input and output.
#[derive(Clone, Debug)]
pub(crate) struct Within {
    pub(crate) members: Vec<usize>,
    pub(crate) input: Part,
    pub(crate) output: Part,
}

impl Within {
    fn part(&self, scratch: Part, part: Part) -> Part {
        let area = match part.area {
            _ if part.length == 0 => return Part::EMPTY,
            Area::Input => self.input,
            Area::Output => self.output,
            Area::Scratch => scratch,
        };
        area.within(part.units())
    }

    fn step(&self, scratch: Part, step: LocalStep) -> LocalStep {
        match step {
            LocalStep::Copy { from, to } => {
                LocalStep::Copy { from: self.part(scratch, from), to: self.part(scratch, to) }
            }
            LocalStep::Combine { into, with, into_is_left } => LocalStep::Combine {
                into: self.part(scratch, into),
                with: self.part(scratch, with),
                into_is_left,
            },
        }
    }

    fn round(&self, scratch: Part, mut round: Round) -> Round {
        for step in &mut round.before {
            *step = self.step(scratch, *step);
        }
        for message in round.receives.iter_mut().chain(&mut round.sends) {
            let part = self.part(scratch, message.part);
            *message = Message::new(self.members[message.rank], part);
        }
        round
    }
}

/// Rounds that are generated one by one, so a long ring takes no memory.
struct Stage {
    rounds: usize,
    make: Box<dyn Fn(usize) -> Round>,
}

/// Part of one rank in a collective.
///
/// All members build their schedules from the same call, so every message has a matching receive. Messages between two
/// members match in the order of their rounds.
#[derive(Default)]
pub struct Schedule {
    stages: Vec<Stage>,
    /// Steps after the last round so far: they begin the next round or end the schedule.
    after: Vec<LocalStep>,
    scratch: usize,
}

/// Position in a schedule that is being carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    stage: usize,
    round: usize,
}

/// Construction.
impl Schedule {
    /// Allocates scratch memory for `length` units.
    pub fn room(&mut self, length: usize) -> Part {
        self.scratch += length;
        Part { area: Area::Scratch, start: self.scratch - length, length }
    }

    /// Appends a copy, unless source and destination are the same.
    pub fn copy(&mut self, from: Part, to: Part) {
        debug_assert_eq!(from.length, to.length);
        if from != to && from.length > 0 {
            self.after.push(LocalStep::Copy { from, to });
        }
    }

    /// Appends a combination.
    pub fn combine(&mut self, into: Part, with: Part, into_is_left: bool) {
        debug_assert_eq!(into.length, with.length);
        if into.length > 0 {
            self.after.push(LocalStep::Combine { into, with, into_is_left });
        }
    }

    /// Appends a round of one message to member `to`.
    pub fn send(&mut self, to: usize, part: Part) {
        self.messages([], [Message::new(to, part)]);
    }

    /// Appends a round of one message from member `from`.
    pub fn receive(&mut self, from: usize, part: Part) {
        self.messages([Message::new(from, part)], []);
    }

    /// Appends a round of one message to a member and one from a member.
    pub fn exchange(&mut self, send: Message, receive: Message) {
        self.round(Round::exchange(send, receive));
    }

    /// Appends a round of arbitrary messages.
    pub fn messages(
        &mut self,
        receives: impl IntoIterator<Item = Message>,
        sends: impl IntoIterator<Item = Message>,
    ) {
        self.round(Round {
            before: Vec::new(),
            receives: receives.into_iter().collect(),
            sends: sends.into_iter().collect(),
        });
    }

    /// Appends a round.
    pub fn round(&mut self, mut round: Round) {
        let mut before = std::mem::take(&mut self.after);
        before.append(&mut round.before);
        round.before = before;
        self.stages.push(Stage { rounds: 1, make: Box::new(move |_| round.clone()) });
    }

    /// Appends another schedule, whose members are a subset of this one's.
    pub(crate) fn then(&mut self, next: Schedule, within: Within) {
        let scratch = self.room(next.scratch);
        let within = Rc::new(within);
        for Stage { rounds, make } in next.stages {
            let within = Rc::clone(&within);
            self.rounds(rounds, move |number| within.round(scratch, make(number)));
        }
        self.after.extend(next.after.into_iter().map(|step| within.step(scratch, step)));
    }

    /// Appends `rounds` rounds, which `make` builds from their numbers.
    pub fn rounds(&mut self, rounds: usize, make: impl Fn(usize) -> Round + 'static) {
        if rounds == 0 {
            return;
        }
        if !self.after.is_empty() {
            self.round(Round::default());
        }
        self.stages.push(Stage { rounds, make: Box::new(make) });
    }
}

/// Execution.
impl Schedule {
    /// Returns the next round, and advances the cursor past it; `None` after the last.
    pub fn next(&self, cursor: &mut Cursor) -> Option<Round> {
        let stage = self.stages.get(cursor.stage)?;
        let round = (stage.make)(cursor.round);
        cursor.round += 1;
        if cursor.round == stage.rounds {
            *cursor = Cursor { stage: cursor.stage + 1, round: 0 };
        }
        Some(round)
    }

    /// Returns the steps after the last round.
    pub fn last_steps(&self) -> &[LocalStep] {
        &self.after
    }

    /// Returns the number of units of scratch memory.
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// Returns the number of rounds.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.stages.iter().map(|stage| stage.rounds).sum()
    }
}
