//! How a rank waits, and how it is woken.
//!
//! While every rank has a processor, a waiting rank spins, and after a while lets other processes have a turn. Otherwise
//! it looks a few times, yields a few times, and then sleeps on its word in the segment. Whoever makes something visible
//! to a rank looks at that word, and makes the system call only if the rank sleeps.
//!
//! The sleeper writes its word and then looks once more for work; the waker writes the work and then looks at the word.
//! A full fence between the two steps on each side makes sure that at least one sees the other.

use std::time::Duration;

use crate::primitive::{
    AtomicU32, Ordering, fence, futex_wait, futex_wake, spin_loop, yield_processor,
};

/// Fruitless looks before a rank that has its own processor begins to yield now and then: some 50 microseconds.
const SPINS_BEFORE_YIELD: u32 = 2_000;
/// Looks between two yields from then on.
const SPINS_BETWEEN_YIELDS: u32 = 200;
/// Fruitless looks before a rank that shares its processor yields: what it waits for may be one line away.
/// Few, since what it waits for is mostly another's who wants this processor.
const LOOKS_BEFORE_YIELD: u32 = 3;
/// Yields before it sleeps: some 100 microseconds. Being woken costs the waker several.
const YIELDS_BEFORE_SLEEP: u32 = 200;
/// The longest sleep, after which a rank looks again whether the run still stands.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// What to do after another fruitless look.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Look again.
    Again,
    /// Look again, and at the state of the run too: the wait has become long.
    AgainWithCare,
    /// Prepare to sleep: call [`announce_sleep`], look once more, then [`sleep`].
    Sleep,
}

/// One wait. Counts fruitless looks.
pub(crate) struct Patience {
    own_processor: bool,
    looks: u32,
}

impl Patience {
    pub(crate) fn new(own_processor: bool) -> Self {
        Patience { own_processor, looks: 0 }
    }

    /// Passes a little time after a fruitless look.
    #[inline]
    pub(crate) fn pause(&mut self) -> Pause {
        self.looks = self.looks.saturating_add(1);
        if self.own_processor { self.spin() } else { self.give_way() }
    }

    #[inline]
    fn spin(&mut self) -> Pause {
        spin_loop();
        if self.looks < SPINS_BEFORE_YIELD {
            return if self.looks.is_multiple_of(64) { Pause::AgainWithCare } else { Pause::Again };
        }
        self.looks -= SPINS_BETWEEN_YIELDS;
        yield_processor();
        Pause::AgainWithCare
    }

    fn give_way(&mut self) -> Pause {
        if self.looks < LOOKS_BEFORE_YIELD {
            spin_loop();
            Pause::Again
        } else if self.looks < LOOKS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP {
            yield_processor();
            Pause::AgainWithCare
        } else {
            Pause::Sleep
        }
    }
}

/// Whether it is time to look, after so many fruitless looks at what is waited for, at whether it can come at all: now and
/// then while the looks follow one another closely, and at almost every one once there is a sleep before each.
#[inline]
pub(crate) fn is_time_to_doubt(looks: u32, own_processor: bool) -> bool {
    let asleep = !own_processor && looks > LOOKS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP;
    looks.is_multiple_of(if asleep { 4 } else { 64 })
}

/// Says that the owner of `word` is about to sleep. It then looks for work once more.
pub(crate) fn announce_sleep(word: &AtomicU32) {
    word.store(1, Ordering::Relaxed);
    // Partner of the fence in `wake_if_asleep`.
    fence(Ordering::SeqCst);
}

/// Sleeps, unless somebody has called [`wake_if_asleep`] since [`announce_sleep`].
pub(crate) fn sleep(word: &AtomicU32) {
    futex_wait(word, 1, LONGEST_SLEEP);
    stay_awake(word);
}

/// Takes the announcement back.
pub(crate) fn stay_awake(word: &AtomicU32) {
    // Acquire, partner of the release in `wake_if_asleep`: what we were woken for is seen from here on.
    word.swap(0, Ordering::Acquire);
}

/// Wakes the owner of `word` if it sleeps or is about to. The caller has just made visible what the owner waits for.
#[inline]
pub(crate) fn wake_if_asleep(word: &AtomicU32) {
    // Partner of the fence in `announce_sleep`: without it our store could be seen only after our load, the sleeper
    // would miss the work and we the sleeper.
    fence(Ordering::SeqCst);
    if word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Release) != 0 {
        futex_wake(word, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(loom))]
    #[test]
    fn only_a_rank_that_shares_its_processor_sleeps() {
        let mut shares = Patience::new(false);
        let looks = LOOKS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP;
        let before = (1..looks).filter(|_| shares.pause() == Pause::Sleep).count();
        assert_eq!((before, shares.pause()), (0, Pause::Sleep));
        let mut owns = Patience::new(true);
        assert!((0..3 * SPINS_BEFORE_YIELD).all(|_| owns.pause() != Pause::Sleep));
    }

    /// A sleeper that looks, announces, looks again and sleeps, and a waker that gives it something: in every order of their
    /// steps and of the memory's, the sleeper goes on.
    #[cfg(loom)]
    #[test]
    fn a_sleeper_is_never_left_asleep() {
        loom::model(|| {
            let shared = loom::sync::Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let sleeper = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let (work, word) = &*shared;
                    if work.load(Ordering::Relaxed) == 0 {
                        announce_sleep(word);
                        if work.load(Ordering::Relaxed) == 0 {
                            sleep(word);
                        } else {
                            stay_awake(word);
                        }
                    }
                    assert_eq!(work.load(Ordering::Relaxed), 1);
                })
            };
            let (work, word) = &*shared;
            work.store(1, Ordering::Relaxed);
            wake_if_asleep(word);
            sleeper.join().unwrap();
        });
    }
}
