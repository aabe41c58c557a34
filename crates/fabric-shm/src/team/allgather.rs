//! Allgather over boards.

use super::copies::copy;
use super::{Call, CompiledCaller, Memory, Result, Team, any};

impl Team {
    /// Copies member r's `send` to block r of every member's `receive`. A block has the length of the call.
    ///
    /// # Safety
    /// `send` holds a block apart from `receive`, or is null, which means that this rank's block is in its place.
    /// `receive` has room for a block of each member.
    pub(crate) unsafe fn allgather<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        memory: Memory,
    ) -> Result<()> {
        if call.plan.goes_by_memory() {
            // SAFETY: the caller promises the same.
            return unsafe { self.allgather_by_cma(&mut any(caller), call, memory) };
        }
        let Memory { send, receive } = memory;
        let (pieces, each) = (call.plan.pieces, call.plan.pieces.bytes);
        // SAFETY: the caller promised room for a block of each member.
        let own = unsafe { receive.add(self.me * each) };
        let from = if send.is_null() { own } else { send };
        self.run(
            caller,
            &call,
            |team, caller, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the piece is within the block.
                team.put(epoch, bytes, |to| unsafe { copy(from.add(start), to, bytes) });
                team.arrive(caller, epoch);
                if !send.is_null() {
                    // SAFETY: as above. The own block is copied now, while the others need not wait for it and it is in
                    // the cache. See docs/measurements.md#fewer-and-faster-copies.
                    unsafe { copy(from.add(start), own.add(start), bytes) };
                }
            },
            |team, caller, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                team.each_part(caller, epoch, bytes, |member, from| {
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { copy(from, receive.add(member * each + start), bytes) };
                })?;
                team.swap_places(epoch);
                Ok(())
            },
        )
    }
}
