//! Long data without boards: members show where their memory lies, and who needs it reads or writes it there, through the
//! kernel.
//!
//! A call is one step. Whoever touches another's memory counts on that one's board when it is done with it; nobody leaves the
//! call before all have counted who touch its memory. The parts of a step are the addresses.

use std::cell::RefCell;

use contract::Result;

use super::reduce::{Apply, Combine};
use super::{Call, Host, Team, Whom};
use crate::board::SLOTS;
use crate::wait;

/// From this length of a member's block on.
const BLOCK_FROM_BYTES: usize = 16 << 10;
/// The same where ranks share processors, for blocks of which each is for one rank only: two ranks' caches are one, and hold both
/// copies of a board's slots (scatter of four ranks on two processors of an Emerald Rapids: 4 us either way at 32 KiB, 7 from
/// memory to memory and 11 by boards at 64 KiB).
const SHARED_APART_FROM_BYTES: usize = 64 << 10;
/// And where several read one block, or all write to one rank (broadcast to eight: 44 us from memory to memory and 16 by boards at
/// 256 KiB, 102 and 122 at 512 KiB; gather: 94 and 47, 182 and 217).
const SHARED_TOGETHER_FROM_BYTES: usize = 512 << 10;
/// From this length of what is combined on, for each member (allreduce of two ranks on an Emerald Rapids: 1.12 times as long as by
/// boards with 32 KiB each, 0.93 with 64, 0.83 with 256).
const SHARE_FROM_BYTES: usize = 64 << 10;
/// The same where ranks share processors (allreduce of four: 122 us from memory to memory and 112 by boards with 256 KiB in all, 233
/// and 415 with 512).
const SHARED_SHARE_FROM_BYTES: usize = 128 << 10;
/// What is combined at once: both operands stay in the second cache.
const CHUNK_BYTES: usize = 64 << 10;

/// What a member shows: what it gives, and where it wants to get something.
#[repr(C)]
#[derive(Clone, Copy)]
struct Shown {
    from: usize,
    to: usize,
}

/// Whom the blocks of a collective are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// Each is for one rank, and every rank gets one of each: scatter, all-to-all.
    Apart,
    /// Several ranks read one, or one rank gets all: broadcast, allgather, gather.
    Together,
}

/// Who shows something in a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Showing {
    Root(usize),
    All,
}

impl Team {
    /// Whether blocks of that length go from memory to memory.
    #[inline]
    pub(super) fn is_direct<H: Host>(&self, host: &mut H, blocks: Blocks, each: usize) -> bool {
        let from = match (self.shares_processors, blocks) {
            (false, _) => BLOCK_FROM_BYTES,
            (true, Blocks::Apart) => SHARED_APART_FROM_BYTES,
            (true, Blocks::Together) => SHARED_TOGETHER_FROM_BYTES,
        };
        each >= from && self.size() > 1 && host.attaches()
    }

    /// Whether so many bytes are combined from memory to memory.
    #[inline]
    pub(super) fn is_combined_directly<H: Host>(&self, host: &mut H, bytes: usize) -> bool {
        let each = match self.shares_processors {
            true => SHARED_SHARE_FROM_BYTES,
            false => SHARE_FROM_BYTES,
        };
        bytes >= self.size() * each && self.size() > 1 && host.attaches()
    }

