//! Contexts: groups of ranks with messages and collectives of their own.

use std::rc::Rc;

use collectives::HostMap;

use crate::{ContextPlace, Error, Result};

/// A group of ranks with a private space of messages, which no wildcard of another context matches.
///
/// [`Rank::split`](crate::Rank::split) creates it, and [`Rank::within`](crate::Rank::within) uses it. A clone is
/// another handle of the same context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context(Rc<Inner>);

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    number: u32,
    place: ContextPlace,
    /// Ranks of the run, by rank of the context; `None` if the two are the same.
    members: Option<Members>,
    rank: usize,
    size: usize,
    /// The members that share a host, if the fabric provides them.
    hosts: Option<HostMap>,
}

#[derive(Debug, PartialEq, Eq)]
struct Members {
    run_ranks: Vec<usize>,
    /// Ranks of the context by rank of the run; `NO_MEMBER` for others.
    own_ranks: Vec<u32>,
}

const NO_MEMBER: u32 = u32::MAX;
/// Largest number of a context. Above it are the context of claimed messages, and those between runs.
const LARGEST_NUMBER: u64 = crate::BETWEEN_RUNS as u64 - 2;

impl Context {
    /// Returns the context of all ranks.
    pub(crate) fn world(
        rank: usize,
        size: usize,
        host_of: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let hosts = (0..size).map(host_of).collect::<Option<Vec<_>>>().map(HostMap::new);
        let place = ContextPlace::WORLD;
        Context(Rc::new(Inner { number: 0, place, members: None, rank, size, hosts }))
    }

    /// Returns a context of `members`, ranks of a run of `run_size` ranks, in which this rank has the number `rank`.
    pub fn of(
        number: u32,
        place: ContextPlace,
        members: Vec<usize>,
        rank: usize,
        run_size: usize,
        host_of: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let hosts = members.iter().map(|&rank| host_of(rank)).collect::<Option<Vec<_>>>();
        let mut own_ranks = vec![NO_MEMBER; run_size];
        for (own, &member) in members.iter().enumerate() {
            own_ranks[member] = own as u32;
        }
        let size = members.len();
        let members = Some(Members { run_ranks: members, own_ranks });
        let hosts = hosts.map(HostMap::new);
        Context(Rc::new(Inner { number, place, members, rank, size, hosts }))
    }

    /// Returns this rank's number in the context, 0 to `size() - 1`.
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// Returns the number of ranks of the context.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// Returns the rank of the run for a rank of the context.
    ///
    /// # Errors
    /// [`Error::InvalidRank`].
    #[inline]
    pub fn run_rank(&self, rank: usize) -> Result<usize> {
        if rank >= self.0.size {
            return Err(Error::InvalidRank { rank, size: self.0.size });
        }
        Ok(self.0.members.as_ref().map_or(rank, |members| members.run_ranks[rank]))
    }

    /// Returns the rank of the context for a rank of the run, which must be a member.
    #[inline]
    pub(crate) fn own_rank(&self, run_rank: usize) -> usize {
        self.0.members.as_ref().map_or(run_rank, |members| members.own_ranks[run_rank] as usize)
    }

    /// Returns the context number of messages that programs send.
    #[inline]
    pub(crate) fn of_programs(&self) -> u32 {
        2 * self.0.number
    }

    /// Returns the context number of messages inside collectives.
    #[inline]
    pub(crate) fn of_collectives(&self) -> u32 {
        2 * self.0.number + 1
    }

    /// Returns the members that share a host, if the fabric provides them.
    pub(crate) fn hosts(&self) -> Option<&HostMap> {
        self.0.hosts.as_ref()
    }

    /// Returns where the fabric keeps what it knows of the context.
    #[inline]
    pub fn place(&self) -> ContextPlace {
        self.0.place
    }
}

/// Context numbers that no other rank proposes.
#[derive(Debug)]
pub struct ContextNumbers {
    next: u64,
    rank: u64,
    size: u64,
}

impl ContextNumbers {
    /// Creates the numbers of rank `rank` of `size`. Number 0 is the context of all ranks, and the first `kept` numbers
    /// are never proposed.
    pub fn new(rank: usize, size: usize, kept: u32) -> Self {
        ContextNumbers {
            next: u64::from(kept).div_ceil(size as u64),
            rank: rank as u64,
            size: size as u64,
        }
    }

    /// Returns the number that this rank proposes for its next context. If `take`, the number is not proposed again.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when all numbers are used up.
    pub fn propose(&mut self, take: bool) -> Result<u32> {
        let number = self.next * self.size + self.rank;
        if number > LARGEST_NUMBER {
            return Err(Error::Unsupported {
                fabric: "this run".into(),
                what: format!("make another context: {LARGEST_NUMBER} numbers are used up"),
            });
        }
        self.next += u64::from(take);
        Ok(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_context_and_of_the_run_are_distinguished() {
        let context = Context::of(7, ContextPlace(1), vec![4, 1, 3], 2, 5, |_| None);
        assert_eq!((context.rank(), context.size()), (2, 3));
        assert_eq!(
            (0..3).map(|rank| context.run_rank(rank).unwrap()).collect::<Vec<_>>(),
            [4, 1, 3]
        );
        assert_eq!([4, 1, 3].map(|member| context.own_rank(member)), [0, 1, 2]);
        assert_eq!(context.run_rank(3), Err(Error::InvalidRank { rank: 3, size: 3 }));
        assert_eq!((context.of_programs(), context.of_collectives()), (14, 15));
    }

    #[test]
    fn no_two_ranks_allocate_the_same_number() {
        let mut numbers: Vec<_> = (0..3).map(|rank| ContextNumbers::new(rank, 3, 2)).collect();
        let mut given = Vec::new();
        for _ in 0..4 {
            given.extend(numbers.iter_mut().map(|one| one.propose(true).unwrap()));
        }
        given.sort_unstable();
        // Numbers 0 and 1 are kept, and with them the rest of the first round of three ranks.
        assert_eq!(given, (3..15).collect::<Vec<u32>>());
        assert_eq!(numbers[0].propose(false), numbers[0].propose(false));
    }

    #[test]
    fn numbers_end_before_contexts_of_messages_would_meet() {
        let mut numbers = ContextNumbers { next: u64::from(u32::MAX), rank: 0, size: 1 };
        assert!(matches!(numbers.propose(true), Err(Error::Unsupported { .. })));
    }
}
