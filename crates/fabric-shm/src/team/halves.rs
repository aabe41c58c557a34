//! Long allreduces of two members that have a processor each: each combines a half, and takes the other half
//! from the other.
//!
//! A fifth less is read and written than if each combined all, for one more wait a piece.

use std::cell::RefCell;
use std::ops::Range;

use contract::{Apply, Combine, Result};

use super::agreement::Awaited;
use super::combining::{chunk_bytes, part_of};
use super::pieces::{Pieces, copy, piece_within};
use super::{Host, Memory, Team};
use crate::board::{SLOT_BYTES, SLOTS};

/// From this length on. Pieces fill a slot, for half of one is combined at a time. See
/// docs/measurements.md#halves-of-an-allreduce.
const HALVES_FROM_BYTES: usize = 96 << 10;

impl Team {
    /// Whether this rank and the other of two combine a half each of an allreduce.
    pub(super) fn combines_halves(&self, bytes: usize) -> bool {
        self.size() == 2 && !self.oversubscribed && bytes >= HALVES_FROM_BYTES
    }

    /// Allreduce, each of two members at work on a half.
    ///
    /// # Safety
    /// As for `allreduce`.
    pub(super) unsafe fn allreduce_in_halves<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        Memory { send, receive }: Memory,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let unit = combine.element_bytes;
        let pieces = Pieces::new(bytes, piece_within(SLOT_BYTES, unit));
        let (chunk_bytes, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        self.run_with_work(
            host,
            pieces.call(call_id),
            |team, _, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                let put = part_of(1 - team.me, 2, bytes, unit);
                // SAFETY: the piece is within what the caller promised, and has room in a slot.
                team.put(epoch, bytes, |to| unsafe {
                    copy(send.add(start + put.start), to.add(put.start), put.len());
                });
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                team.wait_for_all(host, epoch)?;
                let half = part_of(team.me, 2, bytes, unit);
                // SAFETY: as above.
                let memory = unsafe { (send.add(start), receive.add(start)) };
                let apply = &mut **apply.borrow_mut();
                team.combine_half(epoch, bytes, half, chunk_bytes, memory, apply);
                Ok(())
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                let half = part_of(1 - team.me, 2, bytes, unit);
                // SAFETY: as above.
                team.take_half(host, epoch, bytes, half, unsafe { receive.add(start) })?;
                team.swap_places(epoch);
                Ok(())
            },
        )
    }

    /// Combines this rank's half with the other's part, into `to` and into this rank's own slot, where that
    /// half is free. This rank's part of the piece is at `from`, which is `to` or apart from it.
    fn combine_half(
        &self,
        epoch: u32,
        bytes: usize,
        half: Range<usize>,
        chunk_bytes: usize,
        (from, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let theirs = self.place(1 - self.me, epoch, bytes);
        let slot = self.place(self.me, epoch, bytes);
        let in_place = from == to.cast_const();
        for start in half.clone().step_by(chunk_bytes) {
            let here = chunk_bytes.min(half.end - start);
            // SAFETY: the other has put this half, and reads nothing of ours there before we have counted.
            // Our own part is there for as long as the call lasts.
            unsafe {
                let (from, theirs) = (from.add(start), theirs.add(start).cast_const());
                let (to, slot) = (to.add(start), slot.add(start));
                let (left, right) = if self.me == 0 { (from, theirs) } else { (theirs, from) };
                // By a copy into the slot, where that is possible: it takes lines from the other processor
                // without reading them.
                let (result, second) = if in_place { (slot, to) } else { (to, slot) };
                apply(left, right, result, here);
                copy(result, second, here);
            }
        }
        self.board(self.me).counters[epoch as usize % SLOTS].done.count(epoch);
    }

    /// Waits until the other has combined its half, and copies that to `to`.
    fn take_half<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        bytes: usize,
        half: Range<usize>,
        to: *mut u8,
    ) -> Result<()> {
        let other = 1 - self.me;
        self.wait_for(host, epoch, Awaited::Nobody, |team| {
            team.board(other).counters[epoch as usize % SLOTS].done.is(epoch, 1)
        })?;
        let from = self.place(other, epoch, bytes);
        // SAFETY: the other has counted its half, which stays until this step has ended; `to` has room for the piece.
        unsafe { copy(from.add(half.start), to.add(half.start), half.len()) };
        Ok(())
    }
}
