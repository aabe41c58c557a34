//! The hosts of ranks.

use contract::{Envelope, Error, Selector};

/// The ranks of the run that are on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Ranks of the run, by rank of this host.
    here: Vec<usize>,
    /// Ranks of this host, by rank of the run.
    local: Vec<Option<u32>>,
    /// Numbers of the hosts, by rank of the run.
    hosts: Vec<u16>,
}

impl Places {
    /// Creates the places of a run whose ranks are on `hosts`, of which `here` are on this host, in the order of its
    /// numbers.
    pub(crate) fn new(here: Vec<usize>, hosts: Vec<u16>) -> Self {
        let mut local = vec![None; hosts.len()];
        for (own, &rank) in here.iter().enumerate() {
            local[rank] = Some(own as u32);
        }
        Places { here, local, hosts }
    }

    /// Returns the number of a rank of the run on this host, if it is there.
    #[inline]
    pub(crate) fn local(&self, rank: usize) -> Option<usize> {
        self.local[rank].map(|own| own as usize)
    }

    /// Returns the number of a rank's host: the lowest rank there.
    pub(crate) fn host_of(&self, rank: usize) -> Option<usize> {
        self.hosts.get(rank).map(|&host| usize::from(host))
    }

    /// Returns whether all ranks of the run are on this host.
    pub(crate) fn are_all_here(&self) -> bool {
        self.here.len() == self.local.len()
    }

    /// Returns a selector of one sender on this host in the host's numbers.
    #[inline]
    pub(crate) fn inner_selector(&self, selector: Selector) -> Selector {
        let source = selector.source.and_then(|rank| self.local[rank as usize]);
        Selector { source, ..selector }
    }

    /// Returns an envelope of this host with its sender's rank of the run.
    #[inline]
    pub(crate) fn outer_envelope(&self, envelope: Envelope) -> Envelope {
        Envelope { source: self.here[envelope.source as usize] as u32, ..envelope }
    }

    /// Returns an error of this host's ranks with the rank of the run.
    pub(crate) fn outer_error(&self, error: Error) -> Error {
        let run_rank = |rank: usize| self.here.get(rank).copied().unwrap_or(rank);
        match error {
            Error::RankDied { rank, how } => Error::RankDied { rank: run_rank(rank), how },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks 1 and 4 of 5 are here, as 0 and 1.
    #[test]
    fn ranks_of_the_host_and_of_the_run_are_distinguished() {
        let places = Places::new(vec![1, 4], vec![0, 1, 0, 3, 1]);
        let local: Vec<_> = (0..5).map(|rank| places.local(rank)).collect();
        assert_eq!(local, [None, Some(0), None, None, Some(1)]);
        assert!(!places.are_all_here() && Places::new(vec![1, 0], vec![0; 2]).are_all_here());
        assert_eq!((places.host_of(3), places.host_of(4)), (Some(3), Some(1)));
        let from = |source| Selector { context: 6, source, tag: Some(7) };
        assert_eq!(places.inner_selector(from(Some(4))), from(Some(1)));
        assert_eq!(places.inner_selector(from(None)), from(None));
        let envelope = Envelope { source: 1, tag: 9, ..Envelope::default() };
        assert_eq!(places.outer_envelope(envelope).source, 4);
        let died = |rank| Error::RankDied { rank, how: "killed".into() };
        assert_eq!(places.outer_error(died(0)), died(1));
    }
}
