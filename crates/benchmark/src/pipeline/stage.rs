//! A rank's part of a stage: receives blocks, processes them and sends them on, all at the same time as far as there
//! are buffers.

use contract::{Buffer, Rank, Result, Time, Work, WorkKind};
use kernels::Complex32;

use super::flow::{Flow, Readiness};
use super::function::{Functions, TurnedPieces};
use super::inlet::Inlet;
use super::mode::Mode;
use super::outgoing::Outgoing;
use super::pending::{Arrived, BufferPlace, Purpose};
use crate::chain::{Chain, Stage};
use crate::chain::{Level, Piece, intake, outlet};
use crate::period::{Trial, UsualTime};

/// A rank's part of one stage.
pub(super) struct StagePart {
    level: Level,
    me: usize,
    functions: Functions,
    inlet: Inlet,
    pub(super) outgoing: Outgoing,
    /// Outgoing pieces of as many matrices as may be in progress; empty if the stage has no corner turn and its
    /// functions leave their results in the blocks, which are then sent themselves.
    sets: Vec<PieceSet>,
    /// Set of the matrix that is being processed.
    filling: usize,
    overlap_sends: bool,
    /// Number of blocks of the trial that are done, and of all.
    block: u64,
    of: u64,
    usual: UsualTime,
    /// Usual time of a whole matrix without messages.
    pub(super) usual_alone: UsualTime,
}

/// Pieces for the results of one matrix.
struct PieceSet {
    pieces: Vec<Buffer>,
    /// Number of pieces that are queued or being sent.
    away: usize,
}

impl StagePart {
    /// Creates the part. `levels` are the level before, the stage's own, and those after. `waiting` is the number of
    /// blocks that may arrive before the stage may begin them.
    pub(super) fn new(
        stage: &Stage,
        levels: &[Level],
        waiting: usize,
        chain: &Chain,
        me: usize,
    ) -> Result<Self> {
        let [from, level, to] = [0, 1, 2].map(|at| &levels[at]);
        let index = level.ranks.iter().position(|&rank| rank == me).unwrap_or(0);
        let inlet = Inlet::new(intake(from, level, index), level, me, (chain.buffers, waiting))?;
        let outlet = outlet(level, to, index);
        let functions = Functions::new(stage, level, to)?;
        // A set is free again only when its receivers have processed it.
        let leaves_block = stage.turns() || functions.are_out_of_place();
        let sets = if leaves_block { chain.buffers } else { 0 };
        // A piece for this rank itself is written to its place in the receiver's block, which is swapped as a whole.
        let piece = |piece: &Piece| {
            let bytes = if piece.to == me { to.block_bytes() } else { outlet.piece_bytes };
            Buffer::try_zeroed(bytes)
        };
        let set = |_| {
            let pieces = outlet.pieces.iter().map(piece).collect::<Result<_>>()?;
            Ok(PieceSet { pieces, away: 0 })
        };
        let sets = (0..sets).map(set).collect::<Result<Vec<_>>>()?;
        let room = inlet.slots() + sets.len() * outlet.pieces.len();
        Ok(StagePart {
            level: level.clone(),
            me,
            functions,
            inlet,
            outgoing: Outgoing::new(level.number, me, outlet, room),
            sets,
            filling: 0,
            overlap_sends: chain.overlap_sends,
            block: 0,
            of: 0,
            usual: UsualTime::default(),
            usual_alone: UsualTime::default(),
        })
    }

    /// Returns the number of operations that can be in progress at once.
    pub(super) fn operations_max(&self) -> usize {
        self.inlet.operations_max() + self.outgoing.operations_max()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        self.inlet.begin(matrices);
        self.outgoing.begin(matrices);
        (self.block, self.of) = (0, matrices * self.inlet.blocks() as u64);
    }

    /// Returns whether its results must be sent before it continues.
    fn is_sending(&self) -> bool {
        !self.overlap_sends && !self.outgoing.is_done()
    }

