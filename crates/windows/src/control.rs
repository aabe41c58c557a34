//! The control block of a member: its locks and notices.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::words::Words;
use endpoint::{Result, Untrusted};

/// Number of different notices of a member of a window.
pub const NOTICES: usize = 64;

/// A value in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct CacheAligned<T>(T);

/// The state that the members share about one of them, besides its memory. Zeros are the initial state.
pub(super) struct Control {
    /// Lock for updates that no atomic executes: the holder's number plus one, or 0.
    updates: CacheAligned<AtomicU32>,
    /// Holders of access: in the upper half the member with exclusive access, plus one; in the lower half the number of
    /// members that share it.
    access: CacheAligned<AtomicU64>,
    /// Number of members that wait for exclusive access.
    waiting: AtomicU32,
    /// Agreement of the members on updates of words.
    words: CacheAligned<Words>,
    /// Counters of the member's notices.
    notices: CacheAligned<[AtomicU64; NOTICES]>,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            updates: CacheAligned::default(),
            access: CacheAligned::default(),
            waiting: AtomicU32::new(0),
            words: CacheAligned::default(),
            notices: CacheAligned(std::array::from_fn(|_| AtomicU64::new(0))),
        }
    }
}

/// Number of polls of a lock for updates between two checks of the run.
const POLLS: u32 = 200;

impl Control {
    /// Acquires the lock for updates. `check` is called repeatedly, and fails when the run has failed.
    pub(super) fn lock_updates(
        &self,
        me: usize,
        mut check: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let mut polls = 0;
        while !self.try_lock_updates(me) {
            polls += 1;
            if polls % POLLS == 0 {
                std::thread::yield_now();
                check()?;
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    /// Returns the member that has the lock for updates.
    pub(super) fn updating(&self) -> Option<Untrusted<usize>> {
        // Relaxed: it only serves to find out whether that member still runs.
        (self.updates.0.load(Ordering::Relaxed) as usize).checked_sub(1).map(Untrusted::new)
    }

    /// Acquires the lock for updates if it is free.
    #[inline]
    pub(super) fn try_lock_updates(&self, me: usize) -> bool {
        // Acquire, partner of the release in `unlock_updates`: an update sees those before it.
        let taken =
            self.updates.0.compare_exchange(0, me as u32 + 1, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    }

    #[inline]
    pub(super) fn unlock_updates(&self) {
        self.updates.0.store(0, Ordering::Release);
    }

    /// Acquires shared access unless a member has exclusive access. Returns whether it did.
    pub(super) fn try_share(&self) -> bool {
        let mut seen = self.access.0.load(Ordering::Relaxed);
        while seen >> 32 == 0 {
            // Acquire, partner of the release in `give_up`: accesses see those of earlier holders.
            let taken = self.access.0.compare_exchange_weak(
                seen,
                seen + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match taken {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Acquires exclusive access unless a member has access of any kind. Returns whether it did.
    pub(super) fn try_take(&self, me: usize) -> bool {
        let mine = (me as u64 + 1) << 32;
        // Acquire, as in `try_share`.
        self.access.0.compare_exchange(0, mine, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Returns the member with exclusive access.
    pub(super) fn holder(&self) -> Option<Untrusted<usize>> {
        // Relaxed: it only serves to find out whether that member still runs.
        let word = (self.access.0.load(Ordering::Relaxed) >> 32) as usize;
        word.checked_sub(1).map(Untrusted::new)
    }

    /// Releases access.
    pub(super) fn give_up(&self, me: usize, exclusive: bool) {
        let mine = if exclusive { (me as u64 + 1) << 32 } else { 1 };
        self.access.0.fetch_sub(mine, Ordering::Release);
    }

    /// Returns the number of members that wait for exclusive access. Only fairness depends on it.
    pub(super) fn waiting(&self) -> &AtomicU32 {
        &self.waiting
    }

    #[inline]
    pub(super) fn words(&self) -> &Words {
        &self.words.0
    }

    pub(super) fn notice(&self, number: usize) -> &AtomicU64 {
        &self.notices.0[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_is_shared_or_exclusive() {
        let control = Control::default();
        assert!(control.try_share() && control.try_share() && !control.try_take(3));
        assert_eq!(control.holder(), None);
        control.give_up(0, false);
        control.give_up(1, false);
        assert!(control.try_take(3) && !control.try_share() && !control.try_take(2));
        assert_eq!(control.holder(), Some(Untrusted::new(3)));
        control.give_up(3, true);
        assert!(control.try_take(0));
    }

    #[test]
    fn updates_under_the_lock_do_not_lose_each_other() {
        let control = Control::default();
        let total = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for me in 0..4 {
                let (control, total) = (&control, &total);
                scope.spawn(move || {
                    for _ in 0..2000 {
                        control.lock_updates(me, || Ok(())).unwrap();
                        // Separate on purpose: only the lock keeps the two consistent.
                        let seen = total.load(Ordering::Relaxed);
                        total.store(seen + 1, Ordering::Relaxed);
                        control.unlock_updates();
                    }
                });
            }
        });
        assert_eq!(total.into_inner(), 8000);
    }

    #[test]
    fn a_wait_for_the_lock_ends_when_the_run_does() {
        let control = Control::default();
        control.lock_updates(5, || Ok(())).unwrap();
        let failed = endpoint::Error::Aborted { why: "a test".into() };
        assert_eq!(control.updating(), Some(Untrusted::new(5)));
        let waited = control.lock_updates(1, || Err(failed.clone()));
        assert_eq!(waited, Err(failed));
    }
}
