//! All-to-all over boards.

use contract::Result;

use super::cma::Blocks;
use super::pieces::{Pieces, WINDOW};
use super::{Host, Memory, Team};
use crate::ring::LINE_BYTES;

/// A rank's own block is copied before the others' up to this length. See docs/measurements.md#a-ranks-own-block.
const OWN_FIRST_BYTES: usize = 512;

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
    /// Gives block r of `send` of member s to member r, as block s of its `receive`; `each` bytes.
    ///
    /// # Safety
    /// `send` holds a block for each member and `receive` has room for one of each. They are the same memory
    /// or do not overlap.
    pub(crate) unsafe fn all_to_all<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        memory: Memory,
        each: usize,
    ) -> Result<()> {
        if self.blocks_go_by_cma(host, Blocks::Separate, each) {
            // SAFETY: the caller promises the same.
            return unsafe { self.all_to_all_by_cma(host, call_id, memory, each) };
        }
        let parts = (self.size() - 1).max(1);
        let exchange = AllToAll {
            memory,
            each,
            pieces: Pieces::new(each, self.all_to_all_piece_bytes(parts, each)),
            parts,
            // Last where the other member has a processor, for it need not wait for that. First where ranks
            // are oversubscribed, and for short blocks.
            own_last: !self.oversubscribed && each > OWN_FIRST_BYTES,
        };
        self.run(
            host,
            exchange.pieces.call(call_id),
            // SAFETY: the caller promises the memory.
            |team, host, epoch, piece| unsafe { exchange.put_window(team, host, epoch, piece) },
            // SAFETY: as above.
            |team, host, epoch, piece| unsafe { exchange.take_window(team, host, epoch, piece) },
        )
    }

    /// How much of each block goes in one step. The blocks of a window lie one after the other in all its
    /// slots, so its steps only say how many those are. Windows are as long as one another.
    fn all_to_all_piece_bytes(&self, parts: usize, each: usize) -> usize {
        let most = self.exchange_piece_bytes(parts);
        if each <= WINDOW * most {
            return most;
        }
        let windows = each.div_ceil(WINDOW * most);
        each.div_ceil(windows * WINDOW).next_multiple_of(LINE_BYTES).min(most)
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
        team.wait_for_arrivals(host, last)?;
        for member in team.others() {
            team.wait_for_part(host, member, last)?;
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