    pub(super) fn prepare(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        if !self.is_sending() {
            self.inlet.post(flow.rank, flow.waiting, flow.swaps)?;
        }
        if flow.mode == Mode::Synchronised {
            self.take_over(flow)?;
        }
        self.outgoing.advance(flow.rank, flow.waiting, flow.swaps)
    }

    /// Copies the blocks that the source has lent, because the source must not wait until this stage begins them.
    fn take_over(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        for slot in 0..self.inlet.slots() {
            if let Some((lent, whole)) = self.inlet.lent(slot) {
                self.functions.rows_from(flow.rank, &lent, whole, false)?;
                flow.swaps.give_back(self.level.number, lent);
            }
        }
        Ok(())
    }

    /// Returns the readiness: the stage is ready if its next block is complete and the result has room.
    pub(super) fn readiness(&self, trial: &Trial, mode: Mode) -> Readiness {
        if self.is_sending() || self.ready_slot().is_none() {
            return Readiness::No;
        }
        let blocks = self.inlet.blocks() as u64;
        match mode == Mode::Synchronised && self.block.is_multiple_of(blocks) {
            // A level processes a matrix one period after the level before.
            true => Readiness::At(trial.start(self.block / blocks + self.level.number as u64)),
            false => Readiness::Now,
        }
    }

    fn ready_slot(&self) -> Option<usize> {
        let blocks = self.inlet.blocks() as u64;
        let begins = self.block.is_multiple_of(blocks);
        let has_room = self.sets.is_empty() || !begins || self.free_set().is_some();
        if self.block < self.of && has_room { self.inlet.complete(self.block) } else { None }
    }

    /// Returns the first set without queued pieces or sends. Taking the first reuses memory that is still in cache.
    fn free_set(&self) -> Option<usize> {
        self.sets.iter().position(|set| set.away == 0)
    }

    /// Processes the next block, and queues the pieces that are then ready.
    pub(super) fn step(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        let Some(slot) = self.ready_slot() else { return Ok(()) };
        let blocks = self.inlet.blocks() as u64;
        let (matrix, number) = (self.block / blocks, self.block % blocks);
        let begin = flow.rank.now();
        let computes = flow.mode != Mode::MessagesOnly;
        if let Some((lent, whole)) = self.inlet.lent(slot) {
            self.functions.rows_from(flow.rank, &lent, whole, computes)?;
            flow.swaps.give_back(self.level.number, lent);
        } else {
            self.work(flow.rank, slot, computes)?;
        }
        if self.sets.is_empty() {
            let block = self.inlet.take_out(slot);
            self.outgoing.push(number as usize, BufferPlace::Slot(slot), block);
        } else if self.level.turns {
            self.turn(flow, slot, number)?;
        } else {
            self.copy_out(flow, slot, number);
        }
        let end = flow.rank.now();
        let level = self.level.number;
        flow.stamps.worked(level, matrix, end.since(begin));
        if computes {
            flow.deadlines.computed(&mut self.usual, level as u64, (begin, end));
        }
        self.block += 1;
        if number + 1 == blocks {
            flow.stamps.ended(level, matrix, end);
            let due = matrix + level as u64;
            if flow.mode == Mode::Synchronised && due < flow.trial.instances {
                flow.deadlines.judged(due, level as u64, end);
            }
        }
        Ok(())
    }

    /// Applies all functions except the corner turn to the block in a slot, if they are `wanted`, and copies its pieces
    /// into place.
    fn work(&mut self, rank: &mut dyn Rank, slot: usize, wanted: bool) -> Result<()> {
        let (whole, remote) = self.inlet.whole_and_remote(slot);
        if !remote.is_empty() {
            self.functions.rows_with_remote(rank, whole, &remote, wanted)?;
            return self.inlet.release(rank, slot);
        }
        if wanted { self.functions.rows(rank, whole) } else { Ok(()) }
    }

