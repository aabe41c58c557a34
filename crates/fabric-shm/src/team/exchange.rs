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
        let pieces = Pieces { bytes: each, each: self.piece_bytes(1, 1) };
        self.run(
            host,
            pieces.call(mark),
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                if !send.is_null() {
                    // SAFETY: the piece is within the block. Now, not all at once before: it is read again at once.
                    unsafe { std::ptr::copy(send.add(start), own.add(start), bytes) };
                }
                // SAFETY: as above.
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
        // Nobody reads its own block from a board, so none has room there.
        let parts = (size - 1).max(1);
        let place = |of: usize, on: usize| if of > on { of - 1 } else { of };
        let pieces = Pieces { bytes: each, each: self.piece_bytes(parts, 1) };
        // SAFETY: our caller's promise.
        unsafe { std::ptr::copy(send.add(me * each), receive.add(me * each), each) };
        self.run(
            host,
            pieces.call(mark),
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the pieces are within the blocks.
                team.put(number, parts * bytes, |to| unsafe {
                    for member in (0..size).filter(|&member| member != me) {
                        let to = to.add(place(member, me) * bytes);
                        copy(send.add(member * each + start), to, bytes);
                    }
                });
                team.arrive(host, number);
            },
            |team, host, number, piece| {
                let (start, bytes) = pieces.get(piece);
                team.each_part(host, number, parts * bytes, |member, from| {
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe {
                        let from = from.add(place(me, member) * bytes);
                        copy(from, receive.add(member * each + start), bytes);
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
