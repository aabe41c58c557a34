//! Epochs: the permitted order of synchronisation calls, and the times at which operations are permitted.

use std::cell::{Cell, RefCell};

use crate::error::{Error, ErrorClass, Result, ensure};

/// A program's assertions about a synchronisation call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    /// No check of the other side is needed: the locks are free, or the calls of `post` have been made.
    pub no_check: bool,
    /// No operation follows the fence before the next one.
    pub no_succeed: bool,
}

/// The state of this process's access to the others' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    None,
    /// Between fences.
    Fence,
    /// Between start and complete.
    Started,
    /// While this number of single locks is held.
    Locked(usize),
    LockedAll,
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldLock {
    pub(super) exclusive: bool,
    /// True if the lock was actually acquired.
    pub(super) taken: bool,
}

/// The epochs of one window.
pub(super) struct Epochs {
    access: Cell<Access>,
    /// True if any operation was made since the last fence.
    is_used: Cell<bool>,
    /// True for each member on which operations are permitted.
    open: Box<[Cell<bool>]>,
    /// The lock on each member.
    held: Box<[Cell<Option<HeldLock>>]>,
    /// The members of the current start.
    started: RefCell<Vec<usize>>,
    is_exposed: Cell<bool>,
}

#[cold]
fn out_of_order(what: &str) -> Error {
    Error::new(ErrorClass::RmaSync, what)
}

impl Epochs {
    pub(super) fn new(members: usize) -> Self {
        Epochs {
            access: Cell::new(Access::None),
            is_used: Cell::new(false),
            open: (0..members).map(|_| Cell::new(false)).collect(),
            held: (0..members).map(|_| Cell::new(None)).collect(),
            started: RefCell::default(),
            is_exposed: Cell::new(false),
        }
    }

    /// Returns whether operations on a member are permitted, and records that there is one.
    #[inline(always)]
    pub(super) fn is_open(&self, target: usize) -> bool {
        self.is_used.set(true);
        self.open.get(target).is_some_and(Cell::get)
    }

