//! The check that the members of each context make the same collectives in the same order.

use std::collections::{BTreeMap, HashMap, VecDeque};

use contract::{AgreedCall, ContextPlace, Error, Result};

use super::World;

/// The collectives of all contexts. Contexts without a common member may have the same number.
#[derive(Default)]
pub(super) struct ContextCalls {
    /// The contexts that ranks have opened, each with its number at a rank.
    opened: HashMap<(usize, u32), Members>,
    calls: BTreeMap<(u32, usize), Calls>,
}

#[derive(Clone, Copy)]
struct Members {
    first: usize,
    size: usize,
}

/// The collectives of one context.
#[derive(Default)]
struct Calls {
    /// Number of the first kept call. All members have made the calls before it.
    first: u64,
    kept: VecDeque<KeptCall>,
    /// Number of the next call of each member.
    next: HashMap<usize, u64>,
    /// The last difference of lengths, in words.
    unequal: Option<Error>,
}

/// A call that not all members have made yet.
struct KeptCall {
    call: AgreedCall,
    /// The first member that has made it.
    by: usize,
    times: usize,
}

impl Calls {
    /// Records the next call of a member.
    fn announce(&mut self, rank: usize, call: AgreedCall, size: usize) -> Result<()> {
        let next = self.next.entry(rank).or_default();
        let place = (*next - self.first) as usize;
        *next += 1;
        if place == self.kept.len() {
            self.kept.push_back(KeptCall { call, by: rank, times: 0 });
        }
        let made = &mut self.kept[place];
        made.times += 1;
        match Error::of_calls((rank, call), (made.by, made.call)) {
            // The messages show the same if their members come to them.
            Some(error @ Error::UnequalCounts { .. }) => self.unequal = Some(error),
            Some(error) => return Err(error),
            None => {}
        }
        while self.kept.front().is_some_and(|made| made.times == size) {
            self.kept.pop_front();
            self.first += 1;
        }
        Ok(())
    }
}

impl World {
    /// Records that a rank has opened a context.
    pub(crate) fn open_context(&mut self, rank: usize, number: u32, members: &[usize]) {
        let Some(&first) = members.first() else { return };
        self.calls.opened.insert((rank, number), Members { first, size: members.len() });
    }

    /// Records that a rank has closed a context.
    pub(crate) fn close_context(&mut self, rank: usize, number: u32) {
        let Some(Members { first, .. }) = self.calls.opened.remove(&(rank, number)) else { return };
        if let Some(calls) = self.calls.calls.get_mut(&(number, first)) {
            calls.next.remove(&rank);
            if calls.next.is_empty() {
                self.calls.calls.remove(&(number, first));
            }
        }
    }

    /// Records the next collective of a rank in a context.
    ///
    /// # Errors
    /// [`Error::MismatchedCollective`] if another rank has made another call.
    pub(crate) fn announce(
        &mut self,
        rank: usize,
        place: ContextPlace,
        call: AgreedCall,
    ) -> Result<()> {
        let all = Members { first: 0, size: self.size() };
        let opened = self.calls.opened.get(&(rank, place.0)).copied();
        let Some(members) = opened.or((place == ContextPlace::WORLD).then_some(all)) else {
            return Ok(());
        };
        let calls = self.calls.calls.entry((place.0, members.first)).or_default();
        calls.announce(rank, call, members.size)
    }

    /// As [`announce`](World::announce), for a collective by messages: those of different calls never match, so the run
    /// cannot continue.
    pub(crate) fn announce_by_messages(
        &mut self,
        rank: usize,
        place: ContextPlace,
        call: AgreedCall,
    ) {
        if let Err(error) = self.announce(rank, place, call) {
            self.fail(rank, error.clone(), error);
        }
    }

    /// Returns the differences of lengths that may explain a deadlock.
    pub(super) fn unequal_lengths(&self) -> impl Iterator<Item = &Error> {
        self.calls.calls.values().filter_map(|calls| calls.unequal.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use collectives::Collective;
    use contract::CallId;

    use super::*;

    /// A barrier (1), a broadcast (2) or a scatter (3).
    fn call(number: usize, bytes: usize) -> AgreedCall {
        let collectives = [Collective::Barrier, Collective::Broadcast, Collective::Scatter];
        AgreedCall { id: CallId::of(collectives[number - 1]), bytes }
    }

    #[test]
    fn calls_are_compared_in_order_and_forgotten_once_all_have_made_them() {
        let mut calls = Calls::default();
        for number in [1, 2] {
            assert_eq!(calls.announce(0, call(number, 4), 2), Ok(()));
        }
        assert_eq!((calls.first, calls.kept.len()), (0, 2));
        assert_eq!(calls.announce(1, call(1, 4), 2), Ok(()));
        assert_eq!((calls.first, calls.kept.len()), (1, 1));
        let error = calls.announce(1, call(3, 4), 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "collectives do not match: rank 1 is in scatter with root 0, rank 0 in broadcast with root 0"
        );
    }

    #[test]
    fn a_difference_in_length_is_kept_for_the_explanation_of_a_deadlock() {
        let mut calls = Calls::default();
        assert_eq!(calls.announce(1, call(1, 4), 2), Ok(()));
        assert_eq!(calls.announce(0, call(1, 8), 2), Ok(()));
        let words = calls.unequal.unwrap().to_string();
        assert!(words.ends_with("the data of rank 1 is 4 bytes where 8 are expected"), "{words}");
    }
}
