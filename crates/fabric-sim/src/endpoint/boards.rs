//! The part of an endpoint that collectives over boards use.

use contract::{Error, Result};

use super::{Idle, SimEndpoint};
use crate::world::Next;

impl<'a> SimEndpoint<'a> {
    /// Returns the next step of a collective over boards, once this rank's place is free.
    pub(crate) fn begin_step(&mut self, idle: Idle<'_, 'a>) -> Result<u64> {
        let mut seen_events = None;
        loop {
            let step = self.world.borrow_mut().begin_step(self.rank)?;
            if let Some(step) = step {
                return Ok(step);
            }
            self.pause(&mut seen_events, idle);
        }
    }

    pub(crate) fn put_part(&self, step: u64, data: &[u8]) {
        self.world.borrow_mut().put_part(self.rank, step, data);
    }

    /// Waits until this rank sees another's part of a step, and returns its length.
    pub(crate) fn see_part(&mut self, of: usize, step: u64, idle: Idle<'_, 'a>) -> Result<usize> {
        let mut seen_events = None;
        loop {
            let next = self.world.borrow_mut().see_part(self.rank, of, step)?;
            if next == Next::Continue {
                break;
            }
            self.pause(&mut seen_events, idle);
        }
        let world = self.world.borrow();
        world.seen_part(of, step).map(<[u8]>::len).ok_or(Error::UnknownRequest)
    }

    /// Returns whether this rank sees another's part of a step by now.
    pub(crate) fn sees_part(&self, of: usize, step: u64) -> bool {
        self.world.borrow().sees_part(of, step)
    }

    /// Calls `use_it` with a part that this rank has seen.
    pub(crate) fn with_part(&self, of: usize, step: u64, use_it: impl FnOnce(&[u8])) {
        if let Some(data) = self.world.borrow().seen_part(of, step) {
            use_it(data);
        }
    }

    pub(crate) fn end_step(&self, step: u64) {
        self.world.borrow_mut().end_step(self.rank, step);
    }
}
