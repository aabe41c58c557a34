//! Sleep of a rank, and its end by others.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use super::Seat;
use crate::sleep;

impl Seat {
    /// Makes this rank also wake from its sleep when `descriptor` is readable. The rank then reads it. The run must
    /// have been launched with `waits_for_descriptors`.
    pub fn wake_by(&mut self, descriptor: OwnedFd) {
        self.wakes_too = Some(descriptor);
    }

    /// Announces that this rank is about to sleep. It then polls once more before it [sleeps](Seat::sleep).
    pub fn announce_sleep(&self) {
        sleep::announce_sleep(self.memory.rank_page(self.rank).sleep_word());
    }

    /// Withdraws the announcement.
    pub fn stay_awake(&self) {
        sleep::stay_awake(self.memory.rank_page(self.rank).sleep_word());
    }

    /// Sleeps until another rank [wakes](Seat::wake_if_asleep) this one or the descriptor does, at most for `longest`.
    /// Returns whether this time has passed.
    pub fn sleep(&self, longest: Duration) -> bool {
        let word = self.memory.rank_page(self.rank).sleep_word();
        match self.memory.bell(self.rank) {
            None => sleep::sleep(word, longest),
            Some(bell) => {
                let has_run_out = bell.sleep(self.wakes_too.as_ref().map(AsFd::as_fd), longest);
                sleep::stay_awake(word);
                has_run_out
            }
        }
    }

    /// Wakes a rank if it sleeps or is about to. The caller has just published what that rank waits for.
    #[inline]
    pub fn wake_if_asleep(&self, rank: usize) {
        self.memory.wake_if_asleep(rank);
    }
}