    fn turn(&mut self, flow: &mut Flow<'_>, slot: usize, number: u64) -> Result<()> {
        if number == 0 {
            self.filling = self.free_set().unwrap_or_default();
        }
        let at = self.filling;
        let set = &mut self.sets[at];
        if flow.mode != Mode::MessagesOnly {
            let pieces = &mut set.pieces;
            let mut turned = TurnedPieces { me: self.me, outlet: &self.outgoing.outlet, pieces };
            self.functions.turn(flow.rank, self.inlet.whole(slot), number as usize, &mut turned)?;
        }
        self.inlet.free(slot);
        if number + 1 == self.inlet.blocks() as u64 {
            for piece in 0..set.pieces.len() {
                // The empty buffer has no memory, so this allocates nothing.
                let buffer = std::mem::replace(&mut set.pieces[piece], Buffer::zeroed(0));
                self.outgoing.push(piece, BufferPlace::Turned { set: at, piece }, buffer);
            }
            set.away = set.pieces.len();
        }
        Ok(())
    }

    /// Copies the functions' result for a block to its piece, which is sent at once.
    fn copy_out(&mut self, flow: &mut Flow<'_>, slot: usize, number: u64) {
        if number == 0 {
            self.filling = self.free_set().unwrap_or_default();
        }
        let (at, piece) = (self.filling, number as usize);
        let set = &mut self.sets[at];
        if flow.mode != Mode::MessagesOnly {
            let result = self.functions.result(self.inlet.whole(slot));
            let copy = Work::new(WorkKind::CopyBytes, size_of_val(result) as u64);
            let to = set.pieces[piece].elements_mut::<Complex32>();
            flow.rank.compute(copy, &mut || to.copy_from_slice(result));
        }
        self.inlet.free(slot);
        // The empty buffer has no memory, so this allocates nothing.
        let buffer = std::mem::replace(&mut set.pieces[piece], Buffer::zeroed(0));
        set.away += 1;
        self.outgoing.push(piece, BufferPlace::Turned { set: at, piece }, buffer);
    }

    pub(super) fn take(&mut self, purpose: Purpose, came: Arrived) {
        match purpose {
            Purpose::Piece { slot, piece } => self.inlet.take(slot, piece, came),
            Purpose::Lent { slot } => self.inlet.take_lent(slot, came.buffer()),
            Purpose::Request { from } => self.outgoing.take_request(from, came.buffer()),
            Purpose::Sent(place) => {
                self.outgoing.sent();
                match place {
                    BufferPlace::Slot(slot) => self.inlet.give_back(slot, came.buffer()),
                    BufferPlace::Turned { set, piece } => {
                        self.sets[set].pieces[piece] = came.buffer();
                        self.sets[set].away -= 1;
                    }
                }
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.block == self.of
    }

    /// Does the work of a matrix without messages, repeatedly on the same few blocks. Returns the times of its
    /// beginning and end.
    pub(super) fn work_alone(&mut self, rank: &mut dyn Rank) -> Result<(Time, Time)> {
        let begin = rank.now();
        for number in 0..self.inlet.blocks() {
            let slot = number % self.inlet.slots();
            self.functions.rows(rank, self.inlet.whole(slot))?;
            if let Some(set) = self.sets.first_mut().filter(|_| self.level.turns) {
                let pieces = &mut set.pieces;
                let mut turned =
                    TurnedPieces { me: self.me, outlet: &self.outgoing.outlet, pieces };
                self.functions.turn(rank, self.inlet.whole(slot), number, &mut turned)?;
            }
        }
        Ok((begin, rank.now()))
    }

    /// Sets all blocks to zero, which every function leaves unchanged. Other numbers would grow without bound when they
    /// are processed repeatedly.
    pub(super) fn clear(&mut self) {
        self.inlet.clear();
    }
}
