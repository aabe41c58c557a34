//! Blocks that come in: receives always posted ahead, and a data request sent for each.
//!
//! A piece of a block may stay in memory of the rank that sent it (see [`Rank::post_receive_in_place`]) until the block is worked
//! on: then its rows are read where they are ([`Apart`]).

use contract::{Buffer, Completed, Rank, Result, Source, Tag, TagSelector};

use super::apart::Apart;
use super::pending::{Arrived, PendingOperations, Purpose};
use super::swap_buffers::BufferSwaps;
use crate::chain::{ELEMENT_BYTES, Intake, Level};

/// Blocks and their pieces for a level.
pub(super) const fn data(level: usize) -> Tag {
    Tag::new(2 * level as u32)
}

/// Data requests of a level: empty messages against the flow.
pub(super) const fn request(level: usize) -> Tag {
    Tag::new(2 * level as u32 + 1)
}

/// Room for one block.
struct Slot {
    /// The block that is in it or on its way, counted over the trial; none where the slot is free.
    block: Option<u64>,
    /// Pieces that have not come yet.
    missing: usize,
    /// The whole block. Away while it is received into (where it comes in one piece, or one piece comes from this
    /// rank, which writes it into its place in the block) or sent from.
    whole: Option<Buffer>,
    /// Room for its pieces, where it comes in several; none for one of this rank.
    pieces: Vec<Option<Buffer>>,
    /// Those that have come from other ranks.
    apart: Vec<Option<Completed>>,
    /// What the source of this rank lends: the block is still there, and not in `whole`.
    lent: Option<Buffer>,
}

/// The receiving side of a rank.
pub(super) struct Inlet {
    level: usize,
    me: usize,
    intake: Intake,
    slots: Vec<Slot>,
    block_rows: usize,
    /// Whether pieces may stay with their senders until they are worked on.
    leaves: bool,
    /// Blocks of the trial, and how many of them are posted.
    total: u64,
    posted: u64,
}

impl Inlet {
    /// For rank `me`, with room for `ahead` blocks and for `waiting` that must not be begun yet. One ahead will do if all of
    /// them come from `me` itself: then nothing can come while it works, and the fewer places a block goes through, the
    /// more of the cache is left.
    pub(super) fn new(
        intake: Intake,
        level: &Level,
        me: usize,
        (ahead, waiting): (usize, usize),
    ) -> Result<Self> {
        let from_me = intake.blocks.iter().flatten().all(|&from| from == me);
        let slots = waiting + if from_me { 1 } else { ahead };
        let senders = &intake.blocks[0];
        let senders = if senders.len() > 1 { senders.as_slice() } else { &[] };
        let piece = |&from: &usize| {
            (from != me).then(|| Buffer::try_zeroed(intake.piece_bytes)).transpose()
        };
        let slot = || {
            Ok(Slot {
                block: None,
                missing: 0,
                whole: Some(Buffer::try_zeroed(level.block_bytes())?),
                pieces: senders.iter().map(piece).collect::<Result<_>>()?,
                apart: senders.iter().map(|_| None).collect(),
                lent: None,
            })
        };
        let slots = (0..slots).map(|_| slot()).collect::<Result<Vec<_>>>()?;
        let (number, block_rows) = (level.number, level.block_rows);
        // What must wait for its turn would keep its sender waiting as well.
        let leaves = waiting == 0;
        Ok(Inlet { level: number, me, intake, slots, block_rows, leaves, total: 0, posted: 0 })
    }

    /// Operations that can be under way at once.
    pub(super) fn operations_max(&self) -> usize {
        self.slots.len() * self.intake.blocks[0].len()
    }

    /// Blocks of a matrix.
    pub(super) fn blocks(&self) -> usize {
        self.intake.blocks.len()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        self.total = matrices * self.blocks() as u64;
        self.posted = 0;
    }

