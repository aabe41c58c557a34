//! Reduce and allreduce from memory to memory.

use std::cell::RefCell;

use contract::{Apply, Combine, Result};

use super::{Host, Showing, Shown, Team};

/// What is combined at once: both operands stay in the second cache.
const CHUNK_BYTES: usize = 64 << 10;

impl Team {
    /// Combines `send` of all members into `receive` of the root, or of all. Each member combines a share of the elements, which
    /// it reads from the others and writes to whoever wants the result; nobody else touches that share of any member's memory.
    ///
    /// # Safety
    /// As for [`Team::reduce`] and [`Team::allreduce`].
    pub(in crate::team) unsafe fn combine_directly<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: Option<usize>,
        (send, receive): (*const u8, *mut u8),
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let (me, size) = (self.me, self.size());
        let elements = bytes / combine.element_bytes;
        let start_of = |member: usize| elements * member / size * combine.element_bytes;
        let each = CHUNK_BYTES / combine.element_bytes * combine.element_bytes;
        let share = start_of(me)..if me + 1 == size { bytes } else { start_of(me + 1) };
        let apply = RefCell::new(combine.apply);
        let shown = Shown { from: send as usize, to: receive as usize };
        self.step_directly(
            host,
            (call_id, bytes),
            (Showing::All, shown),
            size - 1,
            |team, host, epoch| {
                let mut theirs = Vec::with_capacity(size);
                for member in 0..size {
                    theirs.push(if member == me {
                        shown
                    } else {
                        team.shown(host, member, epoch)?
                    });
                }
                let apply = &mut **apply.borrow_mut();
                for start in share.clone().step_by(each) {
                    let here = each.min(share.end - start);
                    // SAFETY: the chunk lies in our share of what all have shown.
                    unsafe {
                        team.combine_chunk(host, &theirs, start, here, apply)?;
                        team.deliver_chunk(host, root, &theirs, start, here)?;
                    }
                }
                for member in team.others() {
                    team.count_done(host, member, epoch);
                }
                Ok(())
            },
        )
    }

    /// Combines `bytes` bytes from `start` on of all members, from the last to the first, in this rank's scratch memory.
    ///
    /// # Safety
    /// All have shown so many.
    unsafe fn combine_chunk<H: Host>(
        &mut self,
        host: &mut H,
        theirs: &[Shown],
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
            // SAFETY: the scratch memory has two chunks; our own part is our caller's memory.
            unsafe {
                let left = match (member == self.me, member == last) {
                    (true, false) => place as *const u8,
                    (true, true) => {
                        std::ptr::copy_nonoverlapping(place as *const u8, to, bytes);
                        to.cast_const()
                    }
                    _ => {
                        self.read(host, member, place, to, bytes)?;
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

    /// Writes the chunk that was combined to the root, or to all.
    ///
    /// # Safety
    /// Those have shown room for it.
    unsafe fn deliver_chunk<H: Host>(
        &self,
        host: &mut H,
        root: Option<usize>,
        theirs: &[Shown],
        start: usize,
        bytes: usize,
    ) -> Result<()> {
        let result = self.scratch.as_ptr();
        for member in (0..self.size()).filter(|&member| root.is_none_or(|root| root == member)) {
            let to = theirs[member].to + start;
            // SAFETY: our caller's promise; nobody else touches this share of the member's memory.
            unsafe {
                match member == self.me {
                    true => std::ptr::copy_nonoverlapping(result, to as *mut u8, bytes),
                    false => self.write(host, member, to, result, bytes)?,
                }
            }
        }
        Ok(())
    }
}
