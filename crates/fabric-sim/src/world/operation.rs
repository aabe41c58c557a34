//! What a rank has asked for and what came of it.

use contract::{Buffer, Error, Posted, Result, Source, Tag, TagSelector};

/// What a rank does while its program is suspended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It runs, or will as soon as its turn comes.
    Running,
    /// For this operation.
    Operation(u32),
    /// For one of these operations.
    Operations(Vec<u32>),
    /// For a moment.
    Time,
    /// For another rank's part of a step of a collective over boards.
    Part { of: u32, step: u64 },
    /// For its own place on its board, until every rank has ended this step.
    Place { ended: u64 },
    /// For nothing any more.
    Ended,
}

impl Waiting {
    /// Whether it is for this operation, among others.
    pub(super) fn is_for(&self, operation: u32) -> bool {
        match self {
            Waiting::Operation(wanted) => *wanted == operation,
            Waiting::Operations(wanted) => wanted.contains(&operation),
            Waiting::Running
            | Waiting::Time
            | Waiting::Part { .. }
            | Waiting::Place { .. }
            | Waiting::Ended => false,
        }
    }
}

/// An operation of a rank.
#[derive(Debug)]
pub(super) enum State {
    Free,
    Sending { to: u32, tag: Tag, bytes: usize },
    Receiving { from: Source, tag: TagSelector },
    Finished(Finished),
}

/// What an operation came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// The message: the receiver takes its data, and gives it back.
    pub(crate) message: Option<u32>,
    pub(crate) source: u32,
    pub(crate) tag: Tag,
    pub(crate) bytes: usize,
    /// What the rank's processor has yet to do for it.
    pub(crate) due: contract::TimeSpan,
}

struct Slot {
    state: State,
    buffer: Option<Buffer>,
    generation: u32,
}

/// A rank's operations, by number.
pub(super) struct Operations {
    rank: u32,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

// A handle from the top: 20 bits of rank, 24 of generation, 20 of slot.
const SLOT_BITS: u32 = 20;
const GENERATION_BITS: u32 = 24;
const RANK_MASK: u64 = (1 << 20) - 1;

impl Operations {
    pub(super) fn new(rank: u32) -> Self {
        Operations { rank, slots: Vec::new(), free: Vec::new() }
    }

    pub(super) fn add(&mut self, state: State) -> u32 {
        if let Some(number) = self.free.pop() {
            let slot = &mut self.slots[number as usize];
            slot.state = state;
            return number;
        }
        self.slots.push(Slot { state, buffer: None, generation: 0 });
        self.slots.len() as u32 - 1
    }

    pub(super) fn handle(&self, number: u32) -> Posted {
        let generation = self.slots[number as usize].generation & ((1 << GENERATION_BITS) - 1);
        let rank = u64::from(self.rank) & RANK_MASK;
        let high = rank << GENERATION_BITS | u64::from(generation);
        Posted::new(high << SLOT_BITS | u64::from(number))
    }

    /// The number of a posted operation; refuses one that was completed before, or is another rank's.
    pub(super) fn number(&self, posted: &Posted) -> Result<u32> {
        let number = (posted.number() & ((1 << SLOT_BITS) - 1)) as u32;
        let used =
            self.slots.get(number as usize).is_some_and(|slot| !matches!(slot.state, State::Free));
        if used && self.handle(number) == *posted { Ok(number) } else { Err(Error::UnknownRequest) }
    }

    pub(super) fn state(&self, number: u32) -> &State {
        &self.slots[number as usize].state
    }

    pub(super) fn finish(&mut self, number: u32, finished: Finished) {
        self.slots[number as usize].state = State::Finished(finished);
    }

    /// What became of an operation, if it has finished, with its buffer; it is forgotten.
    pub(super) fn take(&mut self, number: u32) -> Option<(Finished, Option<Buffer>)> {
        let slot = &mut self.slots[number as usize];
        let State::Finished(finished) = slot.state else { return None };
        slot.state = State::Free;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(number);
        Some((finished, slot.buffer.take()))
    }

    /// Keeps a buffer until the operation is taken.
    pub(super) fn keep(&mut self, number: u32, buffer: Buffer) {
        self.slots[number as usize].buffer = Some(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_once_and_for_its_rank() {
        let sending = || State::Sending { to: 0, tag: Tag::new(0), bytes: 0 };
        let finished = Finished {
            message: None,
            source: 0,
            tag: Tag::new(0),
            bytes: 0,
            due: Default::default(),
        };
        let mut mine = Operations::new(1);
        let number = mine.add(sending());
        let posted = mine.handle(number);
        assert_eq!(mine.number(&posted), Ok(number));
        mine.finish(number, finished);
        assert!(mine.take(number).is_some());
        assert_eq!(mine.number(&posted), Err(Error::UnknownRequest));
        assert_eq!(mine.add(sending()), number, "slots are used again");
        assert_eq!(mine.number(&posted), Err(Error::UnknownRequest));

        let mut other = Operations::new(2);
        let foreign = other.add(sending());
        assert_eq!(mine.number(&other.handle(foreign)), Err(Error::UnknownRequest));
        assert_eq!(mine.number(&Posted::new(u64::MAX)), Err(Error::UnknownRequest));
    }
}
