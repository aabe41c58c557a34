//! Collectives by cross-memory attach: members publish the addresses of their memory, and the others read or write the
//! data there through the kernel.
//!
//! A call is one step whose parts are the addresses. A member that no longer touches another member's memory counts
//! itself on that one's board. Nobody leaves the call before all who touch its memory have counted themselves.

mod blocks;
mod combine;

use super::agreement::Awaited;
use super::{Call, CompiledCaller, Result, Team};
use crate::board::SLOTS;
use crate::primitive::{note_read, note_write};

/// The published addresses of a member: of its data, and of its room for data.
#[repr(C)]
#[derive(Clone, Copy)]
struct Addresses {
    from: usize,
    to: usize,
}

/// The members that publish addresses in a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publisher {
    Root(usize),
    All,
}

impl Team {
    /// Makes one step in which some members publish `addresses` and `act` reads and writes the members' memory.
    /// `touching` other members touch this rank's memory.
    fn step_by_cma<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        (publisher, addresses): (Publisher, Addresses),
        touching: usize,
        act: &mut dyn FnMut(&mut Team, &mut C, u32) -> Result<()>,
    ) -> Result<()> {
        let publishes = publisher == Publisher::All || publisher == Publisher::Root(self.me);
        self.run_with_work(
            caller,
            &call,
            |team, caller, epoch, _| {
                if publishes {
                    team.put(epoch, size_of::<Addresses>(), |to| {
                        note_write(to, size_of::<Addresses>());
                        // SAFETY: a short part has room for two addresses.
                        unsafe { to.cast::<Addresses>().write_unaligned(addresses) };
                    });
                }
                match publisher {
                    Publisher::All => team.arrive(caller, epoch),
                    Publisher::Root(_) if publishes => team.wake_readers(caller),
                    Publisher::Root(_) => {}
                }
            },
            |team, caller, epoch, _| {
                if publisher == Publisher::All {
                    team.wait_for_arrivals(caller, epoch)?;
                    if !caller.waits() {
                        // `act` runs once and never stops early.
                        team.wait_for_all(caller, epoch)?;
                    }
                }
                act(team, caller, epoch)
            },
            |team, caller, epoch, _| {
                // Members that learnt of a failure from others detect it here, too.
                team.wait_for(caller, epoch, Awaited::Nobody, |team| {
                    let done = &team.board(team.me).counters[epoch as usize % SLOTS].done;
                    touching == 0 || done.is(epoch, touching as u32)
                })
            },
        )
    }

    /// Returns the addresses that a member publishes in this step.
    fn addresses_of<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        member: usize,
        epoch: u32,
    ) -> Result<Addresses> {
        let part = self.part(caller, member, epoch, size_of::<Addresses>())?;
        note_read(part, size_of::<Addresses>());
        // SAFETY: a member that publishes something in such a step has put whole `Addresses`. Call ids and lengths were
        // compared, so the member is in this very step.
        Ok(unsafe { part.cast::<Addresses>().read_unaligned() })
    }

    /// Declares that this rank no longer touches a member's memory.
    fn count_done<C: CompiledCaller>(&self, caller: &mut C, member: usize, epoch: u32) {
        self.board(member).counters[epoch as usize % SLOTS].done.count(epoch);
        if self.oversubscribed {
            caller.rings().segment().seat().wake_if_asleep(self.members[member]);
        }
    }

    /// Copies from a member's memory.
    ///
    /// # Safety
    /// `to` has room; the member has published the address of the bytes.
    unsafe fn read<C: CompiledCaller>(
        &self,
        caller: &mut C,
        member: usize,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let (messages, rings) = caller.parts();
        // SAFETY: the caller promises the same.
        unsafe { Ok(rings.read_from(messages, (self.members[member], from), to, bytes)?) }
    }

    /// Copies to a member's memory.
    ///
    /// # Safety
    /// `from` holds the bytes; the member has published a place for them that nobody else touches.
    unsafe fn write<C: CompiledCaller>(
        &self,
        caller: &mut C,
        member: usize,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let (messages, rings) = caller.parts();
        // SAFETY: the caller promises the same.
        unsafe { Ok(rings.write_to(messages, (self.members[member], to), from, bytes)?) }
    }
}
