//! Reduce and allreduce over boards.

use std::cell::RefCell;

use collectives::plan::{Owners, Transport};
use contract::{Combine, Result};

use super::combining::chunk_bytes;
use super::copies::copy;
use super::{Call, Host, Memory, Team};

impl Team {
    /// Combines `send` of all members into `receive` of the root.
    ///
    /// # Safety
    /// `send` holds the call's bytes and `receive` has room for them at the root. They are the same memory or
    /// do not overlap.
    pub(crate) unsafe fn reduce<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        root: usize,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same.
        unsafe { self.reduce_to(host, call, Some(root), memory, combine) }
    }

    /// Combines `send` of all members into `receive` of all members.
    ///
    /// # Safety
    /// As for `reduce`, `receive` at all members.
    pub(crate) unsafe fn allreduce<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same.
        unsafe { self.reduce_to(host, call, None, memory, combine) }
    }

    /// Combines `send` of all members into `receive` of the root, or of all. It is forced into the callers:
    /// there it is known which.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn reduce_to<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        root: Option<usize>,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same for whichever is called.
        unsafe {
            match (call.plan.transport, call.plan.owners) {
                (Transport::Memory, _) => self.combine_by_cma(host, call, root, memory, combine),
                (_, Owners::Members | Owners::Processors) => {
                    self.combine_shares(host, call, memory, combine)
                }
                _ => self.combine_pieces(host, call, root, memory, combine),
            }
        }
    }

    /// The same where receivers combine all for themselves, or members claim chunks.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn combine_pieces<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        root: Option<usize>,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        let Memory { send, receive } = memory;
        let (plan, pieces) = (call.plan, call.plan.pieces);
        let receives = root.is_none_or(|root| root == self.me);
        let in_chunks = |bytes| plan.owners_of(bytes) == Owners::Chunks;
        let (chunk_bytes, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        self.run_with_work(
            host,
            &call,
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // A root that combines all by itself reads its own part where it is.
                let is_alone = root.is_some() && receives && !in_chunks(bytes);
                let stays = is_alone && send != receive.cast_const();
                team.put(epoch, bytes, |to| {
                    if !stays {
                        // SAFETY: the piece is within what the caller promised, and has room in a slot.
                        unsafe { copy(send.add(start), to, bytes) };
                    }
                });
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                let apply = &mut **apply.borrow_mut();
                if receives {
                    team.wait_for_all(host, epoch)?;
                    if !in_chunks(bytes) {
                        let own = team.own_part(epoch, bytes, memory, start);
                        // SAFETY: as above.
                        let to = unsafe { receive.add(start) };
                        team.combine_all(epoch, bytes, chunk_bytes, (own, to), apply);
                    }
                }
                // The others help if nobody has to be waited for.
                if in_chunks(bytes) && (receives || team.all_are_there(epoch)) {
                    team.combine_chunks(host, epoch, bytes, chunk_bytes, apply);
                }
                Ok(())
            },
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                if receives && in_chunks(bytes) {
                    // SAFETY: as above.
                    let to = unsafe { receive.add(start) };
                    team.take_combined(host, epoch, bytes, chunk_bytes, to)?;
                }
                if root.is_none() {
                    team.swap_places(epoch);
                }
                Ok(())
            },
        )
    }
}
