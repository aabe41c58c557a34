//! The collectives that use shared memory itself instead of messages.
//!
//! A rank that waits in one goes on moving messages: another may need them to come here at all.

use contract::Result;

use super::Engine;
use super::blocking::FIRST_LOOKS;
use super::calls::{Collective, has_come, mismatch, signature};
use crate::primitive::spin_loop;
use crate::segment::{BROADCAST_SLOTS, SLOT_BYTES, Segment};
use crate::wait::{self, Patience, Pause};

/// Up to this many ranks each looks at every other's word; beyond, messages in log P steps are fewer lines.
const MOST_RANKS_BY_FLAGS: usize = 8;
/// Longer broadcasts go by messages: each rank copies them straight from its parent's memory.
pub(crate) const LONGEST_BROADCAST_BYTES: usize = 1 << 20;

/// Of all ranks, the pieces that each has broadcast so far.
pub(super) type Pieces = Vec<u32>;

impl Engine {
    /// Waits until all ranks have come here. False if messages do it better: nothing was done then, but the call counted.
    #[inline]
    pub(crate) fn barrier(&mut self) -> Result<bool> {
        self.check_alive()?;
        let (number, own) = self.enter_barrier();
        if !self.choices.every_rank_has_a_processor {
            self.barrier_by_count(own, number)?;
            return Ok(true);
        }
        if self.size() > MOST_RANKS_BY_FLAGS {
            return Ok(false);
        }
        for rank in 0..self.size() {
            self.wait_for(number, |segment| has_come(segment.block(rank).call().read().0, number))?;
            let (at, theirs) = self.segment.block(rank).call().read();
            if at == number && theirs != own {
                let error = mismatch(self.me, own, rank, theirs);
                return Err(self.fail(error));
            }
        }
        Ok(true)
    }

    fn barrier_by_count(&mut self, own: u32, number: u32) -> Result<()> {
        if !self.segment.header().barrier.arrive(self.size() as u32) {
            return self.wait_for(number, |segment| segment.header().barrier.is_released(number));
        }
        for rank in 0..self.size() {
            let (_, theirs) = self.segment.block(rank).call().read();
            if theirs != own {
                let error = mismatch(self.me, own, rank, theirs);
                return Err(self.fail(error));
            }
        }
        self.segment.header().barrier.release(number);
        self.wake_others();
        Ok(())
    }

    /// Broadcasts through the root's slots, piece by piece, so that the root and the others copy at the same time and the
    /// root need not wait for anybody.
    pub(crate) fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        self.check_alive()?;
        let own = signature(Collective::Broadcast, root, None, buffer.len());
        let number = self.enter(own);
        if self.size() == 1 {
            return Ok(());
        }
        // A broadcast of nothing is one empty piece: the lengths of all must still be seen to agree.
        let pieces = buffer.len().div_ceil(SLOT_BYTES).max(1);
        for index in 0..pieces {
            let end = buffer.len().min((index + 1) * SLOT_BYTES);
            let part = &mut buffer[index * SLOT_BYTES..end];
            self.pieces[root] = self.pieces[root].wrapping_add(1);
            let piece = self.pieces[root];
            if root == self.me {
                self.give_piece(own, number, piece, part)?;
            } else {
                self.take_piece(root, own, number, piece, part)?;
            }
        }
        Ok(())
    }

    fn give_piece(&mut self, own: u32, number: u32, piece: u32, part: &[u8]) -> Result<()> {
        let (me, readers) = (self.me, self.size() as u32 - 1);
        let slot = piece as usize % BROADCAST_SLOTS;
        self.wait_for(number, |segment| segment.broadcast_slot(me, slot).0.is_free())?;
        let (head, bytes) = self.segment.broadcast_slot(me, slot);
        // SAFETY: the slot holds SLOT_BYTES, and every rank is done with what was in it.
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), bytes, part.len()) };
        head.publish(piece, own, part.len(), readers);
        self.wake_others();
        Ok(())
    }

    fn take_piece(
        &mut self,
        root: usize,
        own: u32,
        number: u32,
        piece: u32,
        part: &mut [u8],
    ) -> Result<()> {
        let slot = piece as usize % BROADCAST_SLOTS;
        self.wait_for(number, |segment| segment.broadcast_slot(root, slot).0.holds(piece))?;
        let (head, bytes) = self.segment.broadcast_slot(root, slot);
        let (theirs, length) = head.contents();
        if theirs != own || length != part.len() {
            let error = mismatch(self.me, own, root, theirs);
            return Err(self.fail(error));
        }
        // SAFETY: the root has published `length` bytes there, and leaves them alone until all have said `copied`.
        unsafe { std::ptr::copy_nonoverlapping(bytes, part.as_mut_ptr(), length) };
        if head.copied() {
            self.wake(root);
        }
        Ok(())
    }

    /// Wakes the ranks that sleep.
    fn wake_others(&self) {
        if !self.choices.every_rank_has_a_processor {
            for rank in (0..self.size()).filter(|&rank| rank != self.me) {
                wait::wake_if_asleep(self.segment.block(rank).sleep_word());
            }
        }
    }

    /// Waits in collective `number` until `ready`.
    #[inline]
    fn wait_for(&mut self, number: u32, ready: impl Fn(&Segment) -> bool) -> Result<()> {
        let looks = if self.choices.every_rank_has_a_processor { FIRST_LOOKS } else { 1 };
        for _ in 0..looks {
            if ready(&self.segment) {
                return Ok(());
            }
            spin_loop();
        }
        self.wait_long_for(number, ready)
    }

    #[cold]
    fn wait_long_for(&mut self, number: u32, ready: impl Fn(&Segment) -> bool) -> Result<()> {
        let mut patience = Patience::new(self.choices.every_rank_has_a_processor);
        loop {
            self.progress(None);
            if ready(&self.segment) {
                return self.check_alive();
            }
            match patience.pause() {
                Pause::Again => {}
                Pause::AgainWithCare => self.check_collective(number, &ready)?,
                Pause::Sleep => {
                    wait::announce_sleep(self.segment.block(self.me).sleep_word());
                    self.progress(None);
                    let checked = self.check_collective(number, &ready);
                    let word = self.segment.block(self.me).sleep_word();
                    if checked.is_err() || ready(&self.segment) {
                        wait::stay_awake(word);
                        checked?;
                    } else {
                        wait::sleep(word);
                    }
                }
            }
        }
    }

    fn check_collective(&mut self, number: u32, ready: impl Fn(&Segment) -> bool) -> Result<()> {
        self.check_run(&[])?;
        if ready(&self.segment) { Ok(()) } else { self.check_all_come(number) }
    }
}
