//! Sharing a processor between ranks: who yields to whom, and when.

use collectives::plan::Topology;

use super::Team;
use super::agreement::Awaited;
use crate::board::{SLOTS, has_reached};
use crate::primitive::spin_loop;

use crate::transport::Rings;
use launcher::crowding;

/// Number of polls of an oversubscribed rank while the awaited part must come from another processor: some
/// microseconds, in case that one waits for a rank on this processor. See
/// docs/measurements.md#ranks-that-share-processors.
const SPINS_WHEN_NO_LOCAL_RANK_IS_PENDING: u32 = 300;

/// Oversubscription of the processors, and the processors of bound ranks.
#[derive(PartialEq, Eq)]
pub(crate) enum Oversubscription {
    /// Every rank has a processor.
    None,
    /// The system may move ranks.
    Unbound,
    /// Each member is bound to one processor: these, by the members' places.
    Bound(Vec<u32>),
}

impl Oversubscription {
    /// Returns that of a team of these ranks.
    pub(crate) fn of(rings: &Rings, members: &[usize]) -> Self {
        if rings.has_own_processor() {
            return Oversubscription::None;
        }
        let processor = |&rank: &usize| rings.segment().seat().processors(rank).bound();
        let all: Option<Vec<u32>> = members.iter().map(processor).collect();
        all.map_or(Oversubscription::Unbound, Oversubscription::Bound)
    }
}

impl Oversubscription {
    /// Returns the same in the terms of plans.
    pub(super) fn topology(&self) -> Topology {
        match self {
            Oversubscription::None => Topology::OwnProcessors,
            Oversubscription::Unbound => Topology::Oversubscribed,
            Oversubscription::Bound(_) => Topology::OversubscribedBound,
        }
    }
}

/// The members by processor, if every rank is bound to one; otherwise each member is a group.
pub(super) struct Groups {
    /// The members of this rank's group, without this rank.
    pub(super) local: Vec<usize>,
    /// The first member of each group, in rising order.
    pub(super) first: Vec<usize>,
    /// Index of this rank's group in `first`.
    pub(super) own: usize,
}

impl Groups {
    /// Returns the groups of `members` members, seen from number `me`.
    pub(super) fn new(oversubscription: &Oversubscription, members: usize, me: usize) -> Self {
        match oversubscription {
            Oversubscription::Bound(processors) => Groups::by_processor(processors, me),
            _ => Groups { local: Vec::new(), first: (0..members).collect(), own: me },
        }
    }

    fn by_processor(processors: &[u32], me: usize) -> Self {
        let is_first = |&place: &usize| !processors[..place].contains(&processors[place]);
        let first: Vec<usize> = (0..processors.len()).filter(is_first).collect();
        let is_local = |&place: &usize| processors[place] == processors[me];
        Groups {
            local: (0..processors.len()).filter(|place| *place != me && is_local(place)).collect(),
            own: first.iter().position(is_local).unwrap_or(0),
            first,
        }
    }
}

impl Team {
    /// Lets the others on this processor take what this rank has put: yields until all have, at most once for each.
    pub(super) fn yield_to_members(&self) {
        let has_ended = |member| has_reached(self.board(member).progress.ended(), self.epoch);
        let mut pending = (0..self.size()).peekable();
        for _ in 1..self.size() {
            while pending.next_if(|&member| has_ended(member)).is_some() {}
            if pending.peek().is_none() || !crowding::yield_if_of_use() {
                return;
            }
        }
    }

    /// Polls for a while if no rank on this processor must run before the awaited part can come. Returns whether it
    /// came.
    #[inline]
    pub(super) fn keeps_processor(
        &self,
        awaited: Awaited,
        epoch: u32,
        ready: impl Fn(&Team) -> bool,
    ) -> bool {
        !self.is_local_rank_pending(awaited, epoch)
            && (0..SPINS_WHEN_NO_LOCAL_RANK_IS_PENDING).any(|_| {
                spin_loop();
                ready(self)
            })
    }

    /// Returns whether a rank on this processor may have to run before the awaited part can come.
    fn is_local_rank_pending(&self, awaited: Awaited, epoch: u32) -> bool {
        if self.topology != Topology::OversubscribedBound {
            return true;
        }
        let groups = &self.groups;
        match awaited {
            Awaited::Nobody => true,
            Awaited::One(member) => groups.local.contains(&member),
            Awaited::All => {
                let slot = epoch as usize % SLOTS;
                !groups.local.iter().all(|&member| self.board(member).headers[slot].holds(epoch))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_grouped_by_processor_wherever_they_are_seen_from() {
        let processors = [5, 2, 5, 5, 2, 9];
        let seen = |me: usize| {
            let groups = Groups::by_processor(&processors, me);
            (groups.first, groups.own, groups.local)
        };
        assert_eq!(seen(2), (vec![0, 1, 5], 0, vec![0, 3]));
        assert_eq!(seen(4), (vec![0, 1, 5], 1, vec![1]));
        assert_eq!(seen(5), (vec![0, 1, 5], 2, vec![]));
    }
}
