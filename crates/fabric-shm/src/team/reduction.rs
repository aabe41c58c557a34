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
        unsafe { self.reduce_to::<H, false>(host, call, root, memory, combine) }
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
        unsafe { self.reduce_to::<H, true>(host, call, 0, memory, combine) }
    }

    /// Combines `send` of all members into `receive` of all, or of the root alone. There is one of it for each:
    /// what depends on the root costs an allreduce nothing.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn reduce_to<H: Host, const TO_ALL: bool>(
        &mut self,
        host: &mut H,
        call: Call,
        root: usize,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same for whichever is called.
        unsafe {
            match (call.plan.transport, call.plan.owners) {
                (Transport::Memory, _) => {
                    let root = if TO_ALL { None } else { Some(root) };
                    self.combine_by_cma(host, call, root, memory, combine)
                }
                (_, Owners::Members | Owners::Processors) => {
                    self.combine_shares(host, call, memory, combine)
                }
                _ => self.combine_pieces::<H, TO_ALL>(host, call, root, memory, combine),
            }
        }
    }

    /// The same where receivers combine all for themselves, or members claim chunks.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn combine_pieces<H: Host, const TO_ALL: bool>(
        &mut self,
        host: &mut H,
        call: Call,
        root: usize,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        let Memory { send, receive } = memory;
        let (plan, pieces) = (call.plan, call.plan.pieces);
        let receives = TO_ALL || root == self.me;
        let in_chunks = |bytes| plan.owners_of(bytes) == Owners::Chunks;
        let (chunk_bytes, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        self.run_with_work(
            host,
            &call,
            |team, host, epoch, piece| {
                let (start, bytes) = pieces.get(piece);
                // A root that combines all by itself reads its own part where it is.
                let is_alone = !TO_ALL && receives && !in_chunks(bytes);
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
                if receives {
                    team.wait_for_all(host, epoch)?;
                }
                let apply = &mut **apply.borrow_mut();
                if receives && !in_chunks(bytes) {
                    let own = team.own_part(epoch, bytes, memory, start);
                    let places = (own, receive.wrapping_add(start));
                    team.combine_all::<TO_ALL>(epoch, bytes, chunk_bytes, places, apply);
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
                    let to = receive.wrapping_add(start);
                    team.take_combined(host, epoch, bytes, chunk_bytes, to)?;
                }
                if TO_ALL {
                    team.swap_places(epoch);
                }
                Ok(())
            },
        )
    }
}
