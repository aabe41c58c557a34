//! Broadcast over boards.

use super::copies::{copy, take};
use super::{Call, CompiledCaller, Result, Team, any};

impl Team {
    /// Copies the root's bytes to the memory of every other member.
    ///
    /// # Safety
    /// `memory` holds the call's bytes, readable at the root and writable at the other members.
    pub(crate) unsafe fn broadcast<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: *mut u8,
    ) -> Result<()> {
        if call.plan.goes_by_memory() {
            // SAFETY: the caller promises the same.
            return unsafe { self.broadcast_by_cma(&mut any(caller), call, root, memory) };
        }
        let pieces = call.plan.pieces;
        let (is_root, is_only_reader) = (self.me == root, self.size() == 2);
        // A root that broadcasts again does not wait here either: the others take several broadcasts at once, with
        // fewer switches. See docs/measurements.md#ranks-that-share-processors.
        self.must_yield &= !is_root;
        let outcome = self.run(
            caller,
            &call,
            |team, caller, epoch, piece| {
                if is_root {
                    let (start, bytes) = pieces.get(piece);
                    // SAFETY: the piece is within what the caller promised.
                    team.put(epoch, bytes, |to| unsafe {
                        copy(memory.add(start), to, bytes);
                    });
                    team.wake_readers(caller);
                }
            },
            |team, caller, epoch, piece| {
                if !is_root {
                    let (start, bytes) = pieces.get(piece);
                    let from = team.part(caller, root, epoch, bytes)?;
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe {
                        match is_only_reader {
                            true => take(from, memory.add(start), bytes),
                            false => copy(from, memory.add(start), bytes),
                        }
                    }
                }
                Ok(())
            },
        );
        self.must_yield = is_root && self.oversubscribed;
        outcome
    }
}
