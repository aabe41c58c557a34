//! What a rank does with a processor that is not its own alone: who lets whom run, and when.

use super::{Team, Whom};
use crate::board::{SLOTS, has_come};
use crate::primitive::{spin_loop, yield_processor};

/// Looks of a rank that shares its processor, while what it waits for has to come from another one: some microseconds, in case
/// that one waits for somebody here (barrier of four ranks bound to two processors: 1.9 us instead of 2.4).
const LOOKS_WHILE_NOBODY_WANTS_IT: u32 = 300;

/// Whether ranks share processors, as far as that is known.
#[derive(PartialEq, Eq)]
pub(crate) enum Sharing {
    No,
    /// The system moves them as it likes.
    Anyhow,
    /// Each is bound to one; these members to the same as this rank.
    With(Vec<usize>),
}

impl Team {
    /// Lets those who share the processor take what this rank has put, once for each of them at most.
    pub(super) fn give_way(&self) {
        let has_ended = |member| has_come(self.board(member).progress.ended(), self.number);
        for _ in 1..self.size() {
            if (0..self.size()).all(has_ended) {
                return;
            }
            yield_processor();
        }
    }

    /// Looks on for a while, if nobody on this processor has to run before what is waited for can come; says whether it came.
    #[inline]
    pub(super) fn keeps_processor(
        &self,
        whom: Whom,
        number: u32,
        ready: impl Fn(&Team) -> bool,
    ) -> bool {
        self.may_stay(whom, number)
            && (0..LOOKS_WHILE_NOBODY_WANTS_IT).any(|_| {
                spin_loop();
                ready(self)
            })
    }

    /// Whether nobody on this processor has to run before what is waited for can come.
    fn may_stay(&self, whom: Whom, number: u32) -> bool {
        let Some(beside) = &self.beside else { return false };
        match whom {
            Whom::Nobody => false,
            Whom::One(member) => !beside.contains(&member),
            Whom::All => {
                let slot = number as usize % SLOTS;
                beside.iter().all(|&member| self.board(member).heads[slot].holds(number))
            }
        }
    }
}
