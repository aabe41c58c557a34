//! The contexts between runs.

use std::collections::HashMap;

use contract::{BETWEEN_RUNS, ContextOffer, MEETING_CONTEXT};

/// The open contexts, and the numbers in use. A number is never reused: messages of a closed context may still be in
/// transit.
#[derive(Default)]
pub(super) struct Contexts {
    /// For each member of each context: its connection, and the number by which it knows the context.
    open: HashMap<u32, HashMap<usize, (usize, u32)>>,
    given: u32,
}

impl Contexts {
    /// Returns the number of the next context.
    pub(super) fn offer(&mut self) -> ContextOffer {
        self.given += 1;
        ContextOffer(u64::from(MEETING_CONTEXT + self.given))
    }

    /// Opens the context that was offered as `own`: for each member its number as a process, its connection and its
    /// offer.
    pub(super) fn open(
        &mut self,
        theirs: &[(usize, usize, ContextOffer)],
        own: ContextOffer,
    ) -> u32 {
        let number = own.0 as u32 | BETWEEN_RUNS;
        let destination = |&(member, peer, offer): &(usize, usize, ContextOffer)| {
            (member, (peer, offer.0 as u32 | BETWEEN_RUNS))
        };
        self.open.insert(number, theirs.iter().map(destination).collect());
        number
    }

    pub(super) fn close(&mut self, number: u32) {
        self.open.remove(&number);
    }

    /// Returns the connection to a member, and the number by which it knows a context.
    pub(super) fn destination(&self, number: u32, to: usize) -> Option<(usize, u32)> {
        self.open.get(&number)?.get(&to).copied()
    }

    /// Returns the connections of all members of all contexts, some of them several times.
    pub(super) fn peers(&self) -> impl Iterator<Item = usize> {
        self.open.values().flat_map(HashMap::values).map(|&(peer, _)| peer)
    }

    pub(super) fn are_none(&self) -> bool {
        self.open.is_empty()
    }
}