    /// As `is_open`, as an error.
    pub(super) fn check_open(&self, target: usize) -> Result {
        ensure!(
            self.is_open(target),
            ErrorClass::RmaSync,
            "an operation on rank {target} outside of an epoch for it"
        );
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn access(&self) -> Access {
        self.access.get()
    }

    fn open_all(&self, open: bool) {
        self.open.iter().for_each(|one| one.set(open));
    }

    /// Leaves the time after a fence in which no operation was made. Fails in any other epoch.
    fn begin(&self, call: &str) -> Result {
        let is_free = match self.access.get() {
            Access::None => true,
            Access::Fence => !self.is_used.get(),
            _ => false,
        };
        ensure!(is_free, ErrorClass::RmaSync, "{call} in an epoch that has not ended");
        self.open_all(false);
        Ok(())
    }

    /// Fails unless a fence is permitted now.
    pub(super) fn check_fence(&self) -> Result {
        let fits = matches!(self.access.get(), Access::None | Access::Fence);
        ensure!(fits && !self.is_exposed.get(), ErrorClass::RmaSync, "a fence in an epoch");
        Ok(())
    }

    /// Records a fence.
    pub(super) fn fenced(&self, follows: bool) {
        self.access.set(if follows { Access::Fence } else { Access::None });
        self.is_used.set(false);
        self.open_all(follows);
    }

    pub(super) fn check_start(&self) -> Result {
        self.begin("a start")
    }

    pub(super) fn start(&self, members: Vec<usize>) {
        members.iter().for_each(|&member| self.open[member].set(true));
        *self.started.borrow_mut() = members;
        self.access.set(Access::Started);
    }

    /// Returns the members whose epoch a complete ends.
    pub(super) fn complete(&self) -> Result<Vec<usize>> {
        let is_started = self.access.get() == Access::Started;
        ensure!(is_started, ErrorClass::RmaSync, "a complete without a start");
        self.access.set(Access::None);
        self.open_all(false);
        Ok(self.started.take())
    }

    pub(super) fn expose(&self) -> Result {
        ensure!(!self.is_exposed.get(), ErrorClass::RmaSync, "a post after another");
        let fenced = self.access.get() == Access::Fence && self.is_used.get();
        ensure!(!fenced, ErrorClass::RmaSync, "a post in an epoch of fences");
        self.is_exposed.set(true);
        Ok(())
    }

    pub(super) fn check_exposed(&self) -> Result {
        if self.is_exposed.get() { Ok(()) } else { Err(out_of_order("a wait without a post")) }
    }

    pub(super) fn conceal(&self) {
        self.is_exposed.set(false);
    }

    /// Fails unless a member may be locked now.
    pub(super) fn check_lock(&self, target: usize) -> Result {
        if let Access::Locked(_) = self.access.get() {
            let is_held = self.held[target].get().is_some();
            ensure!(!is_held, ErrorClass::RmaSync, "rank {target} is locked already");
        } else {
            self.begin("a lock")?;
        }
        Ok(())
    }

    pub(super) fn lock(&self, target: usize, held: HeldLock) {
        let count = match self.access.get() {
            Access::Locked(count) => count,
            _ => 0,
        };
        self.access.set(Access::Locked(count + 1));
        self.held[target].set(Some(held));
        self.open[target].set(true);
    }

    /// Returns the lock on a member, if there is one.
    pub(super) fn held(&self, target: usize) -> Result<HeldLock> {
        let held = self.held[target].get().filter(|_| self.access.get() != Access::LockedAll);
        held.ok_or_else(|| out_of_order("an unlock without a lock"))
    }

    pub(super) fn unlock(&self, target: usize) {
        self.held[target].set(None);
        self.open[target].set(false);
        if let Access::Locked(count) = self.access.get() {
            self.access.set(if count == 1 { Access::None } else { Access::Locked(count - 1) });
        }
    }

    pub(super) fn check_lock_all(&self) -> Result {
        self.begin("a lock of all")
    }

    pub(super) fn lock_all(&self, held: HeldLock) {
        self.access.set(Access::LockedAll);
        self.held.iter().for_each(|one| one.set(Some(held)));
        self.open_all(true);
    }

    pub(super) fn check_unlock_all(&self) -> Result {
        let fits = self.access.get() == Access::LockedAll;
        ensure!(fits, ErrorClass::RmaSync, "an unlock of all without a lock of all");
        Ok(())
    }

    /// Returns the lock of all, and ends it.
    pub(super) fn unlock_all(&self) -> Option<HeldLock> {
        self.access.set(Access::None);
        self.open_all(false);
        self.held.iter().filter_map(Cell::take).last()
    }

    /// Returns the locks that are held, by member, and ends their epochs.
    pub(super) fn end_locks(&self) -> Vec<(usize, HeldLock)> {
        if matches!(self.access.get(), Access::Locked(_) | Access::LockedAll) {
            self.access.set(Access::None);
            self.open_all(false);
        }
        let held = self.held.iter().enumerate();
        held.filter_map(|(member, one)| Some((member, one.take()?))).collect()
    }

    /// Fails unless a member may be flushed, because it is locked.
    #[inline]
    pub(super) fn check_passive(&self, target: Option<usize>) -> Result {
        let is_locked = matches!(self.access.get(), Access::Locked(_) | Access::LockedAll);
        let open = target.is_none_or(|target| self.open.get(target).is_some_and(Cell::get));
        if is_locked && open {
            return Ok(());
        }
        Err(out_of_order("a flush without a lock"))
    }

    /// Fails unless the window may be freed.
    pub(super) fn check_free(&self) -> Result {
        let ended = matches!(self.access.get(), Access::None | Access::Fence);
        let free = ended && !self.is_exposed.get();
        let epoch = match self.access.get() {
            Access::Started => "MPI_Win_start, which MPI_Win_complete ends",
            Access::Locked(_) => "MPI_Win_lock, which MPI_Win_unlock ends",
            Access::LockedAll => "MPI_Win_lock_all, which MPI_Win_unlock_all ends",
            Access::None | Access::Fence => "MPI_Win_post, which MPI_Win_wait ends",
        };
        ensure!(free, ErrorClass::RmaSync, "the window is freed in the epoch of {epoch}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: HeldLock = HeldLock { exclusive: false, taken: true };

    #[test]
    fn a_lock_may_follow_a_fence_only_if_nothing_was_done() {
        let epochs = Epochs::new(2);
        epochs.fenced(true);
        assert_eq!(epochs.check_lock(0), Ok(()));
        epochs.lock(0, SHARED);
        assert!(epochs.is_open(0) && !epochs.is_open(1));
        assert!(epochs.check_fence().is_err() && epochs.check_free().is_err());
        epochs.unlock(0);
        assert!(!epochs.is_open(0) && epochs.held(0).is_err());
        epochs.fenced(true);
        assert!(epochs.is_open(1));
        assert_eq!(epochs.check_lock(0).unwrap_err().class, ErrorClass::RmaSync);
        epochs.fenced(false);
        assert_eq!((epochs.check_lock_all(), epochs.is_open(1)), (Ok(()), false));
    }

    #[test]
    fn locks_of_several_members_are_kept_apart() {
        let epochs = Epochs::new(3);
        for target in [0, 2] {
            epochs.check_lock(target).unwrap();
            epochs.lock(target, SHARED);
        }
        assert!(epochs.check_lock(2).is_err() && epochs.check_lock_all().is_err());
        assert_eq!((epochs.check_passive(Some(2)), epochs.held(2)), (Ok(()), Ok(SHARED)));
        assert!(epochs.check_passive(Some(1)).is_err() && epochs.check_unlock_all().is_err());
        epochs.unlock(0);
        epochs.unlock(2);
        assert_eq!(epochs.access(), Access::None);
    }

    #[test]
    fn all_locks_end_at_once_and_epochs_without_locks_stay() {
        let epochs = Epochs::new(3);
        epochs.lock(2, SHARED);
        assert_eq!((epochs.end_locks(), epochs.access()), (vec![(2, SHARED)], Access::None));
        assert!(!epochs.is_open(2));
        epochs.lock_all(SHARED);
        assert_eq!(epochs.end_locks(), [0, 1, 2].map(|member| (member, SHARED)));
        epochs.start(vec![1]);
        assert_eq!((epochs.end_locks(), epochs.access()), (vec![], Access::Started));
        assert!(epochs.is_open(1));
    }

    #[test]
    fn a_complete_ends_the_epoch_of_its_start() {
        let epochs = Epochs::new(3);
        assert!(epochs.complete().is_err());
        epochs.check_start().unwrap();
        epochs.start(vec![1]);
        assert!(epochs.check_start().is_err() && epochs.check_lock(0).is_err());
        assert!(epochs.is_open(1) && !epochs.is_open(0));
        assert_eq!(epochs.complete(), Ok(vec![1]));
        assert!(epochs.check_exposed().is_err());
        epochs.expose().unwrap();
        assert!(epochs.expose().is_err() && epochs.check_free().is_err());
        epochs.conceal();
        assert_eq!(epochs.check_free(), Ok(()));
    }
}
