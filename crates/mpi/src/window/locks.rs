//! Locks of members, and flushes.

use std::cell::RefCell;

use contract::{Endpoint, LockAttempt};

use super::Window;
use super::epoch::{HeldLock, Promise};
use crate::engine::Polled;
use crate::error::Result;

/// The kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Others may have shared locks at the same time.
    Shared,
    /// No other member has a lock.
    Exclusive,
}

impl<E: Endpoint + 'static> Window<E> {
    /// Locks a member's memory, which begins an epoch. May wait for others to release their locks.
    ///
    /// # Errors
    /// [`RmaSync`](crate::ErrorClass::RmaSync) in another epoch or if it is already locked,
    /// [`Rank`](crate::ErrorClass::Rank), and errors that end the run.
    pub fn lock(&self, kind: Lock, rank: usize, promise: Promise) -> Result {
        self.communicator.context().member(rank)?;
        self.epochs.check_lock(rank)?;
        let held = HeldLock { exclusive: kind == Lock::Exclusive, taken: !promise.no_check };
        if held.taken {
            self.take_lock(rank, held.exclusive)?;
        }
        self.epochs.lock(rank, held);
        Ok(())
    }

    /// Releases the lock, after all operations on the member.
    ///
    /// # Errors
    /// [`RmaSync`](crate::ErrorClass::RmaSync) if it is not locked; errors of operations that are detected now; and
    /// errors that end the run.
    pub fn unlock(&self, rank: usize) -> Result {
        self.communicator.context().member(rank)?;
        let held = self.epochs.held(rank)?;
        let flushed = self.service.flush(Some(rank));
        self.epochs.unlock(rank);
        self.give_lock(rank, held)?;
        flushed
    }

    /// Acquires a shared lock of every member.
    ///
    /// # Errors
    /// As for [`lock`](Window::lock).
    pub fn lock_all(&self, promise: Promise) -> Result {
        self.epochs.check_lock_all()?;
        let held = HeldLock { exclusive: false, taken: !promise.no_check };
        if held.taken {
            (0..self.size()).try_for_each(|rank| self.take_lock(rank, false))?;
        }
        self.epochs.lock_all(held);
        Ok(())
    }

    /// Releases these locks, after all operations.
    ///
    /// # Errors
    /// As for [`unlock`](Window::unlock).
    pub fn unlock_all(&self) -> Result {
        self.epochs.check_unlock_all()?;
        let flushed = self.service.flush(None);
        if let Some(held) = self.epochs.unlock_all() {
            (0..self.size()).try_for_each(|rank| self.give_lock(rank, held))?;
        }
        flushed
    }

    fn take_lock(&self, rank: usize, exclusive: bool) -> Result {
        let attempt = RefCell::new(LockAttempt::new(rank, exclusive));
        let mut failed = Ok(false);
        let awaited = || self.service.window().awaited_lock(&attempt.borrow());
        let mut try_now = |endpoint: &mut E| {
            failed = self.service.window_mut().try_lock(endpoint, &mut attempt.borrow_mut());
            match failed {
                Ok(false) => awaited().map_or(Polled::Continues, Polled::Waits),
                _ => Polled::Ended,
            }
        };
        let grants_by_message = self.service.window().grants_by_message();
        if grants_by_message {
            let mut is_over = |endpoint: &mut E| matches!(try_now(endpoint), Polled::Ended);
            self.engine().wait_for(&mut is_over, &|waits| {
                let unsatisfiable = self.service.unsatisfiable_now(waits);
                // This rank waits for the lock, whatever the message is that grants it.
                if let (Some(reports), Some(lock)) = (waits.reports(), awaited()) {
                    reports.note_sole_awaited(lock);
                }
                unsatisfiable
            })?;
        } else {
            // Nobody sends a message when a lock is released, so this does not sleep. An attempt that lets others go first
            // succeeds after some polls without any message, so its polls prove no deadlock.
            self.engine().poll_until(&mut try_now)?;
        }
        failed.map(drop).map_err(Into::into)
    }

    /// Ends the access of a process that leaves the run without freeing the window: completes its operations and
    /// releases its locks. Nobody who needs them can wait for them otherwise: the process makes no other call.
    ///
    /// # Errors
    /// Errors of operations that are detected now, and errors that end the run.
    pub fn end_access(&self) -> Result {
        let flushed = self.service.flush(None);
        for (rank, held) in self.epochs.end_locks() {
            self.give_lock(rank, held)?;
        }
        self.service.flush(None)?;
        flushed
    }

    fn give_lock(&self, rank: usize, held: HeldLock) -> Result {
        if held.taken {
            let mut endpoint = self.engine().endpoint()?;
            self.service.window_mut().unlock(&mut *endpoint, rank, held.exclusive)?;
        }
        Ok(())
    }

    /// Waits until all operations on a member, or on all, are complete there.
    ///
    /// # Errors
    /// [`RmaSync`](crate::ErrorClass::RmaSync) without a lock; errors of operations that are detected now; and errors
    /// that end the run.
    #[inline]
    pub fn flush(&self, rank: Option<usize>) -> Result {
        if let Some(rank) = rank {
            self.communicator.context().member(rank)?;
        }
        self.epochs.check_passive(rank)?;
        // Release, partner of whatever acquire the program uses in the other members.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
        self.service.flush(rank)
    }

    /// Synchronises this process's and others' writes to this member's memory.
    pub fn sync(&self) {
        // Partner of the same call elsewhere, and of whatever else the program's processes use to wait for each other.
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        let _ = self.engine().progress();
    }
}
