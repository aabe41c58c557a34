//! Allgather and all-to-all.

use contract::Result;

use super::direct::Blocks;
use super::{Host, Pieces, Team, copy};

impl Team {
    /// Puts `send` of member r into block r of every member's `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block, or is null: then this rank's block is in its place. `receive` has room for a block of each
    /// member.
    pub(crate) unsafe fn allgather<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Together, each) {
            // SAFETY: our caller's promise.
            return unsafe { self.allgather_directly(host, mark, send, receive, each) };
        }
        let me = self.me;
        // SAFETY: our caller's promise.
        let own = unsafe { receive.add(me * each) };
        if !send.is_null() {
            // SAFETY: as above.
            unsafe { std::ptr::copy(send, own, each) };
        }
        let pieces = Pieces { bytes: each, each: self.piece_bytes(1, 1) };
        self.run(
            host,
            pieces.call(mark),
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the piece is within the block.
                team.put(number, bytes, |to| unsafe { copy(own.add(start), to, bytes) });
                team.arrive(host, number);
            },
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                team.each_part(host, number, bytes, |member, from| {
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { copy(from, receive.add(member * each + start), bytes) };
                })
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
        mark: u32,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Apart, each) {
            // SAFETY: our caller's promise.
            return unsafe { self.all_to_all_directly(host, mark, send, receive, each) };
        }
        let (me, size) = (self.me, self.size());
        let pieces = Pieces { bytes: each, each: self.piece_bytes(size, 1) };
        // SAFETY: our caller's promise.
        unsafe { std::ptr::copy(send.add(me * each), receive.add(me * each), each) };
        self.run(
            host,
            pieces.call(mark),
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the pieces are within the blocks.
                team.put(number, size * bytes, |to| unsafe {
                    for member in (0..size).filter(|&member| member != me) {
                        copy(send.add(member * each + start), to.add(member * bytes), bytes);
                    }
                });
                team.arrive(host, number);
            },
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                team.each_part(host, number, size * bytes, |member, from| {
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe {
                        copy(from.add(me * bytes), receive.add(member * each + start), bytes);
                    }
                })
            },
        )
    }

    /// Calls `take` with every other member's part, as they come.
    #[inline]
    fn each_part<H: Host>(
        &mut self,
        host: &mut H,
        number: u32,
        bytes: usize,
        mut take: impl FnMut(usize, *const u8),
    ) -> Result<()> {
        self.wait_for_arrivals(host, number)?;
        for distance in 1..self.size() {
            let member = (self.me + distance) % self.size();
            let from = self.part(host, member, number, bytes)?;
            take(member, from);
        }
        self.ended_by_all = self.before_window;
        Ok(())
    }
}
