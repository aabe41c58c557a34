//! The decision whether words are updated by atomics alone, which is best for a few, or under the lock as well, which
//! is best for many: then they are updated like any memory.
//!
//! A member's words begin with atomics alone. The first long update requests the lock. Members that have updated words
//! before may be in the middle of an atomic update. Until each of them has declared that it uses the lock from now on,
//! the holder of the lock still uses atomics.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// Length from which updates of words are long.
pub(super) const LONG_BYTES: usize = 1024;

const BITS: usize = u64::BITS as usize;
/// Maximum number of members that are tracked. In larger windows words are updated by atomics under the lock.
const MOST_MEMBERS: usize = 8 * BITS;

/// Kind of an update of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// By atomics.
    Alone,
    /// By atomics under the lock.
    Locked,
    /// As other memory, under the lock.
    Whole,
}

/// The state that the members of a window share about one member's words. Zeros are the initial state.
#[derive(Default)]
pub(super) struct Words {
    /// True if the lock must be used.
    locked: AtomicBool,
    /// Bits of the members that have updated words, and of those that use the lock.
    users: [AtomicU64; MOST_MEMBERS / BITS],
    agreed: [AtomicU64; MOST_MEMBERS / BITS],
}

/// A member's copy of that state.
#[derive(Default)]
pub(super) struct Remembered {
    is_user: Cell<bool>,
    has_agreed: Cell<bool>,
}

impl Words {
    /// Returns the kind of update that member `me` must use for `bytes` bytes of words now.
    #[inline]
    pub(super) fn manner(&self, me: usize, own: &Remembered, bytes: usize) -> Manner {
        if bytes < LONG_BYTES { self.of_short(me, own) } else { self.of_long(me) }
    }

    #[inline]
    fn of_short(&self, me: usize, own: &Remembered) -> Manner {
        // Acquire: from here on the lock is used, after all actions before its request.
        if !self.locked.load(Ordering::Acquire) {
            if own.is_user.get() {
                return Manner::Alone;
            }
            if me < MOST_MEMBERS {
                // SeqCst here, at the next load, and in `of_long`: either this member sees that the lock is requested,
                // or the requester sees this member.
                self.users[me / BITS].fetch_or(1 << (me % BITS), Ordering::SeqCst);
                own.is_user.set(true);
                if !self.locked.load(Ordering::SeqCst) {
                    return Manner::Alone;
                }
            }
        }
        if own.is_user.get() && !own.has_agreed.replace(true) {
            // Release, partner of the acquire in `of_long`: updates by atomics alone have ended.
            self.agreed[me / BITS].fetch_or(1 << (me % BITS), Ordering::Release);
        }
        Manner::Locked
    }

    #[cold]
    fn of_long(&self, me: usize) -> Manner {
        if !self.locked.load(Ordering::Relaxed) {
            self.locked.store(true, Ordering::SeqCst);
        }
        fence(Ordering::SeqCst);
        let late =
            self.users.iter().zip(&self.agreed).enumerate().any(|(index, (users, agreed))| {
                let others = if me / BITS == index { !(1 << (me % BITS)) } else { u64::MAX };
                let agreed = agreed.load(Ordering::Acquire);
                users.load(Ordering::SeqCst) & others & !agreed != 0
            });
        if late || me >= MOST_MEMBERS { Manner::Locked } else { Manner::Whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_under_the_lock_once_all_users_agree() {
        let words = Words::default();
        let members: [Remembered; 3] = std::array::from_fn(|_| Remembered::default());
        let short = |me: usize| words.manner(me, &members[me], 8);
        let long = |me: usize| words.manner(me, &members[me], LONG_BYTES);
        assert_eq!([short(0), short(1), short(0)], [Manner::Alone; 3]);
        // Both have updated words; the requester is not in the middle of an update itself.
        assert_eq!((long(0), long(2)), (Manner::Locked, Manner::Locked));
        assert_eq!((short(1), long(0)), (Manner::Locked, Manner::Whole));
        assert_eq!((long(2), short(0), long(2)), (Manner::Locked, Manner::Locked, Manner::Whole));
        assert_eq!(short(2), Manner::Locked);
    }

    #[test]
    fn without_short_updates_the_first_long_one_is_whole() {
        let words = Words::default();
        let own = Remembered::default();
        assert_eq!(words.manner(511, &own, LONG_BYTES), Manner::Whole);
        assert_eq!(words.manner(512, &own, LONG_BYTES), Manner::Locked);
        assert_eq!(words.manner(512, &own, 4), Manner::Locked);
    }
}
