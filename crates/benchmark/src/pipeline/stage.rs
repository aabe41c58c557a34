//! A rank of a stage: takes blocks in, works on them, hands them on; all three at once as far as there are buffers.

use contract::{Buffer, Rank, Result};

use super::Mode;
use super::chain::{Chain, Stage};
use super::function::{Functions, Turned};
use super::geometry::{Level, intake, outlet};
use super::inlet::Inlet;
use super::outgoing::Outgoing;
use super::stamps::Stamps;
use super::waiting::{Place, Purpose, Waiting};
use crate::period::{Deadlines, Trial};

/// One rank of a stage.
pub(super) struct StageRank {
    level: Level,
    to: Level,
    functions: Functions,
    inlet: Inlet,
    outgoing: Outgoing,
    waiting: Waiting,
    /// Turned pieces of as many matrices as may be under way; empty where the stage does not turn.
    sets: Vec<Set>,
    overlap_sends: bool,
}

/// The pieces that one turned matrix leaves in.
struct Set {
    pieces: Vec<Buffer>,
    /// Pieces that are queued or being sent.
    away: usize,
}

/// Blocks of the trial that are done, in their order.
struct Next {
    block: u64,
    of: u64,
}

impl StageRank {
    /// `levels`: the level before, its own, and those after. `slots`: how many blocks it can receive ahead.
    pub(super) fn new(
        stage: &Stage,
        levels: &[Level],
        slots: usize,
        chain: &Chain,
        rank: usize,
    ) -> Result<Self> {
        let [from, level, to] = [0, 1, 2].map(|at| levels[at].clone());
        let index = rank - level.first;
        let inlet = Inlet::new(intake(&from, &level, index), &level, slots)?;
        let outlet = outlet(&level, &to, index);
        let sets = if stage.turns() { chain.buffers.min(2) } else { 0 };
        let piece = |_| Buffer::try_zeroed(outlet.piece_bytes);
        let set = |_| {
            let pieces = (0..outlet.pieces.len()).map(piece).collect::<Result<_>>()?;
            Ok(Set { pieces, away: 0 })
        };
        let sets = (0..sets).map(set).collect::<Result<Vec<_>>>()?;
        let outgoing = Outgoing::new(outlet.clone(), slots + sets.len() * outlet.pieces.len());
        let mut waiting = Waiting::default();
        waiting.reserve(inlet.operations_max() + outgoing.operations_max());
        let functions = Functions::new(stage, &level)?;
        let overlap_sends = chain.overlap_sends;
        Ok(StageRank { level, to, functions, inlet, outgoing, waiting, sets, overlap_sends })
    }

    /// Keeps up a trial.
    pub(super) fn keep_up(
        &mut self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        mode: Mode,
        stamps: &mut Stamps,
    ) -> Result<()> {
        let mut next = Next { block: 0, of: trial.instances * self.inlet.blocks() as u64 };
        self.inlet.begin(trial.instances);
        self.outgoing.begin(trial.instances);
        loop {
            self.inlet.post(rank, &mut self.waiting)?;
            self.outgoing.advance(rank, &mut self.waiting)?;
            match self.ready(&next) {
                Some(slot) => {
                    self.hear_requests(rank)?;
                    self.work(rank, trial, deadlines, mode, stamps, (slot, &next))?;
                    next.block += 1;
                    if !self.overlap_sends {
                        self.send_all(rank)?;
                    }
                }
                None if next.block == next.of && self.waiting.is_empty() => return Ok(()),
                None => self.take_one(rank)?,
            }
        }
    }

    /// The slot of the next block, if it has come and its result has room.
    fn ready(&self, next: &Next) -> Option<usize> {
        let blocks = self.inlet.blocks() as u64;
        let matrix = next.block / blocks;
        let begins = next.block.is_multiple_of(blocks);
        let has_room = self.sets.is_empty() || !begins || self.sets[self.set(matrix)].away == 0;
        if next.block < next.of && has_room { self.inlet.complete(next.block) } else { None }
    }

    fn set(&self, matrix: u64) -> usize {
        (matrix % self.sets.len() as u64) as usize
    }

