//! What the collectives over boards ask of a rank.

use std::sync::Arc;

use contract::{Error, Result};

use super::SimulatedRank;
use crate::machine::Board;
use crate::world::{Mark, Turn};

impl SimulatedRank<'_> {
    /// The machine's boards, where a collective of `bytes` bytes goes over them.
    pub(super) fn board(&self, bytes: usize) -> Option<Arc<Board>> {
        let world = self.world.borrow();
        let board = world.machine.board.as_ref()?;
        let own = (2..=board.ranks_max).contains(&self.size) && !world.shares_processors();
        (own && bytes as u64 <= board.bytes_max).then(|| Arc::clone(board))
    }

    /// The next step of a collective over boards, once this rank's place is free.
    pub(crate) fn begin_step(&self, mark: Mark) -> Result<u64> {
        loop {
            if let Some(step) = self.world.borrow_mut().begin_step(self.rank, mark)? {
                return Ok(step);
            }
            self.yielder.suspend(());
        }
    }

    pub(crate) fn put_part(&self, step: u64, data: &[u8]) {
        self.world.borrow_mut().put_part(self.rank, step, data);
    }

    /// Waits until this rank sees another's part of a step; its length.
    pub(crate) fn see_part(&self, of: usize, step: u64) -> Result<usize> {
        loop {
            let turn = self.world.borrow_mut().see_part(self.rank, of, step)?;
            if turn == Turn::GoOn {
                break;
            }
            self.yielder.suspend(());
        }
        let world = self.world.borrow();
        world.seen_part(of, step).map(<[u8]>::len).ok_or(Error::UnknownRequest)
    }

    /// Whether this rank sees another's part of a step by now.
    pub(crate) fn sees_part(&self, of: usize, step: u64) -> bool {
        self.world.borrow().sees_part(of, step)
    }

    /// Hands a part that this rank has seen to `use_it`.
    pub(crate) fn with_part(&self, of: usize, step: u64, use_it: impl FnOnce(&[u8])) {
        if let Some(data) = self.world.borrow().seen_part(of, step) {
            use_it(data);
        }
    }

    pub(crate) fn end_step(&self, step: u64) {
        self.world.borrow_mut().end_step(self.rank, step);
    }
}
