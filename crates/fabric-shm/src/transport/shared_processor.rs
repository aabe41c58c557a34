//! Ranks that have a processor each, and share one all the same.
//!
//! Where other programs run, the system sees as many busy threads as these and the ranks together, and may well put two
//! ranks on one processor. Each message between them then takes a slice of the other's time. The ranks are not bound,
//! for two jobs that bind their ranks to the same processors leave others idle.

use launcher::{State, crowding, system};

use super::Rings;

impl Rings {
    /// In a long wait: publishes where this rank runs, and moves to another processor if the processors are crowded and
    /// a lower rank is on this one. The system may bring them together again at any time.
    #[cold]
    pub(super) fn leave_shared_processor(&self) {
        if cfg!(loom) || !self.choices.every_rank_has_a_processor {
            return;
        }
        let Some(here) = system::current_processor() else { return };
        self.segment.seat().processors(self.me).set_seen(here);
        if crowding::is_crowded() {
            self.move_from(here);
        }
    }

    fn move_from(&self, here: u32) {
        let seen = |rank| {
            let seat = self.segment.seat();
            seat.processors(rank).seen().filter(|_| seat.state(rank) == State::Alive)
        };
        if !(0..self.me).any(|rank| seen(rank) == Some(here)) {
            return;
        }
        let Ok(allowed) = system::allowed_processors() else { return };
        let others: Vec<_> =
            (0..self.ranks()).filter(|&rank| rank != self.me).filter_map(seen).collect();
        let free = allowed.into_iter().find(|&one| !others.contains(&(one as u32)));
        if let Some(free) = free {
            // Where the system refuses, all stays as it is.
            let _ = system::move_to_processor(free);
        }
    }
}
