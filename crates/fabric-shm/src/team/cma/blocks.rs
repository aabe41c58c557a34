//! Broadcast, scatter, gather, allgather and all-to-all by cross-memory attach.

use collectives::plan::Transport;
use contract::Result;

use super::{Addresses, Publisher};
use crate::team::{Call, Host, Memory, Team};

impl Team {
    /// As [`Team::broadcast`]. Of two members each copies a half.
    ///
    /// # Safety
    /// As there.
    pub(in crate::team) unsafe fn broadcast_by_cma<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        root: usize,
        memory: *mut u8,
    ) -> Result<()> {
        let bytes = call.plan.pieces.bytes;
        let (is_root, address) = (self.me == root, memory as usize);
        let addresses = Addresses { from: address, to: address };
        if call.plan.transport == Transport::MemoryInHalves {
            let (other, half) = (1 - self.me, bytes / 2);
            return self.step_by_cma(
                host,
                call,
                (Publisher::All, addresses),
                1,
                |team, host, epoch| {
                    let theirs = team.addresses_of(host, other, epoch)?;
                    // SAFETY: both have published `bytes` bytes; the root writes the second half, the other
                    // reads the first.
                    unsafe {
                        match is_root {
                            true => team.write(
                                host,
                                other,
                                theirs.to + half,
                                memory.add(half),
                                bytes - half,
                            )?,
                            false => team.read(host, other, theirs.from, memory, half)?,
                        }
                    }
                    team.count_done(host, other, epoch);
                    Ok(())
                },
            );
        }
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_by_cma(
            host,
            call,
            (Publisher::Root(root), addresses),
            touching,
            |team, host, epoch| {
                if !is_root {
                    let theirs = team.addresses_of(host, root, epoch)?;
                    // SAFETY: the root has published `bytes` bytes, and the caller has promised room for
                    // them.
                    unsafe { team.read(host, root, theirs.from, memory, bytes)? };
                    team.count_done(host, root, epoch);
                }
                Ok(())
            },
        )
    }

    /// As [`Team::scatter`].
    ///
    /// # Safety
    /// As there.
    pub(in crate::team) unsafe fn scatter_by_cma<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        root: usize,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        let (me, is_root) = (self.me, self.me == root);
        let addresses = Addresses { from: send as usize, to: 0 };
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_by_cma(
            host,
            call,
            (Publisher::Root(root), addresses),
            touching,
            |team, host, epoch| {
                if is_root {
                    if !receive.is_null() {
                        // SAFETY: the caller promised both.
                        unsafe { std::ptr::copy(send.add(me * each), receive, each) };
                    }
                    return Ok(());
                }
                let theirs = team.addresses_of(host, root, epoch)?;
                // SAFETY: the root has published a block for each member, and the caller has promised room
                // for one.
                unsafe { team.read(host, root, theirs.from + me * each, receive, each)? };
                team.count_done(host, root, epoch);
                Ok(())
            },
        )
    }

    /// As [`Team::gather`]. The members write their blocks themselves.
    ///
    /// # Safety
    /// As there.
    pub(in crate::team) unsafe fn gather_by_cma<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        root: usize,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        let (me, is_root) = (self.me, self.me == root);
        let addresses = Addresses { from: 0, to: receive as usize };
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_by_cma(host, call, (Publisher::All, addresses), touching, |team, host, epoch| {
            if is_root {
                // They publish nothing of use, but they have to be in the same call, which nobody else
                // would check.
                if !send.is_null() {
                    // SAFETY: the caller promised both.
                    unsafe { std::ptr::copy(send, receive.add(me * each), each) };
                }
                for member in team.others() {
                    team.addresses_of(host, member, epoch)?;
                }
                return Ok(());
            }
            let theirs = team.addresses_of(host, root, epoch)?;
            // SAFETY: the root has published room for a block of each member, of which this one is ours.
            unsafe { team.write(host, root, theirs.to + me * each, send, each)? };
            team.count_done(host, root, epoch);
            Ok(())
        })
    }

    /// As [`Team::allgather`].
    ///
    /// # Safety
    /// As there.
    pub(in crate::team) unsafe fn allgather_by_cma<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        // SAFETY: the caller promised room for a block of each member.
        let own = unsafe { receive.add(self.me * each) };
        let from = if send.is_null() { own.cast_const() } else { send };
        let addresses = Addresses { from: from as usize, to: 0 };
        let touching = self.size() - 1;
        self.step_by_cma(host, call, (Publisher::All, addresses), touching, |team, host, epoch| {
            // SAFETY: each has published its block, and the caller has promised room for one of each.
            unsafe { team.read_blocks(host, epoch, 0, receive, each)? };
            if !send.is_null() {
                // SAFETY: as above.
                unsafe { std::ptr::copy(send, own, each) };
            }
            Ok(())
        })
    }

    /// Copies a block from each other member, from `offset` in what it publishes, and counts there that this
    /// rank touches it no more.
    ///
    /// # Safety
    /// All have published a block there, and `receive` has room for one of each member.
    unsafe fn read_blocks<H: Host>(
        &mut self,
        host: &mut H,
        epoch: u32,
        offset: usize,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        for member in self.others() {
            let theirs = self.addresses_of(host, member, epoch)?;
            // SAFETY: the caller promises the same.
            unsafe {
                let to = receive.add(member * each);
                self.read(host, member, theirs.from + offset, to, each)?;
            }
            self.count_done(host, member, epoch);
        }
        Ok(())
    }

    /// As [`Team::all_to_all`], where `send` and `receive` are apart or this rank publishes a copy.
    ///
    /// # Safety
    /// As there.
    pub(in crate::team) unsafe fn all_to_all_by_cma<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        Memory { send, receive }: Memory,
    ) -> Result<()> {
        let each = call.plan.pieces.bytes;
        let (me, size) = (self.me, self.size());
        // What the others have yet to read must not be overwritten.
        let copy = (send == receive.cast_const()).then(|| {
            // SAFETY: the caller promised a block for each member.
            unsafe { std::slice::from_raw_parts(send, size * each) }.to_vec()
        });
        let from = copy.as_ref().map_or(send, |copy| copy.as_ptr());
        let addresses = Addresses { from: from as usize, to: 0 };
        self.step_by_cma(host, call, (Publisher::All, addresses), size - 1, |team, host, epoch| {
            // SAFETY: each has published a block for every member, and the caller has promised room for
            // one of each.
            unsafe { team.read_blocks(host, epoch, me * each, receive, each)? };
            // SAFETY: as above.
            unsafe { std::ptr::copy(from.add(me * each), receive.add(me * each), each) };
            Ok(())
        })
    }
}
