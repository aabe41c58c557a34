//! Reduce and allreduce.
//!
//! Elements are combined from the last member's to the first's, the lower always on the left, so that the result is the same
//! whoever computes it, and right for operations that do not commute.

use std::cell::RefCell;
use std::ops::Range;

use contract::{Apply, Combine, Result};

use super::{Host, Pieces, Team, Whom, copy, piece_within};
use crate::board::{SLOT_BYTES, SLOTS};
use crate::ring::LINE_BYTES;

/// From this length on the members share the combining of a piece; below, each does all of it for itself.
const SHARED_FROM_BYTES: usize = 2 << 10;
/// From this length on each of two members that have a processor each combines a half, and takes the other half from the other,
/// instead of combining all: a fifth less is read and written, for one more wait a piece. Pieces fill a slot, for half of one is
/// combined at a time (allreduce on a Zen 5, medians of nine turns in alternation, of 128 KiB to 1 MiB: 0.87 to 0.93 times as long
/// where a line takes some 40 ns, 1.01 to 1.03 where it takes some 200; in pieces of 32 KiB 0.90 to 0.96 and 1.13 to 1.19; shorter
/// ones take up to 1.17 times as long).
const HALVES_FROM_BYTES: usize = 96 << 10;
/// What a member takes on at once; it stays in the first cache while all members' parts are combined.
const CHUNK_BYTES: usize = 8 << 10;

/// Parts of a piece: the one that this member combines, and the other's.
struct Halves {
    own: Range<usize>,
    theirs: Range<usize>,
}

/// The length of a chunk of whole elements, each of which fits one ([`Combine::LONGEST_ELEMENT`]).
pub(super) fn chunk_bytes(combine: &Combine<'_>) -> usize {
    CHUNK_BYTES / combine.element_bytes * combine.element_bytes
}