    /// Posts receives into all free slots, as long as blocks are to come, and asks for what they wait for.
    pub(super) fn post(
        &mut self,
        rank: &mut dyn Rank,
        waiting: &mut PendingOperations,
        swaps: &mut BufferSwaps,
    ) -> Result<()> {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if self.posted == self.total {
                break;
            }
            if slot.block.is_some() || slot.whole.is_none() {
                continue;
            }
            let senders =
                &self.intake.blocks[(self.posted % self.intake.blocks.len() as u64) as usize];
            slot.block = Some(self.posted);
            slot.missing = senders.len();
            self.posted += 1;
            for (piece, &from) in senders.iter().enumerate() {
                let buffer = match slot.pieces.get_mut(piece) {
                    Some(buffer) if from != self.me => buffer.take(),
                    _ => slot.whole.take(),
                };
                let Some(buffer) = buffer else { unreachable!("a free slot has all its buffers") };
                if from == self.me {
                    swaps.open(self.level, index, piece, buffer);
                    continue;
                }
                let data = TagSelector::Is(data(self.level));
                let from_rank = Source::Rank(from);
                let posted = match self.leaves && senders.len() > 1 {
                    true => rank.post_receive_in_place(from_rank, data, buffer)?,
                    false => rank.post_receive(from_rank, data, buffer)?,
                };
                waiting.add(self.level, posted, Purpose::Piece { slot: index, piece });
                rank.send(from, request(self.level), &[])?;
            }
        }
        Ok(())
    }

    /// Takes a piece that has come.
    pub(super) fn take(&mut self, slot: usize, piece: usize, came: Arrived) {
        let slot = &mut self.slots[slot];
        match (came, slot.apart.get_mut(piece)) {
            (Arrived::Ended(message), Some(place)) => *place = Some(message),
            (came, _) => slot.whole = Some(came.buffer()),
        }
        slot.missing -= 1;
    }

    /// Takes what is lent for the block in a slot.
    pub(super) fn take_lent(&mut self, slot: usize, lent: Buffer) {
        self.slots[slot].lent = Some(lent);
    }

    /// What was lent for the block in a slot, if anything, and where the block belongs.
    pub(super) fn lent(&mut self, slot: usize) -> Option<(Buffer, &mut Buffer)> {
        let slot = &mut self.slots[slot];
        slot.lent.take().zip(slot.whole.as_mut())
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Makes all blocks zero.
    pub(super) fn clear(&mut self) {
        let wholes = self.slots.iter_mut().filter_map(|slot| slot.whole.as_mut());
        wholes.for_each(|whole| whole.fill(0));
    }

    /// The slot in which `block` of the trial is complete, if it is.
    pub(super) fn complete(&self, block: u64) -> Option<usize> {
        let is_it = |slot: &Slot| slot.block == Some(block) && slot.missing == 0;
        self.slots.iter().position(is_it)
    }

    /// The block in a slot that is complete.
    pub(super) fn whole(&mut self, slot: usize) -> &mut Buffer {
        let Some(whole) = &mut self.slots[slot].whole else {
            unreachable!("a complete slot has its block")
        };
        whole
    }

    /// The block in a slot that is complete, and what of it still lies elsewhere.
    pub(super) fn whole_and_apart(&mut self, slot: usize) -> (&mut Buffer, Apart<'_>) {
        let slot = &mut self.slots[slot];
        let Some(whole) = &mut slot.whole else { unreachable!("a complete slot has its block") };
        let columns = whole.len() / self.block_rows / ELEMENT_BYTES;
        (whole, Apart { pieces: &slot.apart, columns })
    }

    /// Brings here what of a complete block still lies elsewhere.
    pub(super) fn bring(&mut self, rank: &mut dyn Rank, slot: usize) -> Result<()> {
        let (whole, apart) = self.whole_and_apart(slot);
        if apart.is_empty() {
            return Ok(());
        }
        apart.bring(rank, whole.elements_mut());
        self.release(rank, slot)
    }

    /// Is done with what lay elsewhere: senders get their memory back.
    pub(super) fn release(&mut self, rank: &mut dyn Rank, slot: usize) -> Result<()> {
        let slot = &mut self.slots[slot];
        for (place, apart) in slot.pieces.iter_mut().zip(&mut slot.apart) {
            if let Some(message) = apart.take() {
                *place = Some(rank.release(message)?);
            }
        }
        Ok(())
    }

    /// Takes the block out, to be sent; it is given back when that is done.
    pub(super) fn take_out(&mut self, slot: usize) -> Buffer {
        let Some(whole) = self.slots[slot].whole.take() else {
            unreachable!("a complete slot has its block")
        };
        whole
    }

    /// Puts a block back that was taken out, and frees its slot.
    pub(super) fn give_back(&mut self, slot: usize, whole: Buffer) {
        self.slots[slot].whole = Some(whole);
        self.free(slot);
    }

    /// Frees a slot whose block is no longer needed.
    pub(super) fn free(&mut self, slot: usize) {
        self.slots[slot].block = None;
    }
}
