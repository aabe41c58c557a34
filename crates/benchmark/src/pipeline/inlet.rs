//! Blocks that come in: receives always posted ahead, and a data request sent for each.

use contract::{Buffer, Rank, Result, Source, Tag, TagSelector};
use kernels::Complex32;

use super::geometry::{Intake, Level};
use super::waiting::{Purpose, Waiting};

/// Blocks and their pieces.
pub(super) const DATA: Tag = Tag::new(0);
/// Data requests: empty messages against the flow.
pub(super) const REQUEST: Tag = Tag::new(1);

/// Room for one block.
struct Slot {
    /// The block that is in it or on its way, counted over the trial; none where the slot is free.
    block: Option<u64>,
    /// Pieces that have not come yet.
    missing: usize,
    /// The whole block. Away while it is received into (where it comes in one piece) or sent from.
    whole: Option<Buffer>,
    /// Its pieces, where it comes in several.
    pieces: Vec<Option<Buffer>>,
}

/// The receiving side of a rank.
pub(super) struct Inlet {
    intake: Intake,
    slots: Vec<Slot>,
    block_rows: usize,
    /// Blocks of the trial, and how many of them are posted.
    total: u64,
    posted: u64,
}

impl Inlet {
    pub(super) fn new(intake: Intake, level: &Level, slots: usize) -> Result<Self> {
        let pieces = intake.blocks[0].len();
        let slot = || {
            let piece = |_| Buffer::try_zeroed(intake.piece_bytes).map(Some);
            let cut = if pieces > 1 { pieces } else { 0 };
            Ok(Slot {
                block: None,
                missing: 0,
                whole: Some(Buffer::try_zeroed(level.block_bytes())?),
                pieces: (0..cut).map(piece).collect::<Result<_>>()?,
            })
        };
        let slots = (0..slots).map(|_| slot()).collect::<Result<Vec<_>>>()?;
        Ok(Inlet { intake, slots, block_rows: level.block_rows, total: 0, posted: 0 })
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
    pub(super) fn post(&mut self, rank: &mut dyn Rank, waiting: &mut Waiting) -> Result<()> {
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
                let buffer = slot.pieces.get_mut(piece).unwrap_or(&mut slot.whole).take();
                let Some(buffer) = buffer else { unreachable!("a free slot has all its buffers") };
                let posted =
                    rank.post_receive(Source::Rank(from), TagSelector::Is(DATA), buffer)?;
                waiting.add(posted, Purpose::Piece { slot: index, piece });
                rank.send(from, REQUEST, &[])?;
            }
        }
        Ok(())
    }

    /// Takes a piece that has come.
    pub(super) fn take(&mut self, slot: usize, piece: usize, buffer: Buffer) {
        let slot = &mut self.slots[slot];
        slot.missing -= 1;
        if slot.pieces.is_empty() {
            slot.whole = Some(buffer);
            return;
        }
        slot.pieces[piece] = Some(buffer);
        if slot.missing == 0
            && let Some(whole) = &mut slot.whole
        {
            join(&slot.pieces, whole, self.block_rows);
        }
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

/// Puts pieces, each a strip of columns, side by side.
fn join(pieces: &[Option<Buffer>], whole: &mut Buffer, rows: usize) {
    let whole = whole.elements_mut::<Complex32>();
    let columns = whole.len() / rows;
    let width = columns / pieces.len();
    for (at, piece) in pieces.iter().flatten().enumerate() {
        let piece = piece.elements::<Complex32>();
        for (row, strip) in piece.chunks_exact(width).enumerate() {
            whole[row * columns + at * width..][..width].copy_from_slice(strip);
        }
    }
}
