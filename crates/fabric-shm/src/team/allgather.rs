//! Allgather over boards.

use contract::Result;

use super::cma::Blocks;
use super::pieces::{Pieces, copy};
use super::{Host, Memory, Team};

impl Team {
    /// Puts `send` of member r into block r of every member's `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block apart from `receive`, or is null: then this rank's block is in its place.
    /// `receive` has room for a block of each member.
    pub(crate) unsafe fn allgather<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        memory: Memory,
        each: usize,
    ) -> Result<()> {
        if self.blocks_go_by_cma(host, Blocks::Common, each) {
            // SAFETY: the caller promises the same.
            return unsafe { self.allgather_by_cma(host, call_id, memory, each) };
        }
        let Memory { send, receive } = memory;
        // SAFETY: the caller promised room for a block of each member.
        let own = unsafe { receive.add(self.me * each) };
        let from = if send.is_null() { own } else { send };
        let pieces = Pieces::new(each, self.exchange_piece_bytes(1));
        self.run(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the piece is within the block.
                team.put(epoch, bytes, |to| unsafe { copy(from.add(start), to, bytes) });
                team.arrive(host, epoch);
                if !send.is_null() {
                    // SAFETY: as above. The own block is copied now, when the others need not wait for it and
                    // while it is in the cache. See docs/measurements.md#a-ranks-own-block.
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
}
