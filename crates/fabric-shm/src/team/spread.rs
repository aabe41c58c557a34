//! Barrier, broadcast, scatter and gather.

use contract::Result;

use super::direct::Blocks;
use super::{Call, Host, Pieces, Team, copy};
use crate::board::SHORT_BYTES;

/// What the root of a gather copies of its own block before it looks again whether others' parts have come.
const OWN_BYTES: usize = 16 << 10;

/// What is left of the root's own block in a gather: it is copied while there is nothing else to do, so that the others need not
/// wait for it.
struct OwnBlock {
    from: *const u8,
    to: *mut u8,
    left: usize,
}

impl OwnBlock {
    /// Copies some more of it.
    ///
    /// # Safety
    /// Both places hold the bytes that are left.
    unsafe fn copy_some(&mut self) {
        let bytes = self.left.min(OWN_BYTES);
        // SAFETY: our caller's promise.
        unsafe { std::ptr::copy(self.from, self.to, bytes) };
        self.from = self.from.wrapping_add(bytes);
        self.to = self.to.wrapping_add(bytes);
        self.left -= bytes;
    }
}

impl Team {
    /// Waits until all members have come here.
    pub(crate) fn barrier<H: Host>(&mut self, host: &mut H, call_id: u32) -> Result<()> {
        self.run(
            host,
            Call { call_id, bytes: 0, pieces: 1, window: 1, direct: false },
            |team, host, epoch, _| {
                team.put(epoch, 0, |_| {});
                team.arrive(host, epoch);
            },
            |team, host, epoch, _| team.wait_for_all(host, epoch),
        )
    }

    /// Copies `bytes` bytes of the root's to every other member's.
    ///
    /// # Safety
    /// `memory` holds `bytes` bytes, to read at the root and to write elsewhere.
    pub(crate) unsafe fn broadcast<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: usize,
        memory: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Together, bytes) {
            // SAFETY: our caller's promise.
            return unsafe { self.broadcast_directly(host, call_id, root, memory, bytes) };
        }
        let pieces = Pieces::new(bytes, self.broadcast_piece_bytes(bytes));
        let is_root = self.me == root;
        // A root that goes on as one waits for nobody now either: the others take several broadcasts at once, for fewer switches (64 KiB
        // to eight ranks on two processors, one after the other: 36 us each, and 5.8 so).
        self.owes_turn &= !is_root;
        let outcome = self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                if is_root {
                    let (start, bytes) = pieces.get(piece);
                    // SAFETY: the piece is within what our caller promised.
                    team.put(epoch, bytes, |to| unsafe {
                        copy(memory.add(start), to, bytes);
                    });
                    team.announce(host);
                }
            },
            |team, host, epoch, piece| {
                if !is_root {
                    let (start, bytes) = pieces.get(piece);
                    let from = team.part(host, root, epoch, bytes)?;
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { copy(from, memory.add(start), bytes) };
                }
                Ok(())
            },
        );
        self.owes_turn = is_root && self.shares_processors;
        outcome
    }

    /// Gives block r of `send` at the root to member r, as its `receive`; `each` bytes.
    ///
    /// # Safety
    /// `receive` has room for a block, and `send` holds one for each member at the root, where `receive` may be null: then
    /// the root's own block stays where it is.
    pub(crate) unsafe fn scatter<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Apart, each) {
            // SAFETY: our caller's promise.
            return unsafe { self.scatter_directly(host, call_id, root, send, receive, each) };
        }
        if self.deals(each) {
            // SAFETY: our caller's promise.
            return unsafe { self.scatter_by_dealing(host, call_id, root, send, receive, each) };
        }
        let (me, size, is_root) = (self.me, self.size(), self.me == root);
        // Parts that fit one line together lie in the root's; else each lies on its member's board, where a whole piece fits.
        let together = size * each <= SHORT_BYTES;
        let pieces = Pieces::new(each, self.piece_bytes(1, 1));
        let place = |team: &Team, member: usize, epoch: u32, bytes: usize| match together {
            true => team.place(root, epoch, size * bytes).wrapping_add(member * bytes),
            false => team.place(member, epoch, bytes),
        };
        if is_root && !receive.is_null() {
            // SAFETY: our caller's promise.
            unsafe { std::ptr::copy(send.add(me * each), receive, each) };
        }
        let outcome = self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                if is_root {
                    let (start, bytes) = pieces.get(piece);
                    for member in (0..size).filter(|&member| member != me) {
                        let to = place(team, member, epoch, bytes);
                        // SAFETY: the pieces are within the blocks that our caller promised. All have ended the step that
                        // used this slot before, and in this one nobody but the root writes to any board.
                        unsafe { copy(send.add(member * each + start), to, bytes) };
                    }
                    team.put(epoch, bytes, |_| {});
                    team.announce(host);
                }
            },
            |team, host, epoch, piece| {
                if !is_root {
                    let (start, bytes) = pieces.get(piece);
                    team.wait_for_part(host, root, epoch)?;
                    let from = place(team, me, epoch, bytes);
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { copy(from, receive.add(start), bytes) };
                }
                Ok(())
            },
        );
        self.owes_turn = is_root && self.shares_processors;
        outcome
    }

    /// Puts `send` of member r into block r of the root's `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block, and `receive` has room for one of each member at the root, where `send` may be null: then the
    /// root's own block is in its place.
    pub(crate) unsafe fn gather<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        if self.is_direct(host, Blocks::Together, each) {
            // SAFETY: our caller's promise.
            return unsafe { self.gather_directly(host, call_id, root, send, receive, each) };
        }
        let (me, size, is_root) = (self.me, self.size(), self.me == root);
        let pieces = Pieces::new(each, self.gathered_bytes());
        let mut own = OwnBlock {
            from: send,
            to: receive.wrapping_add(me * each),
            left: if is_root && !send.is_null() { each } else { 0 },
        };
        let outcome = self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                if !is_root {
                    let (start, bytes) = pieces.get(piece);
                    // SAFETY: the piece is within what our caller promised.
                    team.put(epoch, bytes, |to| unsafe {
                        copy(send.add(start), to, bytes);
                    });
                }
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                if !is_root {
                    return Ok(());
                }
                let (start, bytes) = pieces.get(piece);
                while own.left > 0 && !team.others_are_there(epoch) {
                    // SAFETY: our caller's promise.
                    unsafe { own.copy_some() };
                }
                team.wait_for_arrivals(host, epoch)?;
                for distance in 1..size {
                    let member = (me + distance) % size;
                    let from = team.part(host, member, epoch, bytes)?;
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { copy(from, receive.add(member * each + start), bytes) };
                }
                Ok(())
            },
        );
        while own.left > 0 {
            // SAFETY: our caller's promise.
            unsafe { own.copy_some() };
        }
        outcome
    }

    /// Wakes those who sleep until a part that this rank has put is there.
    #[inline]
    fn announce<H: Host>(&self, host: &mut H) {
        if self.shares_processors {
            self.wake_others(host);
        }
    }
}
