//! The hosts of ranks.

/// The ranks of the run that are on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// Number of ranks here.
    here: usize,
    /// Ranks of this host, by rank of the run.
    local: Vec<Option<u32>>,
    /// Numbers of the hosts, by rank of the run.
    hosts: Vec<u16>,
}

impl Places {
    /// Creates the places of a run whose ranks are on `hosts`, of which `here` are on this host, in the order of its
    /// numbers.
    pub(crate) fn new(here: &[usize], hosts: Vec<u16>) -> Self {
        let mut local = vec![None; hosts.len()];
        for (own, &rank) in here.iter().enumerate() {
            local[rank] = Some(own as u32);
        }
        Places { here: here.len(), local, hosts }
    }

    /// Returns whether a rank of the run is on this host.
    #[inline]
    pub(crate) fn is_here(&self, rank: usize) -> bool {
        self.local[rank].is_some()
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
        self.here == self.local.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks 1 and 4 of 5 are here, as 0 and 1.
    #[test]
    fn ranks_of_the_host_and_of_the_run_are_distinguished() {
        let places = Places::new(&[1, 4], vec![0, 1, 0, 3, 1]);
        let local: Vec<_> = (0..5).map(|rank| places.local(rank)).collect();
        assert_eq!(local, [None, Some(0), None, None, Some(1)]);
        assert!(places.is_here(4) && !places.is_here(3));
        assert!(!places.are_all_here() && Places::new(&[1, 0], vec![0; 2]).are_all_here());
        assert_eq!((places.host_of(3), places.host_of(4)), (Some(3), Some(1)));
    }
}
