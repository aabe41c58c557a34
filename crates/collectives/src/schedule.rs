//! Schedules: what one rank of a collective does, round after round.

use std::ops::Range;
use std::rc::Rc;

use smallvec::SmallVec;

/// Memory that a schedule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// What this rank puts in.
    Input,
    /// Where its result goes.
    Output,
    /// Memory of the schedule's own.
    Scratch,
}

/// A part of an area, in units: elements of a reduction, bytes of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which area.
    pub area: Area,
    /// The first unit.
    pub start: usize,
    /// How many units.
    pub length: usize,
}

impl Part {
    /// No units at all.
    pub const EMPTY: Part = Part { area: Area::Scratch, start: 0, length: 0 };

    /// These units of an area.
    pub fn of(area: Area, units: Range<usize>) -> Self {
        Part { area, start: units.start, length: units.end - units.start }
    }

    /// Returns a part of this part.
    pub fn within(self, units: Range<usize>) -> Self {
        debug_assert!(units.start <= units.end && units.end <= self.length);
        Part::of(self.area, self.start + units.start..self.start + units.end)
    }

    /// Its units.
    pub fn units(self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

/// Something that a rank does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalStep {
    /// Copies units. The two parts are of one length and do not overlap.
    Copy {
        /// From here.
        from: Part,
        /// To here.
        to: Part,
    },
    /// Combines units of a reduction. The two parts are of one length and do not overlap. What `with` holds afterwards is anything
    /// if it is the right operand: a program's function may put its result there.
    Combine {
        /// One operand, which the result replaces.
        into: Part,
        /// The other.
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
    /// What is sent, or where it is received.
    pub part: Part,
}

impl Message {
    /// Returns the message of `part` to or from member `rank`.
    pub fn new(rank: usize, part: Part) -> Self {
        Message { rank, part }
    }
}

/// What a rank does before it begins the next round: first the steps, in their order, then all of the messages.
///
/// Of several messages from one member to another in a round, the first is for the first receive, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// What is done first.
    pub before: Vec<LocalStep>,
    /// What is received.
    pub receives: SmallVec<[Message; 1]>,
    /// What is sent.
    pub sends: SmallVec<[Message; 1]>,
}

impl Round {
    /// Returns a message to one member and one from another, or from the same.
    pub fn exchange(send: Message, receive: Message) -> Self {
        let one = |message| SmallVec::from_buf([message]);
        Round { before: Vec::new(), receives: one(receive), sends: one(send) }
    }
}

/// The place of one schedule within another: which members its members are, and where its input and output lie.
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

/// Rounds that are made one by one, so that a long ring takes no memory.
struct Stage {
    rounds: usize,
    make: Box<dyn Fn(usize) -> Round>,
}

/// One rank's part of a collective.
///
/// All members make theirs from the same call, so that every message has its receive. Messages between two
/// members match in the order of their rounds.
#[derive(Default)]
pub struct Schedule {
    stages: Vec<Stage>,
    /// What is done after the last round so far: the beginning of the next one, or the end.
    after: Vec<LocalStep>,
    scratch: usize,
}

/// How far a schedule has been carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    stage: usize,
    round: usize,
}

/// Building one.
impl Schedule {
    /// Memory of its own, for as many units.
    pub fn room(&mut self, length: usize) -> Part {
        self.scratch += length;
        Part { area: Area::Scratch, start: self.scratch - length, length }
    }

    /// Copies units, unless they are in their place.
    pub fn copy(&mut self, from: Part, to: Part) {
        debug_assert_eq!(from.length, to.length);
        if from != to && from.length > 0 {
            self.after.push(LocalStep::Copy { from, to });
        }
    }

    /// Combines units.
    pub fn combine(&mut self, into: Part, with: Part, into_is_left: bool) {
        debug_assert_eq!(into.length, with.length);
        if into.length > 0 {
            self.after.push(LocalStep::Combine { into, with, into_is_left });
        }
    }

    /// A round of one message to member `to`.
    pub fn send(&mut self, to: usize, part: Part) {
        self.messages([], [Message::new(to, part)]);
    }

    /// A round of one message from member `from`.
    pub fn receive(&mut self, from: usize, part: Part) {
        self.messages([Message::new(from, part)], []);
    }

    /// A round of one message to a member and one from a member.
    pub fn exchange(&mut self, send: Message, receive: Message) {
        self.round(Round::exchange(send, receive));
    }

    /// A round of any messages.
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

    /// Another round.
    pub fn round(&mut self, mut round: Round) {
        let mut before = std::mem::take(&mut self.after);
        before.append(&mut round.before);
        round.before = before;
        self.stages.push(Stage { rounds: 1, make: Box::new(move |_| round.clone()) });
    }

    /// Another schedule, whose members are some of this one's.
    pub(crate) fn then(&mut self, next: Schedule, within: Within) {
        let scratch = self.room(next.scratch);
        let within = Rc::new(within);
        for Stage { rounds, make } in next.stages {
            let within = Rc::clone(&within);
            self.rounds(rounds, move |number| within.round(scratch, make(number)));
        }
        self.after.extend(next.after.into_iter().map(|step| within.step(scratch, step)));
    }

    /// As many rounds, which `make` makes from their numbers.
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

/// Carrying one out.
impl Schedule {
    /// Returns the next round, and moves the cursor behind it; `None` after the last.
    pub fn next(&self, cursor: &mut Cursor) -> Option<Round> {
        let stage = self.stages.get(cursor.stage)?;
        let round = (stage.make)(cursor.round);
        cursor.round += 1;
        if cursor.round == stage.rounds {
            *cursor = Cursor { stage: cursor.stage + 1, round: 0 };
        }
        Some(round)
    }

    /// Returns what is done after the last round.
    pub fn last_steps(&self) -> &[LocalStep] {
        &self.after
    }

    /// Returns how much memory of its own it needs.
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// Returns the number of rounds.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.stages.iter().map(|stage| stage.rounds).sum()
    }
}