    /// Works on the next block, and queues what is then ready to leave.
    fn work(
        &mut self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        mode: Mode,
        stamps: &mut Stamps,
        (slot, next): (usize, &Next),
    ) -> Result<()> {
        let blocks = self.inlet.blocks() as u64;
        let (matrix, number) = (next.block / blocks, next.block % blocks);
        let level = self.level.number as u64;
        if mode == Mode::Synchronised && number == 0 {
            // A level works on a matrix one period after the level before.
            rank.wait_until(trial.start(matrix + level));
        }
        let begin = rank.now();
        if mode != Mode::MessagesOnly {
            self.functions.rows(rank, self.inlet.whole(slot))?;
        }
        if self.sets.is_empty() {
            let block = self.inlet.take_out(slot);
            self.outgoing.push(number as usize, Place::Slot(slot), block);
        } else {
            self.turn(rank, mode, (slot, matrix, number))?;
        }
        let end = rank.now();
        stamps.worked(matrix, end.since(begin));
        if number + 1 == blocks {
            stamps.ended(matrix, end);
            if mode == Mode::Synchronised && matrix + level < trial.instances {
                deadlines.ended(matrix + level, level, end);
            }
        }
        Ok(())
    }

    fn turn(
        &mut self,
        rank: &mut dyn Rank,
        mode: Mode,
        (slot, matrix, number): (usize, u64, u64),
    ) -> Result<()> {
        let at = self.set(matrix);
        let set = &mut self.sets[at];
        if mode != Mode::MessagesOnly {
            let pieces = &mut set.pieces;
            let mut turned = Turned { to: &self.to, outlet: &self.outgoing.outlet, pieces };
            self.functions.turn(rank, self.inlet.whole(slot), number as usize, &mut turned)?;
        }
        self.inlet.free(slot);
        if number + 1 == self.inlet.blocks() as u64 {
            for piece in 0..set.pieces.len() {
                // What is left behind has no memory, so leaving it allocates nothing.
                let buffer = std::mem::replace(&mut set.pieces[piece], Buffer::zeroed(0));
                self.outgoing.push(piece, Place::Turned { set: at, piece }, buffer);
            }
            set.away = set.pieces.len();
        }
        Ok(())
    }

    /// Before a block is worked on, what was asked for meanwhile is sent: its receiver need not wait for the work.
    fn hear_requests(&mut self, rank: &mut dyn Rank) -> Result<()> {
        while !self.outgoing.is_empty() {
            let Some((purpose, buffer)) = self.waiting.request_that_came(rank)? else { break };
            self.take(purpose, buffer);
            self.outgoing.advance(rank, &mut self.waiting)?;
        }
        Ok(())
    }

    fn send_all(&mut self, rank: &mut dyn Rank) -> Result<()> {
        while !self.outgoing.is_done() {
            self.outgoing.advance(rank, &mut self.waiting)?;
            if !self.outgoing.is_done() {
                self.take_one(rank)?;
            }
        }
        Ok(())
    }

    fn take_one(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let (purpose, buffer) = self.waiting.next(rank)?;
        self.take(purpose, buffer);
        Ok(())
    }

    fn take(&mut self, purpose: Purpose, buffer: Buffer) {
        match purpose {
            Purpose::Piece { slot, piece } => self.inlet.take(slot, piece, buffer),
            Purpose::Request { from } => self.outgoing.asked(from, buffer),
            Purpose::Sent(place) => {
                self.outgoing.sent();
                match place {
                    Place::Slot(slot) => self.inlet.give_back(slot, buffer),
                    Place::Turned { set, piece } => {
                        self.sets[set].pieces[piece] = buffer;
                        self.sets[set].away -= 1;
                    }
                }
            }
        }
    }

    /// Keeps up a trial without any message: works on the same blocks of zeros again and again.
    pub(super) fn work_alone(
        &mut self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        stamps: &mut Stamps,
    ) -> Result<()> {
        let blocks = self.inlet.blocks();
        for matrix in 0..trial.instances {
            rank.wait_until(trial.start(matrix));
            let begin = rank.now();
            for number in 0..blocks {
                let slot = number % self.inlet.slots();
                self.functions.rows(rank, self.inlet.whole(slot))?;
                if let Some(set) = self.sets.first_mut() {
                    let pieces = &mut set.pieces;
                    let mut turned = Turned { to: &self.to, outlet: &self.outgoing.outlet, pieces };
                    self.functions.turn(rank, self.inlet.whole(slot), number, &mut turned)?;
                }
            }
            let end = rank.now();
            stamps.worked(matrix, end.since(begin));
            stamps.ended(matrix, end);
            deadlines.ended(matrix, self.level.number as u64, end);
        }
        Ok(())
    }

    /// Makes all blocks zero, which every function leaves as they are: nothing grows beyond all bounds when it is worked on
    /// again and again.
    pub(super) fn clear(&mut self) {
        self.inlet.clear();
    }
}
