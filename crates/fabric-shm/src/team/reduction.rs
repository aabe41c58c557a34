//! Reduce and allreduce over boards.

use std::cell::RefCell;

use collectives::plan::{Owners, Plan, Transport};
use contract::{Apply, Combine};

use super::combining::chunk_bytes;
use super::copies::copy;
use super::{Call, CompiledCaller, Memory, Result, Team, any};

impl Team {
    /// Combines `send` of all members into `receive` of the root.
    ///
    /// # Safety
    /// `send` holds the call's bytes and `receive` has room for them at the root. They are the same memory or
    /// do not overlap.
    pub(crate) unsafe fn reduce<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same.
        unsafe { self.reduce_to::<C, false>(caller, call, root, memory, combine) }
    }

    /// Combines `send` of all members into `receive` of all members.
    ///
    /// # Safety
    /// As for `reduce`, with `receive` at all members.
    pub(crate) unsafe fn allreduce<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same.
        unsafe { self.reduce_to::<C, true>(caller, call, 0, memory, combine) }
    }

    /// Combines `send` of all members into `receive` of all, or of the root alone. Compiled separately for each, so
    /// that the root costs an allreduce nothing.
    ///
    /// # Safety
    /// As for `reduce` and `allreduce`.
    #[inline(always)]
    unsafe fn reduce_to<C: CompiledCaller, const TO_ALL: bool>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        // SAFETY: the caller promises the same for each of these functions.
        unsafe {
            match (call.plan.transport, call.plan.owners) {
                (Transport::Memory, _) => {
                    let root = if TO_ALL { None } else { Some(root) };
                    self.combine_by_cma(&mut any(caller), call, root, memory, combine)
                }
                (_, Owners::Members | Owners::Processors) => {
                    self.combine_shares(&mut any(caller), call, memory, combine)
                }
                _ => self.combine_pieces::<C, TO_ALL>(caller, call, root, memory, combine),
            }
        }
    }

    /// As `reduce_to`, if receivers combine everything themselves, members claim chunks, or the last of groups combine.
    ///
    /// # Safety
    /// As for `reduce_to`.
    #[inline(always)]
    unsafe fn combine_pieces<C: CompiledCaller, const TO_ALL: bool>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: Memory,
        combine: Combine<'_>,
    ) -> Result<()> {
        let reduction = PiecewiseReduction::<TO_ALL> {
            plan: call.plan,
            memory,
            receives: TO_ALL || root == self.me,
            chunk_bytes: chunk_bytes(&combine),
        };
        let apply = RefCell::new(combine.apply);
        self.run_with_work(
            caller,
            &call,
            // SAFETY: the caller promises the memory.
            |team, caller, epoch, piece| unsafe {
                reduction.put(team, caller, epoch, piece, &mut **apply.borrow_mut());
            },
            // SAFETY: as above.
            |team, caller, epoch, piece| unsafe {
                reduction.work(team, caller, epoch, piece, &mut **apply.borrow_mut())
            },
            // SAFETY: as above.
            |team, caller, epoch, piece| unsafe { reduction.take(team, caller, epoch, piece) },
        )
    }
}

/// A reduction in pieces, from the view of one member.
struct PiecewiseReduction<const TO_ALL: bool> {
    plan: Plan,
    memory: Memory,
    /// True if this rank gets the result.
    receives: bool,
    chunk_bytes: usize,
}

impl<const TO_ALL: bool> PiecewiseReduction<TO_ALL> {
    /// Puts this rank's piece.
    ///
    /// # Safety
    /// As for [`Team::reduce_to`]; likewise below.
    #[inline(always)]
    unsafe fn put<C: CompiledCaller>(
        &self,
        team: &Team,
        caller: &mut C,
        epoch: u32,
        piece: usize,
        apply: &mut Apply<'_>,
    ) {
        let (Memory { send, receive }, (start, bytes)) = (self.memory, self.plan.pieces.get(piece));
        let owners = self.plan.owners_of(bytes);
        // A root that combines everything itself reads its own part in place.
        let is_alone = !TO_ALL && self.receives && owners == Owners::Receivers;
        let stays = is_alone && send != receive.cast_const();
        team.put(epoch, bytes, |to| {
            if !stays {
                // SAFETY: the piece is within what the caller promised, and has room in a slot.
                unsafe { copy(send.add(start), to, bytes) };
            }
        });
        match owners {
            Owners::Groups => team.arrive_and_combine(caller, epoch, bytes, apply),
            _ => team.arrive(caller, epoch),
        }
    }

    /// Combines this rank's share of a piece.
    #[inline(always)]
    unsafe fn work<C: CompiledCaller>(
        &self,
        team: &mut Team,
        caller: &mut C,
        epoch: u32,
        piece: usize,
        apply: &mut Apply<'_>,
    ) -> Result<()> {
        let (start, bytes) = self.plan.pieces.get(piece);
        let owners = self.plan.owners_of(bytes);
        if owners == Owners::Groups {
            return Ok(());
        }
        if self.receives {
            team.wait_for_all(caller, epoch)?;
        }
        let in_chunks = owners == Owners::Chunks;
        if self.receives && !in_chunks {
            let own = team.own_part(epoch, bytes, self.memory, start);
            let places = (own, self.memory.receive.wrapping_add(start));
            team.combine_all::<TO_ALL>(epoch, bytes, self.chunk_bytes, places, apply);
        }
        // The others help if nobody must be waited for.
        if in_chunks && (self.receives || team.all_are_there(epoch)) {
            team.combine_chunks(caller, epoch, bytes, self.chunk_bytes, apply);
        }
        Ok(())
    }

    /// Copies the result of a piece, if others have combined it.
    #[inline(always)]
    unsafe fn take<C: CompiledCaller>(
        &self,
        team: &mut Team,
        caller: &mut C,
        epoch: u32,
        piece: usize,
    ) -> Result<()> {
        let (start, bytes) = self.plan.pieces.get(piece);
        let to = self.memory.receive.wrapping_add(start);
        match self.plan.owners_of(bytes) {
            Owners::Chunks if self.receives => {
                team.take_combined(caller, epoch, bytes, self.chunk_bytes, to)?;
            }
            Owners::Groups if self.receives => team.take_released(caller, epoch, bytes, to)?,
            _ => {}
        }
        if TO_ALL {
            team.swap_places(epoch);
        }
        Ok(())
    }
}
