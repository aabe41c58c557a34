//! What a rank does with a processor that is not its own alone: who lets whom run, and when.

use super::{Team, Whom};
use crate::board::{SLOTS, has_reached};
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
    /// Each is bound to one: the members', by their places.
    Bound(Vec<u32>),
}

/// The members by processor, where every rank is bound to one.
pub(super) struct Groups {
    /// The members on this rank's processor, without it.
    pub(super) beside: Vec<usize>,
    /// The first member on each processor, in rising order.
    pub(super) first: Vec<usize>,
    /// Which of these is on this rank's.
    pub(super) mine: usize,
}

impl Groups {
    /// Of members bound to these processors, seen from epoch `me`.
    pub(super) fn new(processors: &[u32], me: usize) -> Self {
        let is_first = |&place: &usize| !processors[..place].contains(&processors[place]);
        let first: Vec<usize> = (0..processors.len()).filter(is_first).collect();
        let is_mine = |&place: &usize| processors[place] == processors[me];
        Groups {
            beside: (0..processors.len()).filter(|place| *place != me && is_mine(place)).collect(),
            mine: first.iter().position(is_mine).unwrap_or(0),
            first,
        }
    }
}

impl Team {
    /// Lets those who share the processor take what this rank has put, once for each of them at most.
    pub(super) fn give_way(&self) {
        let has_ended = |member| has_reached(self.board(member).progress.ended(), self.epoch);
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
        epoch: u32,
        ready: impl Fn(&Team) -> bool,
    ) -> bool {
        self.may_stay(whom, epoch)
            && (0..LOOKS_WHILE_NOBODY_WANTS_IT).any(|_| {
                spin_loop();
                ready(self)
            })
    }

    /// Whether nobody on this processor has to run before what is waited for can come.
    fn may_stay(&self, whom: Whom, epoch: u32) -> bool {
        let Some(groups) = &self.groups else { return false };
        match whom {
            Whom::Nobody => false,
            Whom::One(member) => !groups.beside.contains(&member),
            Whom::All => {
                let slot = epoch as usize % SLOTS;
                groups.beside.iter().all(|&member| self.board(member).headers[slot].holds(epoch))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_grouped_by_processor_wherever_they_are_looked_at_from() {
        let processors = [5, 2, 5, 5, 2, 9];
        let seen = |me: usize| {
            let groups = Groups::new(&processors, me);
            (groups.first, groups.mine, groups.beside)
        };
        assert_eq!(seen(2), (vec![0, 1, 5], 0, vec![0, 3]));
        assert_eq!(seen(4), (vec![0, 1, 5], 1, vec![1]));
        assert_eq!(seen(5), (vec![0, 1, 5], 2, vec![]));
    }
}
