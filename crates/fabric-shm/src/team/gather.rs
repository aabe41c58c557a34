//! Gather over boards.

use collectives::plan::THRESHOLDS;

use super::copies::{copy, take};
use super::{Call, CompiledCaller, Memory, Result, Team, any};

/// The remainder of the root's own block in a gather. The root copies it while it would otherwise be idle, so that the
/// others need not wait for it.
struct OwnBlock {
    from: *const u8,
    to: *mut u8,
    left: usize,
}

impl OwnBlock {
    /// Copies the next chunk.
    ///
    /// # Safety
    /// Both places hold the remaining bytes.
    unsafe fn copy_chunk(&mut self) {
        let bytes = self.left.min(THRESHOLDS.own_block_chunk_bytes);
        // SAFETY: the caller promised it.
        unsafe { std::ptr::copy(self.from, self.to, bytes) };
        self.from = self.from.wrapping_add(bytes);
        self.to = self.to.wrapping_add(bytes);
        self.left -= bytes;
    }

    /// Copies the remainder.
    ///
    /// # Safety
    /// As above.
    unsafe fn copy_all(&mut self) {
        while self.left > 0 {
            // SAFETY: the caller promised it.
            unsafe { self.copy_chunk() };
        }
    }
}

impl Team {
    /// Copies member r's `send` to block r of the root's `receive`. A block has the length of the call.
    ///
    /// # Safety
    /// `send` holds a block. At the root `receive` has room for a block of each member, and `send` may be null, which
    /// means that the root's own block is in its place.
    pub(crate) unsafe fn gather<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: Memory,
    ) -> Result<()> {
        if call.plan.goes_by_memory() {
            // SAFETY: the caller promises the same.
            return unsafe { self.gather_by_cma(&mut any(caller), call, root, memory) };
        }
        let (me, is_root) = (self.me, self.me == root);
        let Memory { send, receive } = memory;
        let (plan, pieces, each) = (call.plan, call.plan.pieces, call.plan.pieces.bytes);
        let is_copied = is_root && !send.is_null() && self.is_beginning(caller);
        let left = if is_copied { each } else { 0 };
        let mut own = OwnBlock { from: send, to: receive.wrapping_add(me * each), left };
        if !caller.waits() {
            // The root does not come back here before the others' parts are there.
            // SAFETY: the caller promised both blocks.
            unsafe { own.copy_all() };
        }
        let outcome = self.run(
            caller,
            &call,
            |team, caller, epoch, piece| {
                if !is_root {
                    let (start, bytes) = pieces.get(piece);
                    // SAFETY: the piece is within what the caller promised.
                    team.put(epoch, bytes, |to| unsafe {
                        copy(send.add(start), to, bytes);
                    });
                } else if plan.group_ranks.is_some() {
                    // The last member to arrive compares the calls of all members.
                    team.publish(epoch);
                }
                team.arrive(caller, epoch);
            },
            |team, caller, epoch, piece| {
                if !is_root {
                    return Ok(());
                }
                let (start, bytes) = pieces.get(piece);
                while own.left > 0 && !team.others_are_there(epoch) {
                    // SAFETY: the caller promised both blocks.
                    unsafe { own.copy_chunk() };
                }
                team.each_part(caller, epoch, bytes, |member, from| {
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { take(from, receive.add(member * each + start), bytes) };
                })
            },
        );
        // SAFETY: the caller promised both blocks.
        unsafe { own.copy_all() };
        outcome
    }
}
