//! Reduce over boards.

use std::cell::RefCell;

use contract::{Apply, Combine, Result};

use super::combining::chunk_bytes;
use super::pieces::{Pieces, copy};
use super::{Host, Memory, Team};

/// A reduction to one member, as each member makes it.
#[derive(Clone, Copy)]
struct Reduce {
    is_root: bool,
    memory: Memory,
    pieces: Pieces,
    chunk_bytes: usize,
}

impl Team {
    /// Combines `send` of all members into `receive` of the root.
    ///
    /// # Safety
    /// `send` holds `bytes` bytes and `receive` has room for them at the root. They are the same memory or do
    /// not overlap.
    pub(crate) unsafe fn reduce<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        root: usize,
        memory: Memory,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        // Of two members the one that is not the root would both read and write. Where ranks are
        // oversubscribed boards are faster too. See docs/measurements.md#collectives-from-memory-to-memory.
        if self.size() > 2 && !self.oversubscribed && self.combines_by_cma(host, bytes) {
            let root = Some(root);
            // SAFETY: the caller promises the same.
            return unsafe { self.combine_by_cma(host, call_id, root, memory, bytes, combine) };
        }
        let reduce = Reduce {
            is_root: self.me == root,
            memory,
            pieces: Pieces::new(bytes, self.piece_bytes(1, combine.element_bytes)),
            chunk_bytes: chunk_bytes(&combine),
        };
        let apply = RefCell::new(combine.apply);
        self.run_with_work(
            host,
            reduce.pieces.call(call_id),
            // SAFETY: the caller promises the memory; so below.
            |team, host, epoch, piece| unsafe { reduce.put(team, host, epoch, piece) },
            |team, host, epoch, piece| {
                // SAFETY: as above.
                unsafe { reduce.work(team, host, epoch, piece, &mut **apply.borrow_mut()) }
            },
            |team, host, epoch, piece| {
                let (start, bytes) = reduce.pieces.get(piece);
                if reduce.is_root && team.members_help_root(bytes) {
                    // SAFETY: as above.
                    let to = unsafe { memory.receive.add(start) };
                    team.take_combined(host, epoch, bytes, reduce.chunk_bytes, to)?;
                }
                Ok(())
            },
        )
    }

    /// Whether others help the root with a piece of that length. They do not where ranks are oversubscribed:
    /// a member that has given its part makes room for another, and a root that combines all by itself need
    /// not put its own part and copies no result. See docs/measurements.md#a-root-that-combines-alone.
    fn members_help_root(&self, bytes: usize) -> bool {
        !self.oversubscribed && self.combines_in_chunks(bytes)
    }
}

impl Reduce {
    /// Puts this member's part of a piece.
    ///
    /// # Safety
    /// As for [`Team::reduce`].
    #[inline]
    unsafe fn put<H: Host>(&self, team: &Team, host: &mut H, epoch: u32, piece: usize) {
        let (start, bytes) = self.pieces.get(piece);
        let Memory { send, receive } = self.memory;
        // A root that combines all by itself reads its own part where it is.
        let stays = self.is_root && !team.members_help_root(bytes) && send != receive.cast_const();
        team.put(epoch, bytes, |to| {
            if !stays {
                // SAFETY: the piece is within what the caller promised.
                unsafe { copy(send.add(start), to, bytes) };
            }
        });
        team.arrive(host, epoch);
    }

    /// Combines what is this member's to combine of a piece.
    ///
    /// # Safety
    /// As for [`Team::reduce`].
    #[inline]
    unsafe fn work<H: Host>(
        &self,
        team: &mut Team,
        host: &mut H,
        epoch: u32,
        piece: usize,
        apply: &mut Apply<'_>,
    ) -> Result<()> {
        let (start, bytes) = self.pieces.get(piece);
        let in_chunks = team.members_help_root(bytes);
        if self.is_root {
            team.wait_for_all(host, epoch)?;
            if !in_chunks {
                let own = team.own_part(epoch, bytes, self.memory, start);
                // SAFETY: the piece is within what the caller promised.
                let to = unsafe { self.memory.receive.add(start) };
                team.combine_all(epoch, bytes, self.chunk_bytes, (own, to), apply);
            }
        }
        // The others help if nobody has to be waited for.
        if in_chunks && (self.is_root || team.all_are_there(epoch)) {
            team.combine_chunks(host, epoch, bytes, self.chunk_bytes, apply);
        }
        Ok(())
    }
}
