//! All-to-all over boards.

use collectives::plan::Pieces;

use super::{Call, CompiledCaller, Memory, Result, Team, any};

/// An all-to-all from the view of one member.
struct AllToAll {
    memory: Memory,
    each: usize,
    pieces: Pieces,
    /// Number of blocks that fit a board. A member's own block is never read from a board, so it is not put there.
    parts: usize,
    own_last: bool,
}

impl Team {
    /// Copies block r of member s's `send` to block s of member r's `receive`. A block has the length of the call.
    ///
    /// # Safety
    /// `send` holds a block for each member and `receive` has room for a block of each member. They are the same memory
    /// or do not overlap.
    pub(crate) unsafe fn all_to_all<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        call: Call,
        memory: Memory,
    ) -> Result<()> {
        if call.plan.goes_by_memory() {
            // SAFETY: the caller promises the same.
            return unsafe { self.all_to_all_by_cma(&mut any(caller), call, memory) };
        }
        let exchange = AllToAll {
            memory,
            each: call.plan.pieces.bytes,
            pieces: call.plan.pieces,
            parts: (self.size() - 1).max(1),
            own_last: !call.plan.own_block_first,
        };
        self.run(
            caller,
            &call,
            // SAFETY: the caller promises the memory.
            |team, caller, epoch, piece| unsafe { exchange.put_window(team, caller, epoch, piece) },
            // SAFETY: as above.
            |team, caller, epoch, piece| unsafe {
                exchange.take_window(team, caller, epoch, piece)
            },
        )
    }
}

impl AllToAll {
    /// Returns the index of another member's block on a member's board.
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
        // SAFETY: the caller promises the memory.
        unsafe { std::ptr::copy(send.add(start), receive.add(start), bytes) };
    }

    /// Puts the blocks of a window, in its last step: by then this rank owns all its slots.
    ///
    /// # Safety
    /// As for [`Team::all_to_all`].
    #[inline]
    unsafe fn put_window<C: CompiledCaller>(
        &self,
        team: &Team,
        caller: &mut C,
        epoch: u32,
        piece: usize,
    ) {
        let Some((first, window)) = self.pieces.ended_window(epoch, piece) else { return };
        let (start, bytes) = self.pieces.get_all(&window);
        if !self.own_last {
            // SAFETY: the bytes are within the block.
            unsafe { self.copy_own(team.me, start, bytes) };
        }
        let span = team.span(team.me, first, self.parts * bytes);
        for member in (0..team.size()).filter(|&member| member != team.me) {
            // SAFETY: the bytes are within the blocks, and the span has room for as many of each other member.
            unsafe {
                let from = self.memory.send.add(member * self.each + start);
                span.put(AllToAll::index(member, team.me) * bytes, from, bytes);
            }
        }
        team.publish_window(first, window.len());
        team.arrive(caller, epoch);
        if self.own_last {
            // SAFETY: as above.
            unsafe { self.copy_own(team.me, start, bytes) };
        }
    }

    /// Copies the blocks of a window, in its first step, once all have put its last.
    ///
    /// # Safety
    /// As for [`Team::all_to_all`].
    #[inline]
    unsafe fn take_window<C: CompiledCaller>(
        &self,
        team: &mut Team,
        caller: &mut C,
        epoch: u32,
        piece: usize,
    ) -> Result<()> {
        let Some((last, window)) = self.pieces.begun_window(epoch, piece) else { return Ok(()) };
        let (start, bytes) = self.pieces.get_all(&window);
        if !caller.waits() {
            // A step that stops is made again, and would copy again what it has copied.
            team.wait_for_all(caller, last)?;
        }
        let are_there = team.wait_for_arrivals(caller, last)?;
        for member in team.others() {
            if !are_there {
                team.wait_for_part(caller, member, last)?;
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
