//! The combination of the members' parts of a step.
//!
//! Elements are combined from the last member's to the first's, with the lower member always on the left. So the result
//! does not depend on who computes it, and is correct for operations that do not commute.

use collectives::THRESHOLDS;
use contract::{Apply, Combine};

use super::agreement::Awaited;
use super::copies::copy;
use super::{CompiledCaller, Memory, Result, Team};
use crate::board::{SHORT_BYTES, SLOTS};
use crate::primitive::{note_read, note_write};
use crate::ring::take_lines;

/// Length that a member claims at once.
const CHUNK_BYTES: usize = if cfg!(loom) { 1 << 10 } else { THRESHOLDS.chunk_bytes };

/// Returns the length of a chunk of whole elements, each of which fits one ([`Combine::LONGEST_ELEMENT`]).
pub(super) fn chunk_bytes(combine: &Combine<'_>) -> usize {
    CHUNK_BYTES / combine.element_bytes * combine.element_bytes
}

/// Combines `bytes` bytes of `size` members, whose parts lie where `part` says, into `result`. Returns the location of
/// the combined bytes: those of a single member stay where they are.
///
/// # Safety
/// All parts hold `bytes` bytes, and `result` has room for them. `result` overlaps no part but the last member's, and
/// is either equal to or apart from that one.
#[inline(always)]
pub(super) unsafe fn combine_parts(
    members: usize,
    part: impl Fn(usize) -> *const u8,
    result: *mut u8,
    bytes: usize,
    apply: &mut Apply<'_>,
) -> *const u8 {
    let mut right = part(members - 1);
    for member in (0..members - 1).rev() {
        let left = part(member);
        note_read(left, bytes);
        note_read(right, bytes);
        note_write(result, bytes);
        apply(left, right, result, bytes);
        right = result;
    }
    right
}

impl Team {
    /// Returns the location at which this rank reads its own part: in the caller's memory, unless the result goes
    /// there. Reading what was just put would wait until that line is owned by this core again. See
    /// docs/measurements.md#fewer-and-faster-copies.
    pub(super) fn own_part(
        &self,
        epoch: u32,
        bytes: usize,
        memory: Memory,
        start: usize,
    ) -> *const u8 {
        if memory.send == memory.receive {
            return self.place(self.me, epoch, bytes);
        }
        memory.send.wrapping_add(start)
    }

    /// Combines all parts of the step into `to`, which has room for `bytes` bytes. This rank's part is at `own`. Unless
    /// all members do so (`TO_ALL`), this rank is the only reader of the parts, and takes ownership of their lines.
    pub(super) fn combine_all<const TO_ALL: bool>(
        &self,
        epoch: u32,
        bytes: usize,
        chunk_bytes: usize,
        (own, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        for start in (0..bytes).step_by(chunk_bytes) {
            let here = chunk_bytes.min(bytes - start);
            let part = |member: usize| match member == self.me {
                true => own.wrapping_add(start),
                false => self.place(member, epoch, bytes).cast_const().wrapping_add(start),
            };
            // SAFETY: every member has put `bytes` bytes, and does not change them until all have ended the step. This
            // rank's own exist for the duration of the call.
            unsafe {
                if !TO_ALL && bytes > SHORT_BYTES {
                    self.others().for_each(|member| take_lines(part(member), here));
                }
                let to = to.add(start);
                let combined = combine_parts(self.size(), part, to, here, apply);
                if self.size() == 1 {
                    copy(combined, to, here);
                }
            }
        }
    }

    /// Claims chunks of the step's parts while there are any, and combines each in the last member's slot.
    pub(super) fn combine_chunks<C: CompiledCaller>(
        &self,
        caller: &mut C,
        epoch: u32,
        bytes: usize,
        chunk_bytes: usize,
        apply: &mut Apply<'_>,
    ) {
        let counters = &self.board(0).counters[epoch as usize % SLOTS];
        let (size, chunks) = (self.size(), bytes.div_ceil(chunk_bytes) as u32);
        while let Some(claimed) = counters.claimed.count_below(epoch, chunks) {
            let start = (claimed as usize - 1) * chunk_bytes;
            let here = chunk_bytes.min(bytes - start);
            let part = |member: usize| self.place(member, epoch, bytes).wrapping_add(start);
            let result = part(size - 1);
            // SAFETY: only this rank has claimed the chunk, and every member has put `bytes` bytes.
            unsafe { combine_parts(size, |member| part(member).cast_const(), result, here, apply) };
            if counters.done.count(epoch) == chunks && self.oversubscribed {
                self.wake_others(caller);
            }
        }
    }

    /// Waits until all chunks are combined, and copies the result to `to`.
    pub(super) fn take_combined<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        epoch: u32,
        bytes: usize,
        chunk_bytes: usize,
        to: *mut u8,
    ) -> Result<()> {
        let chunks = bytes.div_ceil(chunk_bytes) as u32;
        self.wait_for(caller, epoch, Awaited::Nobody, |team| {
            team.board(0).counters[epoch as usize % SLOTS].done.is(epoch, chunks)
        })?;
        // SAFETY: the result lies in the last member's slot, which stays until this step has ended; `to` has
        // room for it.
        unsafe { copy(self.place(self.size() - 1, epoch, bytes), to, bytes) };
        Ok(())
    }
}
