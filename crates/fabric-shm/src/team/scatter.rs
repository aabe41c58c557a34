//! Scatter over boards, a piece of every block in each step.

use collectives::plan::Transport;

use super::copies::{copy, take};
use super::{Call, CompiledCaller, Memory, Result, Team, any};
use crate::board::SHORT_BYTES;

impl Team {
    /// Copies block r of the root's `send` to member r's `receive`. A block has the length of the call.
    ///
    /// # Safety
    /// `receive` has room for a block. At the root `send` holds a block for each member, and `receive` may be null,
    /// which means that the root's own block stays in place.
    pub(crate) unsafe fn scatter<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: Memory,
    ) -> Result<()> {
        if call.plan.transport != Transport::Boards {
            // SAFETY: the caller promises the same.
            return unsafe { self.scatter_long(&mut any(caller), call, root, memory) };
        }
        let (me, size, is_root) = (self.me, self.size(), self.me == root);
        let Memory { send, receive } = memory;
        let (pieces, each) = (call.plan.pieces, call.plan.pieces.bytes);
        // Blocks that together fit one line lie in the root's, other blocks on their members' boards.
        let together = size * each <= SHORT_BYTES;
        let place = |team: &Team, member: usize, epoch: u32, bytes: usize| match together {
            true => team.place(root, epoch, size * bytes).wrapping_add(member * bytes),
            false => team.place(member, epoch, bytes),
        };
        if is_root && !receive.is_null() && self.is_beginning(caller) {
            // SAFETY: the caller promised both.
            unsafe { std::ptr::copy(send.add(me * each), receive, each) };
        }
        let outcome = self.run(
            caller,
            &call,
            |team, caller, epoch, piece| {
                if is_root {
                    let (start, bytes) = pieces.get(piece);
                    for member in (0..size).filter(|&member| member != me) {
                        let to = place(team, member, epoch, bytes);
                        // SAFETY: the pieces are within the blocks that the caller promised. All members have ended the
                        // slot's last step, and in this one only the root writes to any board.
                        unsafe { copy(send.add(member * each + start), to, bytes) };
                    }
                    team.put(epoch, bytes, |_| {});
                    team.wake_readers(caller);
                }
            },
            |team, caller, epoch, piece| {
                if !is_root {
                    let (start, bytes) = pieces.get(piece);
                    team.wait_for_part(caller, root, epoch)?;
                    let from = place(team, me, epoch, bytes);
                    // SAFETY: as above; the part stays until this step has ended.
                    unsafe { take(from, receive.add(start), bytes) };
                }
                Ok(())
            },
        );
        self.must_yield = is_root && self.oversubscribed;
        outcome
    }

    /// As `scatter`, for long blocks.
    ///
    /// # Safety
    /// As for `scatter`.
    unsafe fn scatter_long<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: Memory,
    ) -> Result<()> {
        // SAFETY: the caller promises the same for each of these functions.
        unsafe {
            match call.plan.goes_by_memory() {
                true => self.scatter_by_cma(caller, call, root, memory),
                false => self.scatter_board_by_board(caller, call, root, memory),
            }
        }
    }
}
