//! Allreduce over boards.

use std::cell::RefCell;

use contract::{Combine, Result};

use super::combining::chunk_bytes;
use super::pieces::{Pieces, copy};
use super::{Host, Memory, Team};

impl Team {
    /// Combines `send` of all members into `receive` of all members.
    ///
    /// # Safety
    /// `send` holds `bytes` bytes and `receive` has room for them. They are the same memory or do not overlap.
    pub(crate) unsafe fn allreduce<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        memory: Memory,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same for whichever is called.
        unsafe {
            if self.combines_by_cma(host, bytes) {
                return self.combine_by_cma(host, call_id, None, memory, bytes, combine);
            }
            if self.combines_per_processor(bytes, combine.element_bytes) {
                return self.allreduce_per_processor(host, call_id, memory, bytes, combine);
            }
            if self.combines_halves(bytes) {
                return self.allreduce_in_halves(host, call_id, memory, bytes, combine);
            }
        }
        let Memory { send, receive } = memory;
        let pieces = Pieces::new(bytes, self.piece_bytes(1, combine.element_bytes));
        let (chunk_bytes, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        self.run_with_work(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // SAFETY: the piece is within what the caller promised, and has room in a slot.
                team.put(epoch, bytes, |to| unsafe { copy(send.add(start), to, bytes) });
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                team.wait_for_all(host, epoch)?;
                let apply = &mut **apply.borrow_mut();
                if team.combines_in_chunks(bytes) {
                    team.combine_chunks(host, epoch, bytes, chunk_bytes, apply);
                } else {
                    let own = team.own_part(epoch, bytes, memory, start);
                    // SAFETY: as above.
                    let to = unsafe { receive.add(start) };
                    team.combine_all(epoch, bytes, chunk_bytes, (own, to), apply);
                }
                Ok(())
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                if team.combines_in_chunks(bytes) {
                    // SAFETY: as above.
                    let to = unsafe { receive.add(start) };
                    team.take_combined(host, epoch, bytes, chunk_bytes, to)?;
                }
                team.swap_places(epoch);
                Ok(())
            },
        )
    }
}
