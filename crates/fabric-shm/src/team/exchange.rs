//! Allgather and all-to-all.

use contract::Result;

use super::direct::Blocks;
use super::{Host, Pieces, Team, WINDOW, copy};
use crate::ring::LINE_BYTES;

/// A rank's own block of an all-to-all is copied before the others' up to this length.
const OWN_FIRST_BYTES: usize = 512;

impl Team {
    /// Puts `send` of member r into block r of every member's `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block apart from `receive`, or is null: then this rank's block is in its place. `receive` has room for
    /// a block of each member.
    pub(crate) unsafe fn allgather<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Together, each) {
            // SAFETY: our caller's promise.
            return unsafe { self.allgather_directly(host, call_id, send, receive, each) };
        }
        let me = self.me;
        // SAFETY: our caller's promise.
        let own = unsafe { receive.add(me * each) };
        let from = if send.is_null() { own } else { send };
        let pieces = Pieces::new(each, self.exchanged_bytes(1));
        self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the piece is within the block.
                team.put(epoch, bytes, |to| unsafe { copy(from.add(start), to, bytes) });
                team.arrive(host, epoch);
                if !send.is_null() {
                    // SAFETY: as above. Now, when the others need not wait for it, and while it is in the cache.
                    unsafe { copy(from.add(start), own.add(start), bytes) };
                }
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                team.each_part(host, epoch, bytes, |member, from| {
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { copy(from, receive.add(member * each + start), bytes) };
                })?;
                team.swap_places(epoch);
                Ok(())
            },
        )
    }

    /// Gives block r of `send` of member s to member r, as block s of its `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block for each member and `receive` has room for one of each. They are the same memory or do not
    /// overlap.
    pub(crate) unsafe fn all_to_all<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Apart, each) {
            // SAFETY: our caller's promise.
            return unsafe { self.all_to_all_directly(host, call_id, send, receive, each) };
        }
        let (me, size) = (self.me, self.size());
        // Nobody reads its own block from a board, so none has room there.
        let parts = (size - 1).max(1);
        let index = |of: usize, on: usize| if of > on { of - 1 } else { of };
        let pieces = Pieces::new(each, self.exchanged_piece_bytes(parts, each));
        // SAFETY: our caller's promise.
        let (from, to) = unsafe { (send.add(me * each), receive.add(me * each)) };
        // SAFETY: the bytes are within the blocks.
        let copy_own =
            |start, bytes| unsafe { std::ptr::copy(from.add(start), to.add(start), bytes) };
        // Last, where the other has a processor, for it need not wait for that. First where ranks share processors (eight ranks on two
        // processors, 128 and 256 KiB: 166 and 560 us, and 177 and 592 with the own block last), and short ones (64 to 512 bytes between two
        // ranks: 0.13 us and 0.15).
        let own_last = !self.shares_processors && each > OWN_FIRST_BYTES;
        self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let Some((first, window)) = pieces.ended_window(epoch, piece) else { return };
                // All slots of the window are this rank's now.
                let (start, bytes) = pieces.get_all(&window);
                if !own_last {
                    copy_own(start, bytes);
                }
                let span = team.span(me, first, parts * bytes);
                for member in (0..size).filter(|&member| member != me) {
                    // SAFETY: the bytes are within the blocks, and the span has room for so many of each other member.
                    unsafe {
                        let from = send.add(member * each + start);
                        span.put(index(member, me) * bytes, from, bytes);
                    }
                }
                for step in 0..window.len() as u32 {
                    team.publish(first.wrapping_add(step));
                }
                team.arrive(host, epoch);
                if own_last {
                    copy_own(start, bytes);
                }
            },
            |team, host, epoch, piece| {
                let Some((last, window)) = pieces.begun_window(epoch, piece) else {
                    return Ok(());
                };
                let (start, bytes) = pieces.get_all(&window);
                team.wait_for_arrivals(host, last)?;
                for member in team.others() {
                    team.wait_for_part(host, member, last)?;
                    let span = team.span(member, epoch, parts * bytes);
                    // SAFETY: as above; the parts stay until this step has ended.
                    unsafe {
                        let to = receive.add(member * each + start);
                        span.take(index(me, member) * bytes, to, bytes);
                    }
                }
                team.ended_by_all = team.before_window;
                for step in 0..window.len() as u32 {
                    team.swap_places(epoch.wrapping_add(step));
                }
                Ok(())
            },
        )
    }

    /// How much of each block goes in one step of an all-to-all. The blocks of a window lie one after the other in all its slots, so
    /// its steps only say how many those are; windows are as long as one another.
    fn exchanged_piece_bytes(&self, parts: usize, each: usize) -> usize {
        let most = self.exchanged_bytes(parts);
        if each <= WINDOW * most {
            return most;
        }
        let windows = each.div_ceil(WINDOW * most);
        each.div_ceil(windows * WINDOW).next_multiple_of(LINE_BYTES).min(most)
    }

    /// Calls `take` with every other member's part, as they come.
    #[inline]
    fn each_part<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        bytes: usize,
        mut take: impl FnMut(usize, *const u8),
    ) -> Result<()> {
        self.wait_for_arrivals(host, epoch)?;
        for distance in 1..self.size() {
            let member = (self.me + distance) % self.size();
            let from = self.part(host, member, epoch, bytes)?;
            take(member, from);
        }
        self.ended_by_all = self.before_window;
        Ok(())
    }
}
