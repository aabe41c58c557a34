//! Long data without boards: members show where their memory lies, and who needs it reads or writes it there, through the
//! kernel.
//!
//! A call is one step. Whoever touches another's memory counts on that one's board when it is done with it; nobody leaves the
//! call before all have counted who touch its memory. The parts of a step are the addresses.

mod blocks;
mod combine;

use contract::Result;

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
        each >= from && self.size() > 1 && host.uses_cma()
    }

    /// Whether so many bytes are combined from memory to memory.
    #[inline]
    pub(super) fn is_combined_directly<H: Host>(&self, host: &mut H, bytes: usize) -> bool {
        let each = match self.shares_processors {
            true => SHARED_SHARE_FROM_BYTES,
            false => SHARE_FROM_BYTES,
        };
        bytes >= self.size() * each && self.size() > 1 && host.uses_cma()
    }

    /// One step in which some members show `shown` and `act` is done with the members' memory. `touching` others touch this
    /// rank's memory.
    fn step_directly<H: Host>(
        &mut self,
        host: &mut H,
        (call_id, bytes): (u32, usize),
        (showing, shown): (Showing, Shown),
        touching: usize,
        mut act: impl FnMut(&mut Team, &mut H, u32) -> Result<()>,
    ) -> Result<()> {
        let call = Call { call_id, bytes, pieces: 1, window: 1, direct: true };
        let shows = showing == Showing::All || showing == Showing::Root(self.me);
        self.run(
            host,
            call,
            |team, host, epoch, _| {
                if shows {
                    team.put(epoch, size_of::<Shown>(), |to| {
                        // SAFETY: a short part has room for two addresses.
                        unsafe { to.cast::<Shown>().write_unaligned(shown) };
                    });
                }
                match showing {
                    Showing::All => drop(team.arrive(host, epoch)),
                    Showing::Root(_) if shows && team.shares_processors => team.wake_others(host),
                    Showing::Root(_) => {}
                }
            },
            |team, host, epoch, _| {
                if showing == Showing::All {
                    team.wait_for_arrivals(host, epoch)?;
                }
                act(team, host, epoch)?;
                // Also the members that were told of a failure by others find out here.
                team.wait_for(host, epoch, Whom::Nobody, |team| {
                    let done = &team.board(team.me).counters[epoch as usize % SLOTS].done;
                    touching == 0 || done.is(epoch, touching as u32)
                })
            },
        )
    }

    /// What a member shows in this step.
    fn shown<H: Host>(&mut self, host: &mut H, member: usize, epoch: u32) -> Result<Shown> {
        let part = self.part(host, member, epoch, size_of::<Shown>())?;
        // SAFETY: whoever shows something in a direct step has put a whole `Shown`; marks and lengths were compared, so the
        // member is in this very step.
        Ok(unsafe { part.cast::<Shown>().read_unaligned() })
    }

    /// Says that this rank touches a member's memory no more.
    fn count_done<H: Host>(&self, host: &mut H, member: usize, epoch: u32) {
        self.board(member).counters[epoch as usize % SLOTS].done.count(epoch);
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
}
