//! The page of each rank.

use super::processors::RankProcessors;
use super::wait_note::WaitNote;
use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// The state of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// It has not joined yet.
    Starting = 0,
    /// Running its program.
    Alive = 1,
    /// Its program ended normally, and it has nothing in progress.
    Finished = 2,
    /// Its program failed, or it died.
    Failed = 3,
    /// It sends and receives no messages of its own any more, but still takes part in joint work.
    Leaving = 4,
}

/// Part of a rank's state that is visible to the launcher and the others: a page, so that two ranks never write to one
/// line.
#[repr(C, align(4096))]
pub(crate) struct RankPage {
    state: AtomicU32,
    process: AtomicU32,
    processors: RankProcessors,
    /// What this rank says in an exchange of words.
    word: AtomicU64,
    sleep: SleepWord,
    wait_note: WaitNote,
}

// The text of a wait note has what the rest of the page leaves.
#[cfg(not(loom))]
const _: () = assert!(size_of::<RankPage>() == 4096);

/// 1 while the rank sleeps or is about to. Its owner and those who wake it write it.
#[repr(C, align(64))]
struct SleepWord(AtomicU32);

impl RankPage {
    #[inline]
    pub(crate) fn state(&self) -> State {
        // Acquire, partner of `set_state`: everything that the rank sent before it finished is where it sent it.
        match self.state.load(Ordering::Acquire) {
            0 => State::Starting,
            1 => State::Alive,
            2 => State::Finished,
            4 => State::Leaving,
            _ => State::Failed,
        }
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.store(state as u32, Ordering::Release);
    }

    pub(crate) fn process(&self) -> u32 {
        self.process.load(Ordering::Relaxed)
    }

    pub(crate) fn set_process(&self, process: u32) {
        self.process.store(process, Ordering::Relaxed);
    }

    /// Returns where this rank runs.
    pub(crate) fn processors(&self) -> &RankProcessors {
        &self.processors
    }

    /// Returns what this rank said. A meeting of all ranks orders it after [`say`](RankPage::say).
    pub(crate) fn word(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }

    pub(crate) fn say(&self, word: u64) {
        self.word.store(word, Ordering::Relaxed);
    }

    /// Returns this rank's reports of its long waits.
    pub(crate) fn wait_note(&self) -> &WaitNote {
        &self.wait_note
    }

    #[inline]
    pub(crate) fn sleep_word(&self) -> &AtomicU32 {
        &self.sleep.0
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    RankPage { state, process, processors, word, sleep, wait_note }
    SleepWord { 0 }
}
