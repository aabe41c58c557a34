//! How a rank sleeps in memory, and how it is woken.
//!
//! A rank sleeps on its sleep word in its page. A rank that publishes something to another reads that word, and makes the
//! system call only if the other sleeps.
//!
//! The sleeper writes its word and then polls once more; the waker writes the work and then reads the word. A full
//! fence between the two steps on each side guarantees that at least one of them sees the other.

use std::time::Duration;

use crate::primitive::{AtomicU32, Ordering, fence, futex_wait, futex_wake};

/// Announces that the owner of `word` is about to sleep. The owner then polls once more.
pub(crate) fn announce_sleep(word: &AtomicU32) {
    word.store(1, Ordering::Relaxed);
    // Partner of the fence in `wake_if_asleep`.
    fence(Ordering::SeqCst);
}

/// Sleeps at most for `longest`, unless [`wake_if_asleep`] was called since [`announce_sleep`]. Returns whether the
/// sleep ran out.
pub(crate) fn sleep(word: &AtomicU32, longest: Duration) -> bool {
    let has_run_out = futex_wait(word, 1, longest);
    stay_awake(word);
    has_run_out
}

/// Withdraws the announcement.
pub(crate) fn stay_awake(word: &AtomicU32) {
    // Acquire, partner of the release in `wake_if_asleep`: the reason for the wake-up is visible from here on.
    word.swap(0, Ordering::Acquire);
}

/// Calls `wake`, which wakes the owner of `word`, if the owner sleeps or is about to. The caller has just published
/// what the owner waits for.
#[inline]
pub(crate) fn wake_if_asleep(word: &AtomicU32, wake: impl FnOnce(&AtomicU32)) {
    // Partner of the fence in `announce_sleep`. Without it our store could become visible only after our load: the
    // sleeper would miss the work, and we would miss the sleeper.
    fence(Ordering::SeqCst);
    if word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Release) != 0 {
        wake(word);
    }
}

/// Wakes the rank that [`sleep`]s on `word`.
pub(crate) fn wake_sleeper(word: &AtomicU32) {
    futex_wake(word, 1);
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;

    /// A sleeper that polls, announces its sleep, polls again and sleeps, and a waker that gives it work: in every
    /// order of their steps and of the memory's, the sleeper continues.
    #[test]
    fn a_sleeper_is_never_left_asleep() {
        loom::model(|| {
            crate::primitive::begin_execution();
            let shared = loom::sync::Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let sleeper = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let (work, word) = &*shared;
                    if work.load(Ordering::Relaxed) == 0 {
                        announce_sleep(word);
                        if work.load(Ordering::Relaxed) == 0 {
                            sleep(word, Duration::MAX);
                        } else {
                            stay_awake(word);
                        }
                    }
                    assert_eq!(work.load(Ordering::Relaxed), 1);
                })
            };
            let (work, word) = &*shared;
            work.store(1, Ordering::Relaxed);
            wake_if_asleep(word, wake_sleeper);
            sleeper.join().unwrap();
        });
    }
}
