//! Reduce and allreduce by cross-memory attach.

use std::cell::RefCell;

use contract::{Apply, Combine};

use super::{Addresses, Publisher};
use crate::team::{Call, CompiledCaller, Memory, Result, Team};

/// Length that is combined at once: both operands stay in the second-level cache.
const CHUNK_BYTES: usize = 64 << 10;

impl Team {
    /// Combines `send` of all members into `receive` of the root, or of all. Each member combines a part of the
    /// elements, which it reads from the others and writes to each receiver of the result. Nobody else touches that
    /// part of any member's memory.
    ///
    /// # Safety
    /// As for [`Team::reduce`] and [`Team::allreduce`].
    pub(in crate::team) unsafe fn combine_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: Option<usize>,
        Memory { send, receive }: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        let (me, size) = (self.me, self.size());
        let bytes = call.plan.pieces.bytes;
        let elements = bytes / combine.element_bytes;
        let start_of = |member: usize| elements * member / size * combine.element_bytes;
        let each = CHUNK_BYTES / combine.element_bytes * combine.element_bytes;
        let part = start_of(me)..if me + 1 == size { bytes } else { start_of(me + 1) };
        let apply = RefCell::new(combine.apply);
        let addresses = Addresses { from: send as usize, to: receive as usize };
        self.step_by_cma(
            caller,
            call,
            (Publisher::All, addresses),
            size - 1,
            &mut |team, caller, epoch| {
                let mut theirs = Vec::with_capacity(size);
                for member in 0..size {
                    theirs.push(if member == me {
                        addresses
                    } else {
                        team.addresses_of(caller, member, epoch)?
                    });
                }
                let apply = &mut **apply.borrow_mut();
                for start in part.clone().step_by(each) {
                    let here = each.min(part.end - start);
                    // SAFETY: the chunk lies in this rank's part of what all have published.
                    unsafe {
                        team.combine_chunk(caller, &theirs, start, here, apply)?;
                        team.deliver_chunk(caller, root, &theirs, start, here)?;
                    }
                }
                for member in team.others() {
                    team.count_done(caller, member, epoch);
                }
                Ok(())
            },
        )
    }

    /// Combines `bytes` bytes from `start` on of all members, from the last to the first, in this rank's scratch
    /// memory.
    ///
    /// # Safety
    /// All members have published this many.
    unsafe fn combine_chunk<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        theirs: &[Addresses],
        start: usize,
        bytes: usize,
        apply: &mut Apply<'_>,
    ) -> Result<()> {
        self.scratch.resize(2 * CHUNK_BYTES, 0);
        let result = self.scratch.as_mut_ptr();
        let part = result.wrapping_add(CHUNK_BYTES);
        let last = self.size() - 1;
        for member in (0..=last).rev() {
            let place = theirs[member].from + start;
            let to = if member == last { result } else { part };
            // SAFETY: the scratch memory has two chunks; this rank's own data are the caller's memory.
            unsafe {
                let left = match (member == self.me, member == last) {
                    (true, false) => place as *const u8,
                    (true, true) => {
                        std::ptr::copy_nonoverlapping(place as *const u8, to, bytes);
                        to.cast_const()
                    }
                    _ => {
                        self.read(caller, member, place, to, bytes)?;
                        to.cast_const()
                    }
                };
                if member != last {
                    apply(left, result, result, bytes);
                }
            }
        }
        Ok(())
    }

    /// Writes the combined chunk to the root, or to all.
    ///
    /// # Safety
    /// The receivers have published room for it.
    unsafe fn deliver_chunk<C: CompiledCaller>(
        &self,
        caller: &mut C,
        root: Option<usize>,
        theirs: &[Addresses],
        start: usize,
        bytes: usize,
    ) -> Result<()> {
        let result = self.scratch.as_ptr();
        for member in (0..self.size()).filter(|&member| root.is_none_or(|root| root == member)) {
            let to = theirs[member].to + start;
            // SAFETY: the caller promises the same; nobody else touches this part of the member's memory.
            unsafe {
                match member == self.me {
                    true => std::ptr::copy_nonoverlapping(result, to as *mut u8, bytes),
                    false => self.write(caller, member, to, result, bytes)?,
                }
            }
        }
        Ok(())
    }
}