    /// One step in which some members show `shown` and `act` is done with the members' memory. `touching` others touch this
    /// rank's memory.
    fn step_directly<H: Host>(
        &mut self,
        host: &mut H,
        (mark, bytes): (u32, usize),
        (showing, shown): (Showing, Shown),
        touching: usize,
        mut act: impl FnMut(&mut Team, &mut H, u32) -> Result<()>,
    ) -> Result<()> {
        let call = Call { mark, bytes, pieces: 1, direct: true };
        let shows = showing == Showing::All || showing == Showing::Root(self.me);
        self.run(
            host,
            call,
            |team, host, number, _| {
                if shows {
                    team.put(number, size_of::<Shown>(), |to| {
                        // SAFETY: a short part has room for two addresses.
                        unsafe { to.cast::<Shown>().write_unaligned(shown) };
                    });
                }
                match showing {
                    Showing::All => drop(team.arrive(host, number)),
                    Showing::Root(_) if shows && team.shares_processors => team.wake_others(host),
                    Showing::Root(_) => {}
                }
            },
            |team, host, number, _| {
                if showing == Showing::All {
                    team.wait_for_arrivals(host, number)?;
                }
                act(team, host, number)?;
                // Also the members that were told of a failure by others find out here.
                team.wait_for(host, number, Whom::Nobody, |team| {
                    let done = &team.board(team.me).works[number as usize % SLOTS].done;
                    touching == 0 || done.is(number, touching as u32)
                })
            },
        )
    }

    /// What a member shows in this step.
    fn shown<H: Host>(&mut self, host: &mut H, member: usize, number: u32) -> Result<Shown> {
        let part = self.part(host, member, number, size_of::<Shown>())?;
        // SAFETY: whoever shows something in a direct step has put a whole `Shown`; marks and lengths were compared, so the
        // member is in this very step.
        Ok(unsafe { part.cast::<Shown>().read_unaligned() })
    }

    /// Says that this rank touches a member's memory no more.
    fn count_done<H: Host>(&self, host: &mut H, member: usize, number: u32) {
        self.board(member).works[number as usize % SLOTS].done.count(number);
        if self.shares_processors {
            wait::wake_if_asleep(host.engine().segment().block(self.members[member]).sleep_word());
        }
    }

    /// Copies from a member's memory.
    ///
    /// # Safety
    /// `to` has room; the member has shown where the bytes lie.
    unsafe fn read<H: Host>(
        &self,
        host: &mut H,
        member: usize,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: our caller's promise.
        unsafe { host.engine().read_from(self.members[member], from, to, bytes) }
    }

    /// Copies to a member's memory.
    ///
    /// # Safety
    /// `from` holds the bytes; the member has shown a place for them that nobody else touches.
    unsafe fn write<H: Host>(
        &self,
        host: &mut H,
        member: usize,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: our caller's promise.
        unsafe { host.engine().write_to(self.members[member], to, from, bytes) }
    }

