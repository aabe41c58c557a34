//! All-to-all over boards.

use collectives::plan::Pieces;

use super::{Call, Host, Memory, Result, Team, any};

/// An all-to-all, as one member makes it.
struct AllToAll {
    memory: Memory,
    each: usize,
    pieces: Pieces,
    /// How many blocks a board has room for. Nobody reads its own block from a board, so none is put there.
    parts: usize,
    own_last: bool,
}

impl Team {
    /// Gives block r of `send` of member s to member r, as block s of its `receive`, a block long as the call says.
    ///
    /// # Safety
    /// `send` holds a block for each member and `receive` has room for one of each. They are the same memory
    /// or do not overlap.
    pub(crate) unsafe fn all_to_all<H: Host>(
        &mut self,
        host: &mut H,
        call: Call,
        memory: Memory,
    ) -> Result<()> {
        if call.plan.goes_by_memory() {
            // SAFETY: the caller promises the same.
            return unsafe { self.all_to_all_by_cma(&mut any(host), call, memory) };
        }
        let exchange = AllToAll {
            memory,
            each: call.plan.pieces.bytes,
            pieces: call.plan.pieces,
            parts: (self.size() - 1).max(1),
            own_last: !call.plan.own_block_first,
        };
        self.run(
            host,
            &call,
            // SAFETY: the caller promises the memory.
            |team, host, epoch, piece| unsafe { exchange.put_window(team, host, epoch, piece) },
            // SAFETY: as above.
            |team, host, epoch, piece| unsafe { exchange.take_window(team, host, epoch, piece) },
        )
    }
}

impl AllToAll {
    /// Which of the blocks on a member's board is another member's.
    #[inline]
    fn index(of: usize, on: usize) -> usize {
        if of > on { of - 1 } else { of }
    }

    /// Copies a part of this rank's own block.
    ///
    /// # Safety
    /// As for [`Team::all_to_all`]; the bytes are within the block.
    #[inline]
    unsafe fn copy_own(&self, me: usize, start: usize, bytes: usize) {
        let Memory { send, receive } = self.memory;
        let start = me * self.each + start;
        // SAFETY: the caller promises it.
        unsafe { std::ptr::copy(send.add(start), receive.add(start), bytes) };
    }

    /// Puts the blocks of a window, in its last step: by then all its slots are this rank's.
    ///
    /// # Safety
    /// As for [`Team::all_to_all`].
    #[inline]
    unsafe fn put_window<H: Host>(&self, team: &Team, host: &mut H, epoch: u32, piece: usize) {
        let Some((first, window)) = self.pieces.ended_window(epoch, piece) else { return };
        let (start, bytes) = self.pieces.get_all(&window);
        if !self.own_last {
            // SAFETY: the bytes are within the block.
            unsafe { self.copy_own(team.me, start, bytes) };
        }
        let span = team.span(team.me, first, self.parts * bytes);
        for member in (0..team.size()).filter(|&member| member != team.me) {
            // SAFETY: the bytes are within the blocks, and the span has room for so many of each other member.
            unsafe {
                let from = self.memory.send.add(member * self.each + start);
                span.put(AllToAll::index(member, team.me) * bytes, from, bytes);
            }
        }
        team.publish_window(first, window.len());
        team.arrive(host, epoch);
        if self.own_last {
            // SAFETY: as above.
            unsafe { self.copy_own(team.me, start, bytes) };
        }
    }

    /// Takes the blocks of a window, in its first step, once all have put its last.
    ///
    /// # Safety
    /// As for [`Team::all_to_all`].
    #[inline]
    unsafe fn take_window<H: Host>(
        &self,
        team: &mut Team,
        host: &mut H,
        epoch: u32,
        piece: usize,
    ) -> Result<()> {
        let Some((last, window)) = self.pieces.begun_window(epoch, piece) else { return Ok(()) };
        let (start, bytes) = self.pieces.get_all(&window);
        if !host.waits() {
            // Otherwise what was taken would be taken again.
            team.wait_for_all(host, last)?;
        }
        let are_there = team.wait_for_arrivals(host, last)?;
        for member in team.others() {
            if !are_there {
                team.wait_for_part(host, member, last)?;
            }
            let span = team.span(member, epoch, self.parts * bytes);
            // SAFETY: the bytes are within the blocks; the parts stay until these steps have ended.
            unsafe {
                let to = self.memory.receive.add(member * self.each + start);
                span.take(AllToAll::index(team.me, member) * bytes, to, bytes);
            }
        }
        team.ended_by_all = team.before_window;
        for step in 0..window.len() as u32 {
            team.swap_places(epoch.wrapping_add(step));
        }
        Ok(())
    }
}
