//! Operations on every route to a member.

use std::ptr::NonNull;

use super::control::Control;
use super::network::Division;
use super::requests::Ticket;
use super::update::{Action, Stretch, Update, update_words};
use super::wire::Kind;
use super::words::Manner;
use super::{Reached, Window};
use endpoint::{Endpoint, Error, Readable, RemoteAddress, Result, Writable};

impl Window {
    /// Executes an update of a member's memory. The old bytes, as many as the stretches have, go to `fetched`. If a
    /// ticket is returned, they come with the answer instead. Without `fetched` no ticket is returned:
    /// [`under_way`](Window::under_way) shows when it is complete.
    ///
    /// The operand may be changed when this returns.
    ///
    /// # Errors
    /// [`Error::InvalidRank`], [`Error::OutOfWindow`], [`Error::UnequalCounts`] if the lengths of the operand or
    /// `fetched` do not fit the stretches, and errors that end the run.
    pub fn update<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        update: &Update<'_>,
        fetched: Option<&mut [u8]>,
    ) -> Result<Option<Ticket>> {
        let Update { action, stretches, operand } = *update;
        let mut all = 0;
        for stretch in stretches {
            self.check_range(target, stretch.offset, stretch.bytes)?;
            all += stretch.bytes as usize;
        }
        check_length("the operand", action.operand_bytes(all), operand.len())?;
        if let Some(fetched) = &fetched {
            check_length("the room for what is fetched", all, fetched.len())?;
        }
        let fetches = fetched.is_some();
        match self.division(target, update, fetches) {
            Division::WithoutNetwork => {
                self.update_without_network(endpoint, target, update, fetched)
            }
            Division::InNetwork(on_network) => {
                self.start(endpoint, target, on_network, (stretches, operand, fetches))
            }
            Division::Both(on_network) => {
                self.divide(endpoint, target, on_network, (update, fetches))
            }
        }
    }

    /// Executes an update, whose lengths were checked, without one-sided operations of the network.
    pub(super) fn update_without_network<E: Endpoint>(
        &mut self,
        endpoint: &mut E,
        target: usize,
        update: &Update<'_>,
        mut fetched: Option<&mut [u8]>,
    ) -> Result<Option<Ticket>> {
        let Update { action, stretches, mut operand } = *update;
        if self.is_reached_by_messages(target) {
            let answer = (fetched.as_ref().map(|room| room.len()), fetched.is_none());
            let kind = Kind::Update(action);
            let ticket = self.request(endpoint, target, kind, (stretches, operand), answer)?;
            return Ok(fetched.is_some().then_some(ticket));
        }
        let mut is_locked = false;
        let mut outcome = Ok(());
        for &stretch in stretches {
            let bytes = stretch.bytes as usize;
            let (here, rest) = operand.split_at(action.operand_bytes(bytes));
            operand = rest;
            let room = fetched.as_mut().map(|fetched| {
                let (room, rest) = std::mem::take(fetched).split_at_mut(bytes);
                *fetched = rest;
                room
            });
            let part = (stretch, here, room);
            outcome = self.update_stretch(endpoint, (target, action), part, &mut is_locked);
            if outcome.is_err() {
                break;
            }
        }
        if is_locked {
            self.updates_of(target).unlock_updates();
        }
        outcome.map(|()| None)
    }

    /// Returns the control block of a member that is not reached by messages.
    fn updates_of(&self, target: usize) -> &Control {
        let control = self.targets[target].control;
        // SAFETY: the block lasts as long as the window.
        unsafe { control.expect("a member without messages shares its block").as_ref() }
    }

    /// Acquires the lock for updates of a member, unless this process already holds it.
    fn lock_updates<E: Endpoint>(
        &self,
        endpoint: &mut E,
        target: usize,
        is_locked: &mut bool,
    ) -> Result<()> {
        if !std::mem::replace(is_locked, true) {
            let control = self.updates_of(target);
            let taken = control.lock_updates(self.me, || {
                endpoint.progress(None)?;
                self.check_holder(endpoint, || control.updating())
            });
            *is_locked = taken.is_ok();
            return taken;
        }
        Ok(())
    }

    fn update_stretch<E: Endpoint>(
        &self,
        endpoint: &mut E,
        (target, action): (usize, Action),
        (stretch, operand, mut fetched): (Stretch, &[u8], Option<&mut [u8]>),
        is_locked: &mut bool,
    ) -> Result<()> {
        let bytes = stretch.bytes as usize;
        if bytes == 0 {
            return Ok(());
        }
        let (at, is_shared) = match self.reach(endpoint, target, stretch.offset, stretch.bytes) {
            Reached::Here(at, is_shared) => (at, is_shared),
            Reached::Attached(address) => {
                if action.is_atomic() {
                    self.lock_updates(endpoint, target, is_locked)?;
                }
                let there = (self.targets[target].rank, address, bytes);
                return self.update_attached(endpoint, action, there, operand, fetched);
            }
            Reached::ByMessages => unreachable!("an operation by messages is requested as a whole"),
        };
        if is_shared && let Some(word_bytes) = action.word_bytes(&self.arithmetic, at) {
            let own = &self.targets[target].words;
            let manner = self.updates_of(target).words().manner(self.me, own, bytes);
            if manner == Manner::Locked {
                self.lock_updates(endpoint, target, is_locked)?;
            }
            if manner != Manner::Whole {
                let make = |operand: &[u8], target: &mut [u8]| {
                    action.make(&self.arithmetic, operand, target);
                };
                // SAFETY: `reach` returned as many bytes. All others update these words by atomics, or wait for the
                // lock.
                unsafe { update_words((at, bytes, word_bytes), operand, fetched, make) };
                return Ok(());
            }
        }
        if action.is_atomic() {
            self.lock_updates(endpoint, target, is_locked)?;
        }
        // SAFETY: `reach` returned as many bytes. No other member updates them, since this process holds the lock.
        // Programs keep puts and gets apart from updates; a program that does not gets any of the values.
        unsafe {
            if let Some(fetched) = &mut fetched {
                self.copy(at.as_ptr(), fetched.as_mut_ptr(), bytes);
            }
            match action {
                Action::Nothing => {}
                Action::Replace => self.copy(operand.as_ptr(), at.as_ptr(), bytes),
                _ => {
                    let target = NonNull::slice_from_raw_parts(at, bytes).as_mut();
                    action.make(&self.arithmetic, operand, target);
                }
            }
        }
        Ok(())
    }

    /// As `update_stretch`, for memory from and to which the fabric copies.
    fn update_attached<E: Endpoint>(
        &self,
        endpoint: &mut E,
        action: Action,
        (rank, address, bytes): (usize, u64, usize),
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) -> Result<()> {
        let there = RemoteAddress { rank, address };
        let Some(copies) = endpoint.host_memory().and_then(|memory| memory.copies) else {
            let (fabric, what) = ("this fabric".into(), "access another rank's memory".into());
            return Err(Error::Unsupported { fabric, what });
        };
        // SAFETY: the member has promised this memory to its window, and all lengths were checked. The memory of this
        // rank is borrowed until the call returns.
        unsafe {
            if action.is_atomic() {
                let mut target = vec![0; bytes];
                copies.read(there, Writable::new(target.as_mut_ptr(), bytes))?;
                if let Some(fetched) = fetched {
                    fetched.copy_from_slice(&target);
                }
                action.make(&self.arithmetic, operand, &mut target);
                return copies.write(there, Readable::new(target.as_ptr(), bytes));
            }
            if let Some(fetched) = fetched {
                copies.read(there, Writable::new(fetched.as_mut_ptr(), bytes))?;
            }
            match action {
                Action::Replace => copies.write(there, Readable::new(operand.as_ptr(), bytes)),
                _ => Ok(()),
            }
        }
    }
}

fn check_length(what: &str, expected_bytes: usize, found_bytes: usize) -> Result<()> {
    if expected_bytes == found_bytes {
        return Ok(());
    }
    Err(Error::UnequalCounts {
        collective: "an operation on a window".into(),
        what: what.into(),
        expected_bytes,
        found_bytes,
    })
}