    /// As [`Team::broadcast`]. Of two members each copies a half.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn broadcast_directly<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        root: usize,
        memory: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let (is_root, address) = (self.me == root, memory as usize);
        let shown = Shown { from: address, to: address };
        if self.size() == 2 {
            let (other, half) = (1 - self.me, bytes / 2);
            return self.step_directly(
                host,
                (mark, bytes),
                (Showing::All, shown),
                1,
                |team, host, number| {
                    let theirs = team.shown(host, other, number)?;
                    // SAFETY: both have shown `bytes` bytes; the root writes the second half, the other reads the first.
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
                    team.count_done(host, other, number);
                    Ok(())
                },
            );
        }
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_directly(
            host,
            (mark, bytes),
            (Showing::Root(root), shown),
            touching,
            |team, host, number| {
                if !is_root {
                    let theirs = team.shown(host, root, number)?;
                    // SAFETY: the root has shown `bytes` bytes, and our caller has promised room for them.
                    unsafe { team.read(host, root, theirs.from, memory, bytes)? };
                    team.count_done(host, root, number);
                }
                Ok(())
            },
        )
    }

    /// As [`Team::scatter`].
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn scatter_directly<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let (me, is_root) = (self.me, self.me == root);
        let shown = Shown { from: send as usize, to: 0 };
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_directly(
            host,
            (mark, each),
            (Showing::Root(root), shown),
            touching,
            |team, host, number| {
                if is_root {
                    if !receive.is_null() {
                        // SAFETY: our caller's promise.
                        unsafe { std::ptr::copy(send.add(me * each), receive, each) };
                    }
                    return Ok(());
                }
                let theirs = team.shown(host, root, number)?;
                // SAFETY: the root has shown a block for each member, and our caller has promised room for one.
                unsafe { team.read(host, root, theirs.from + me * each, receive, each)? };
                team.count_done(host, root, number);
                Ok(())
            },
        )
    }

    /// As [`Team::gather`]. The members write their blocks themselves.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn gather_directly<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        root: usize,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let (me, is_root) = (self.me, self.me == root);
        let shown = Shown { from: 0, to: receive as usize };
        let touching = if is_root { self.size() - 1 } else { 0 };
        self.step_directly(
            host,
            (mark, each),
            (Showing::All, shown),
            touching,
            |team, host, number| {
                if is_root {
                    // They show nothing of use, but have to mean the same call, which nobody else would notice.
                    if !send.is_null() {
                        // SAFETY: our caller's promise.
                        unsafe { std::ptr::copy(send, receive.add(me * each), each) };
                    }
                    for member in team.others() {
                        team.shown(host, member, number)?;
                    }
                    return Ok(());
                }
                let theirs = team.shown(host, root, number)?;
                // SAFETY: the root has shown room for a block of each member, of which this one is ours.
                unsafe { team.write(host, root, theirs.to + me * each, send, each)? };
                team.count_done(host, root, number);
                Ok(())
            },
        )
    }

    /// As [`Team::allgather`].
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn allgather_directly<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        // SAFETY: our caller's promise.
        let own = unsafe { receive.add(self.me * each) };
        let from = if send.is_null() { own.cast_const() } else { send };
        let shown = Shown { from: from as usize, to: 0 };
        let touching = self.size() - 1;
        self.step_directly(
            host,
            (mark, each),
            (Showing::All, shown),
            touching,
            |team, host, number| {
                // SAFETY: each has shown its block, and our caller has promised room for one of each.
                unsafe { team.read_blocks(host, number, 0, receive, each)? };
                if !send.is_null() {
                    // SAFETY: as above.
                    unsafe { std::ptr::copy(send, own, each) };
                }
                Ok(())
            },
        )
    }

    /// Copies a block from each other member, from `offset` in what it shows, and says that it is no more touched.
    ///
    /// # Safety
    /// All have shown a block there, and `receive` has room for one of each member.
    unsafe fn read_blocks<H: Host>(
        &mut self,
        host: &mut H,
        number: u32,
        offset: usize,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        for member in self.others() {
            let theirs = self.shown(host, member, number)?;
            // SAFETY: our caller's promise.
            unsafe {
                let to = receive.add(member * each);
                self.read(host, member, theirs.from + offset, to, each)?;
            }
            self.count_done(host, member, number);
        }
        Ok(())
    }

    /// As [`Team::all_to_all`], where `send` and `receive` are apart or this rank shows a copy.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn all_to_all_directly<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        send: *const u8,
        receive: *mut u8,
        each: usize,
    ) -> Result<()> {
        let (me, size) = (self.me, self.size());
        // What the others have yet to read must not be written over.
        let copy = (send == receive.cast_const()).then(|| {
            // SAFETY: our caller's promise.
            unsafe { std::slice::from_raw_parts(send, size * each) }.to_vec()
        });
        let from = copy.as_ref().map_or(send, |copy| copy.as_ptr());
        let shown = Shown { from: from as usize, to: 0 };
        self.step_directly(
            host,
            (mark, each),
            (Showing::All, shown),
            size - 1,
            |team, host, number| {
                // SAFETY: each has shown a block for every member, and our caller has promised room for one of each.
                unsafe { team.read_blocks(host, number, me * each, receive, each)? };
                // SAFETY: as above.
                unsafe { std::ptr::copy(from.add(me * each), receive.add(me * each), each) };
                Ok(())
            },
        )
    }

    /// Combines `send` of all members into `receive` of the root, or of all. Each member combines a share of the elements, which
    /// it reads from the others and writes to whoever wants the result; nobody else touches that share of any member's memory.
    ///
    /// # Safety
    /// As for [`Team::reduce`] and [`Team::allreduce`].
    pub(super) unsafe fn combine_directly<H: Host>(
        &mut self,
        host: &mut H,
        mark: u32,
        root: Option<usize>,
        (send, receive): (*const u8, *mut u8),
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let (me, size) = (self.me, self.size());
        let elements = bytes / combine.element_bytes;
        let start_of = |member: usize| elements * member / size * combine.element_bytes;
        let each = CHUNK_BYTES / combine.element_bytes * combine.element_bytes;
        let share = start_of(me)..if me + 1 == size { bytes } else { start_of(me + 1) };
        let apply = RefCell::new(combine.apply);
        let shown = Shown { from: send as usize, to: receive as usize };
        self.step_directly(
            host,
            (mark, bytes),
            (Showing::All, shown),
            size - 1,
            |team, host, number| {
                let mut theirs = Vec::with_capacity(size);
                for member in 0..size {
                    theirs.push(if member == me {
                        shown
                    } else {
                        team.shown(host, member, number)?
                    });
                }
                let apply = &mut **apply.borrow_mut();
                for start in share.clone().step_by(each) {
                    let here = each.min(share.end - start);
                    // SAFETY: the chunk lies in our share of what all have shown.
                    unsafe {
                        team.combine_chunk(host, &theirs, start, here, apply)?;
                        team.deliver_chunk(host, root, &theirs, start, here)?;
                    }
                }
                for member in team.others() {
                    team.count_done(host, member, number);
                }
                Ok(())
            },
        )
    }

    /// Combines `bytes` bytes from `start` on of all members, from the last to the first, in this rank's scratch memory.
    ///
    /// # Safety
    /// All have shown so many.
    unsafe fn combine_chunk<H: Host>(
        &mut self,
        host: &mut H,
        theirs: &[Shown],
        start: usize,
        bytes: usize,
        apply: &mut Apply<'_>,
    ) -> Result<()> {
        self.scratch.resize(2 * CHUNK_BYTES, 0);
        let result = self.scratch.as_mut_ptr();
        let part = result.wrapping_add(CHUNK_BYTES);
        let last = self.size() - 1;
        for member in (0..=last).rev() {
            let place = theirs[member].from + start;
            let to = if member == last { result } else { part };
            // SAFETY: the scratch memory has two chunks; our own part is our caller's memory.
            unsafe {
                let left = match (member == self.me, member == last) {
                    (true, false) => place as *const u8,
                    (true, true) => {
                        std::ptr::copy_nonoverlapping(place as *const u8, to, bytes);
                        to.cast_const()
                    }
                    _ => {
                        self.read(host, member, place, to, bytes)?;
                        to.cast_const()
                    }
                };
                if member != last {
                    apply(left, result, result, bytes);
                }
            }
        }
        Ok(())
    }

    /// Writes the chunk that was combined to the root, or to all.
    ///
    /// # Safety
    /// Those have shown room for it.
    unsafe fn deliver_chunk<H: Host>(
        &self,
        host: &mut H,
        root: Option<usize>,
        theirs: &[Shown],
        start: usize,
        bytes: usize,
    ) -> Result<()> {
        let result = self.scratch.as_ptr();
        for member in (0..self.size()).filter(|&member| root.is_none_or(|root| root == member)) {
            let to = theirs[member].to + start;
            // SAFETY: our caller's promise; nobody else touches this share of the member's memory.
            unsafe {
                match member == self.me {
                    true => std::ptr::copy_nonoverlapping(result, to as *mut u8, bytes),
                    false => self.write(host, member, to, result, bytes)?,
                }
            }
        }
        Ok(())
    }
}