impl Team {
    /// Combines `send` of all members into `receive` of all members.
    ///
    /// # Safety
    /// `send` holds `bytes` bytes and `receive` has room for them. They are the same memory or do not overlap.
    pub(crate) unsafe fn allreduce<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        send: *const u8,
        receive: *mut u8,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        if self.is_combined_directly(host, bytes) {
            let memory = (send, receive);
            // SAFETY: our caller's promise.
            return unsafe { self.combine_directly(host, call_id, None, memory, bytes, combine) };
        }
        let unit = combine.element_bytes;
        if self.combines_shares(bytes, unit) {
            // SAFETY: our caller's promise.
            return unsafe {
                self.allreduce_in_shares(host, call_id, send, receive, bytes, combine)
            };
        }
        let in_halves = self.combines_halves(bytes);
        let each =
            if in_halves { piece_within(SLOT_BYTES, unit) } else { self.piece_bytes(1, unit) };
        let pieces = Pieces::new(bytes, each);
        let halves_of = |team: &Team, bytes| in_halves.then(|| team.halves(bytes, unit));
        let (each, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        self.run_with_work(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                let put = halves_of(team, bytes).map_or(0..bytes, |halves| halves.theirs);
                team.put(epoch, bytes, |to| {
                    // SAFETY: the piece is within what our caller promised, and has room in a slot.
                    unsafe { copy(send.add(start + put.start), to.add(put.start), put.len()) };
                });
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                team.wait_for_all(host, epoch)?;
                let apply = &mut **apply.borrow_mut();
                if let Some(halves) = halves_of(team, bytes) {
                    // SAFETY: as above.
                    let memory = unsafe { (send.add(start), receive.add(start)) };
                    team.combine_half(epoch, bytes, halves.own, each, memory, apply);
                    return Ok(());
                }
                if team.shares_combining(bytes) {
                    team.combine_chunks(host, epoch, bytes, each, apply);
                } else {
                    let own = team.own_part(epoch, bytes, send, receive, start);
                    // SAFETY: as above.
                    let to = unsafe { receive.add(start) };
                    team.combine_all(epoch, bytes, each, (own, to), apply);
                }
                Ok(())
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: as above.
                let to = unsafe { receive.add(start) };
                if let Some(halves) = halves_of(team, bytes) {
                    team.take_half(host, epoch, bytes, halves.theirs, to)?;
                } else if team.shares_combining(bytes) {
                    team.take_combined(host, epoch, bytes, each, to)?;
                }
                team.swap_places(epoch);
                Ok(())
            },
        )
    }

    /// Combines `send` of all members into `receive` of the root.
    ///
    /// # Safety
    /// `send` holds `bytes` bytes and `receive` has room for them at the root. They are the same memory or do not overlap.
    #[allow(clippy::too_many_arguments)] // MPI's, and the call_id.
    pub(crate) unsafe fn reduce<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        // Of two members the one that is not the root would both read and write (1.05 to 1.25 times as long as by boards). Where ranks
        // share processors boards are faster too (four ranks: 79 us from memory to memory and 47 by boards at 256 KiB, 364 and
        // 301 at 1 MiB).
        if self.size() > 2 && !self.shares_processors && self.is_combined_directly(host, bytes) {
            let memory = (send, receive);
            // SAFETY: our caller's promise.
            return unsafe {
                self.combine_directly(host, call_id, Some(root), memory, bytes, combine)
            };
        }
        let pieces = Pieces::new(bytes, self.piece_bytes(1, combine.element_bytes));
        let is_root = self.me == root;
        let (each, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        self.run_with_work(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // A root that combines all by itself reads its own part where it is.
                let stays = is_root && !team.others_help(bytes) && send != receive.cast_const();
                team.put(epoch, bytes, |to| {
                    if !stays {
                        // SAFETY: the piece is within what our caller promised.
                        unsafe { copy(send.add(start), to, bytes) };
                    }
                });
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                let apply = &mut **apply.borrow_mut();
                let shared = team.others_help(bytes);
                if is_root {
                    team.wait_for_all(host, epoch)?;
                    if !shared {
                        let own = team.own_part(epoch, bytes, send, receive, start);
                        // SAFETY: as above.
                        let to = unsafe { receive.add(start) };
                        team.combine_all(epoch, bytes, each, (own, to), apply);
                    }
                }
                // The others lend a hand if nobody has to be waited for.
                if shared && (is_root || team.all_are_there(epoch)) {
                    team.combine_chunks(host, epoch, bytes, each, apply);
                }
                Ok(())
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                if is_root && team.others_help(bytes) {
                    // SAFETY: as above.
                    team.take_combined(host, epoch, bytes, each, unsafe { receive.add(start) })?;
                }
                Ok(())
            },
        )
    }

    /// Whether the members share the work on a piece of that length. Two members that have a processor each would only wait
    /// for each other.
    fn shares_combining(&self, bytes: usize) -> bool {
        bytes >= SHARED_FROM_BYTES && (self.size() > 2 || self.shares_processors)
    }

    /// Whether others help the root of a reduction with a piece of that length. Not where ranks share processors: then whoever has given its
    /// part makes room for another, and a root that combines all by itself need not put its own and copies no result (of four
    /// ranks on two processors 64 KiB 7.7 and 2.3 us, 512 KiB 39 and 18, the root alone 60 and 45; of eight 4.1 and 2.9, 36 and 21,
    /// 113 and 97).
    fn others_help(&self, bytes: usize) -> bool {
        !self.shares_processors && self.shares_combining(bytes)
    }

    /// Whether this rank and the other of two combine a half each of an allreduce.
    fn combines_halves(&self, bytes: usize) -> bool {
        self.size() == 2 && !self.shares_processors && bytes >= HALVES_FROM_BYTES
    }

    /// What each of the two combines of a piece.
    fn halves(&self, bytes: usize, element_bytes: usize) -> Halves {
        // Whole lines, where elements fill them: neither then writes to a line that the other reads.
        let unit =
            if LINE_BYTES.is_multiple_of(element_bytes) { LINE_BYTES } else { element_bytes };
        let middle = bytes / 2 / unit * unit;
        match self.me {
            0 => Halves { own: 0..middle, theirs: middle..bytes },
            _ => Halves { own: middle..bytes, theirs: 0..middle },
        }
    }

    /// Combines this rank's half with the other's part, into `to` and into this rank's own slot, where that half is free; our
    /// part of the piece is at `from`, which is `to` or apart from it.
    fn combine_half(
        &self,
        epoch: u32,
        bytes: usize,
        half: Range<usize>,
        each: usize,
        (from, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let theirs = self.place(1 - self.me, epoch, bytes);
        let slot = self.place(self.me, epoch, bytes);
        let in_place = from == to.cast_const();
        for start in half.clone().step_by(each) {
            let here = each.min(half.end - start);
            // SAFETY: the other has put this half, and reads nothing of ours there before we have counted; our own part is
            // there for as long as the call lasts.
            unsafe {
                let (from, theirs) = (from.add(start), theirs.add(start).cast_const());
                let (to, slot) = (to.add(start), slot.add(start));
                let (left, right) = if self.me == 0 { (from, theirs) } else { (theirs, from) };
                // By a copy into the slot, where that is possible: it takes lines from the other processor unread.
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
        self.wait_for(host, epoch, Whom::Nobody, |team| {
            team.board(other).counters[epoch as usize % SLOTS].done.is(epoch, 1)
        })?;
        let from = self.place(other, epoch, bytes);
        // SAFETY: the other has counted its half, which stays until this step has ended; `to` has room for the piece.
        unsafe { copy(from.add(half.start), to.add(half.start), half.len()) };
        Ok(())
    }

    /// Where this rank reads its own part: in the caller's memory, unless the result goes there. Reading what was just put
    /// waits until the line is this core's again, as long as a line takes from core to core (allreduce of 8 bytes between two
    /// cores: 0.46 us instead of 0.28).
    fn own_part(
        &self,
        epoch: u32,
        bytes: usize,
        send: *const u8,
        receive: *const u8,
        start: usize,
    ) -> *const u8 {
        if send == receive {
            return self.place(self.me, epoch, bytes);
        }
        send.wrapping_add(start)
    }

    /// Combines all parts of the step into `to`, which has room for `bytes` bytes; this rank's is at `own`.
    fn combine_all(
        &self,
        epoch: u32,
        bytes: usize,
        each: usize,
        (own, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let last = self.size() - 1;
        let parts = |member: usize| match member == self.me {
            true => own,
            false => self.place(member, epoch, bytes).cast_const(),
        };
        for start in (0..bytes).step_by(each) {
            let here = each.min(bytes - start);
            // SAFETY: every member has put `bytes` bytes, and leaves them until all have ended the step; our own are there
            // for as long as the call lasts.
            unsafe {
                let to = to.add(start);
                let mut right = parts(last).add(start);
                for member in (0..last).rev() {
                    apply(parts(member).add(start), right, to, here);
                    right = to.cast_const();
                }
                if last == 0 {
                    copy(right, to, here);
                }
            }
        }
    }

    /// Waits until all chunks are combined, and copies the result to `to`.
    fn take_combined<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        bytes: usize,
        each: usize,
        to: *mut u8,
    ) -> Result<()> {
        let chunks = bytes.div_ceil(each) as u32;
        self.wait_for(host, epoch, Whom::Nobody, |team| {
            team.board(0).counters[epoch as usize % SLOTS].done.is(epoch, chunks)
        })?;
        // SAFETY: the result lies in the last member's slot, which stays until this step has ended.
        unsafe { copy(self.place(self.size() - 1, epoch, bytes), to, bytes) };
        Ok(())
    }

    /// Takes chunks of the step's parts, as long as there are any, and combines each in the last member's slot.
    fn combine_chunks<H: Host>(
        &self,
        host: &mut H,
        epoch: u32,
        bytes: usize,
        each: usize,
        apply: &mut Apply<'_>,
    ) {
        let work = &self.board(0).counters[epoch as usize % SLOTS];
        let (last, chunks) = (self.size() - 1, bytes.div_ceil(each) as u32);
        while let Some(taken) = work.claimed.count_below(epoch, chunks) {
            let start = (taken as usize - 1) * each;
            let here = each.min(bytes - start);
            for member in (0..last).rev() {
                let (left, right) =
                    (self.place(member, epoch, bytes), self.place(last, epoch, bytes));
                // SAFETY: the chunk is ours alone, and every member has put `bytes` bytes.
                unsafe { apply(left.add(start), right.add(start), right.add(start), here) };
            }
            if work.done.count(epoch) == chunks && self.shares_processors {
                self.wake_others(host);
            }
        }
    }
}
