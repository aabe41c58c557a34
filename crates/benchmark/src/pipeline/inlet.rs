//! Incoming blocks: receives are always posted ahead, and a data request is sent for each.
//!
//! A piece of a block may stay in the memory of its sender (see [`Rank::post_receive_in_place`]) until the block is
//! processed. Its rows are then read there ([`RemotePieces`]).

use contract::{Buffer, Completed, Rank, Result, Source, Tag, TagSelector};

use super::pending::{Arrived, PendingOperations, Purpose};
use super::remote_pieces::RemotePieces;
use super::swap_buffers::BufferSwaps;
use crate::chain::{ELEMENT_BYTES, Intake, Level};

/// Returns the tag of blocks and pieces for a level.
pub(super) const fn data(level: usize) -> Tag {
    Tag::new(2 * level as u32)
}

/// Returns the tag of a level's data requests, which are empty messages against the flow.
pub(super) const fn request(level: usize) -> Tag {
    Tag::new(2 * level as u32 + 1)
}

/// Buffers for one block.
struct Slot {
    /// Number of the block in the slot or on its way, counted over the trial; `None` if the slot is free.
    block: Option<u64>,
    /// Number of pieces that have not arrived.
    missing: usize,
    /// The whole block. `None` while it is sent from, and while it is received into: if it arrives in one piece, or if
    /// one piece comes from this rank, which writes it to its place in the block.
    whole: Option<Buffer>,
    /// Buffers for its pieces, if it arrives in several; `None` for a piece of this rank.
    pieces: Vec<Option<Buffer>>,
    /// Pieces that have arrived from other ranks.
    remote: Vec<Option<Completed>>,
    /// The block in a buffer that the source of this rank has lent. It is then not in `whole`.
    lent: Option<Buffer>,
}

/// The receiving side of a rank.
pub(super) struct Inlet {
    level: usize,
    me: usize,
    intake: Intake,
    slots: Vec<Slot>,
    block_rows: usize,
    /// True if pieces may stay in their senders' memory until they are processed.
    leaves: bool,
    /// Number of blocks of the trial, and of those that are posted.
    total: u64,
    posted: u64,
}

impl Inlet {
    /// Creates the inlet of rank `me`, with slots for `ahead` blocks and for `waiting` blocks that must not be begun
    /// yet. If all blocks come from `me` itself, one block ahead is enough: nothing arrives while the rank works, and
    /// fewer slots use less of the cache.
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
                remote: senders.iter().map(|_| None).collect(),
                lent: None,
            })
        };
        let slots = (0..slots).map(|_| slot()).collect::<Result<Vec<_>>>()?;
        let (number, block_rows) = (level.number, level.block_rows);
        // A block that must wait for its time would keep its sender's buffer from being reused.
        let leaves = waiting == 0;
        Ok(Inlet { level: number, me, intake, slots, block_rows, leaves, total: 0, posted: 0 })
    }

    /// Returns the most operations that can be in progress at once.
    pub(super) fn operations_max(&self) -> usize {
        self.slots.len() * self.intake.blocks[0].len()
    }

    /// Returns the number of blocks of a matrix.
    pub(super) fn blocks(&self) -> usize {
        self.intake.blocks.len()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        self.total = matrices * self.blocks() as u64;
        self.posted = 0;
    }

    /// Posts receives into all free slots while further blocks are expected, and sends the data requests for them.
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

    /// Takes a piece that has arrived.
    pub(super) fn take(&mut self, slot: usize, piece: usize, came: Arrived) {
        let slot = &mut self.slots[slot];
        match (came, slot.remote.get_mut(piece)) {
            (Arrived::Ended(message), Some(place)) => *place = Some(message),
            (came, _) => slot.whole = Some(came.buffer()),
        }
        slot.missing -= 1;
    }

    /// Takes a buffer that is lent for the block in a slot.
    pub(super) fn take_lent(&mut self, slot: usize, lent: Buffer) {
        self.slots[slot].lent = Some(lent);
    }

    /// Returns the buffer that was lent for the block in a slot, if one was, and the buffer to which the block belongs.
    pub(super) fn lent(&mut self, slot: usize) -> Option<(Buffer, &mut Buffer)> {
        let slot = &mut self.slots[slot];
        slot.lent.take().zip(slot.whole.as_mut())
    }

    /// Returns the number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Sets all blocks to zero.
    pub(super) fn clear(&mut self) {
        let wholes = self.slots.iter_mut().filter_map(|slot| slot.whole.as_mut());
        wholes.for_each(|whole| whole.fill(0));
    }

    /// Returns the slot in which `block` of the trial is complete, if it is.
    pub(super) fn complete(&self, block: u64) -> Option<usize> {
        let is_it = |slot: &Slot| slot.block == Some(block) && slot.missing == 0;
        self.slots.iter().position(is_it)
    }

    /// Returns the block in a complete slot.
    pub(super) fn whole(&mut self, slot: usize) -> &mut Buffer {
        let Some(whole) = &mut self.slots[slot].whole else {
            unreachable!("a complete slot has its block")
        };
        whole
    }

    /// Returns the block in a complete slot, and those of its pieces that are in other ranks' memory.
    pub(super) fn whole_and_remote(&mut self, slot: usize) -> (&mut Buffer, RemotePieces<'_>) {
        let slot = &mut self.slots[slot];
        let Some(whole) = &mut slot.whole else { unreachable!("a complete slot has its block") };
        let columns = whole.len() / self.block_rows / ELEMENT_BYTES;
        (whole, RemotePieces { pieces: &slot.remote, columns })
    }

    /// Copies the pieces of a complete block that are in other ranks' memory.
    pub(super) fn bring(&mut self, rank: &mut dyn Rank, slot: usize) -> Result<()> {
        let (whole, remote) = self.whole_and_remote(slot);
        if remote.is_empty() {
            return Ok(());
        }
        remote.bring(rank, whole.elements_mut());
        self.release(rank, slot)
    }

    /// Releases the pieces in other ranks' memory, so that their senders may use it again.
    pub(super) fn release(&mut self, rank: &mut dyn Rank, slot: usize) -> Result<()> {
        let slot = &mut self.slots[slot];
        for (place, remote) in slot.pieces.iter_mut().zip(&mut slot.remote) {
            if let Some(message) = remote.take() {
                *place = Some(rank.release(message)?);
            }
        }
        Ok(())
    }

    /// Takes the block out of its slot to be sent. [`give_back`](Self::give_back) returns it afterwards.
    pub(super) fn take_out(&mut self, slot: usize) -> Buffer {
        let Some(whole) = self.slots[slot].whole.take() else {
            unreachable!("a complete slot has its block")
        };
        whole
    }

    /// Returns a block that was taken out, and frees its slot.
    pub(super) fn give_back(&mut self, slot: usize, whole: Buffer) {
        self.slots[slot].whole = Some(whole);
        self.free(slot);
    }

    /// Frees a slot whose block is no longer needed.
    pub(super) fn free(&mut self, slot: usize) {
        self.slots[slot].block = None;
    }
}
