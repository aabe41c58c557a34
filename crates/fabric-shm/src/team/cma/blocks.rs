//! Broadcast, scatter, gather, allgather and all-to-all by cross-memory attach.

use collectives::plan::Transport;

use super::{Addresses, Publisher};
use crate::team::{Call, CompiledCaller, Memory, Result, Stop, Team};

impl Team {
    /// As [`Team::broadcast`]. With two members each copies one half.
    ///
    /// # Safety
    /// As for [`Team::broadcast`].
    pub(in crate::team) unsafe fn broadcast_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        memory: *mut u8,
    ) -> Result<()> {
        let bytes = call.plan.pieces.bytes;
        let (is_root, address) = (self.me == root, memory as usize);
        let addresses = Addresses { from: address, to: address };
        if call.plan.transport == Transport::MemoryInHalves {
            let (other, half) = (1 - self.me, bytes / 2);
            let publisher = (Publisher::All, addresses);
            return self.step_by_cma(caller, call, publisher, 1, &mut |team, caller, epoch| {
                let theirs = team.addresses_of(caller, other, epoch)?;
                // SAFETY: both have published `bytes` bytes; the root writes the second half, the other reads
                // the first.
                unsafe {
                    if is_root {
                        let (to, from) = (theirs.to + half, memory.add(half));
                        team.write(caller, other, to, from, bytes - half)?;
                    } else {
                        team.read(caller, other, theirs.from, memory, half)?;
                    }
                }
                team.count_done(caller, other, epoch);
                Ok(())
            });
        }
        // SAFETY: the caller promises the bytes at the root, and room for them at the others.
        unsafe { self.read_from_root(caller, call, (root, memory), (0, memory), || ()) }
    }

    /// As [`Team::scatter`].
    ///
    /// # Safety
    /// As for [`Team::scatter`].
    pub(in crate::team) unsafe fn scatter_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        let block = self.me * each;
        let copy_own = || {
            if !receive.is_null() {
                // SAFETY: the caller promised both.
                unsafe { std::ptr::copy(send.add(block), receive, each) };
            }
        };
        // SAFETY: the caller promises a block for each member at the root, and room for one at each.
        unsafe { self.read_from_root(caller, call, (root, send), (block, receive), copy_own) }
    }

    /// Copies to each member but the root a part of the root's memory, which is at `memory` there: the call's bytes
    /// from `offset` on, to `to`. Meanwhile the root runs `copy_own`.
    ///
    /// # Safety
    /// The root's memory holds them, and `to` has room for them at the other members.
    unsafe fn read_from_root<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        (root, memory): (usize, *const u8),
        (offset, to): (usize, *mut u8),
        copy_own: impl Fn(),
    ) -> Result<()> {
        let is_root = self.me == root;
        let touching = if is_root { self.size() - 1 } else { 0 };
        let addresses = Addresses { from: memory as usize, to: 0 };
        let publisher = (Publisher::Root(root), addresses);
        self.step_by_cma(caller, call, publisher, touching, &mut |team, caller, epoch| {
            if is_root {
                copy_own();
                return Ok(());
            }
            let from = team.addresses_of(caller, root, epoch)?.from + offset;
            // SAFETY: the caller promises it; the root has published the address of its memory.
            unsafe { team.read(caller, root, from, to, call.plan.pieces.bytes)? };
            team.count_done(caller, root, epoch);
            Ok(())
        })
    }

    /// As [`Team::gather`]. The members write their blocks themselves.
    ///
    /// # Safety
    /// As for [`Team::gather`].
    pub(in crate::team) unsafe fn gather_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        root: usize,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        let (me, is_root) = (self.me, self.me == root);
        let addresses = Addresses { from: 0, to: receive as usize };
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_by_cma(
            caller,
            call,
            (Publisher::All, addresses),
            touching,
            &mut |team, caller, epoch| {
                if is_root {
                    // They publish nothing useful, but they must be in the same call, which nothing else would check.
                    if !send.is_null() {
                        // SAFETY: the caller promised both.
                        unsafe { std::ptr::copy(send, receive.add(me * each), each) };
                    }
                    for member in team.others() {
                        team.addresses_of(caller, member, epoch)?;
                    }
                    return Ok(());
                }
                let theirs = team.addresses_of(caller, root, epoch)?;
                // SAFETY: the root has published room for a block of each member, of which this one belongs to this
                // rank.
                unsafe { team.write(caller, root, theirs.to + me * each, send, each)? };
                team.count_done(caller, root, epoch);
                Ok(())
            },
        )
    }

    /// As [`Team::allgather`].
    ///
    /// # Safety
    /// As for [`Team::allgather`].
    pub(in crate::team) unsafe fn allgather_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        // SAFETY: the caller promised room for a block of each member.
        let own = unsafe { receive.add(self.me * each) };
        let from = if send.is_null() { own.cast_const() } else { send };
        let copy_own = || {
            if !send.is_null() {
                // SAFETY: the caller promised both.
                unsafe { std::ptr::copy(send, own, each) };
            }
        };
        // SAFETY: the caller promises a block at each member, and room for one of each.
        unsafe { self.read_from_all(caller, call, (from, 0), receive, copy_own) }
    }

    /// Copies a block from each other member's memory, which is at `from` at this one, from `offset` on. Then copies
    /// this rank's own, while others may still read it.
    ///
    /// # Safety
    /// All members have a block there until this returns, and `receive` has room for a block of each member.
    unsafe fn read_from_all<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        (from, offset): (*const u8, usize),
        receive: *mut u8,
        copy_own: impl Fn(),
    ) -> Result<()> {
        let (each, touching) = (call.plan.pieces.bytes, self.size() - 1);
        let addresses = Addresses { from: from as usize, to: 0 };
        let publisher = (Publisher::All, addresses);
        self.step_by_cma(caller, call, publisher, touching, &mut |team, caller, epoch| {
            for member in team.others() {
                let from = team.addresses_of(caller, member, epoch)?.from + offset;
                // SAFETY: the caller promises the same.
                unsafe { team.read(caller, member, from, receive.add(member * each), each)? };
                team.count_done(caller, member, epoch);
            }
            copy_own();
            Ok(())
        })
    }

    /// As [`Team::all_to_all`]. If `send` and `receive` are the same memory, this rank publishes a copy.
    ///
    /// # Safety
    /// As for [`Team::all_to_all`].
    pub(in crate::team) unsafe fn all_to_all_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        let (me, size) = (self.me, self.size());
        // Data that the others have yet to read must not be overwritten.
        let in_place = send == receive.cast_const();
        if in_place && self.is_beginning(caller) {
            // SAFETY: the caller promised a block for each member.
            let blocks = unsafe { std::slice::from_raw_parts(send, size * each) };
            self.scratch = blocks.to_vec();
        }
        let from = if in_place { self.scratch.as_ptr() } else { send };
        let own = me * each;
        // SAFETY: the caller promised a block for itself in both.
        let copy_own = || unsafe { std::ptr::copy(from.add(own), receive.add(own), each) };
        // SAFETY: the caller promises a block for every member at each, and room for one of each.
        let outcome = unsafe { self.read_from_all(caller, call, (from, own), receive, copy_own) };
        if in_place && !matches!(outcome, Err(Stop::Later)) {
            self.scratch = Vec::new();
        }
        outcome
    }
}
