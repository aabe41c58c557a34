//! Groups: ordered lists of ranks of the run.

use std::rc::Rc;

use crate::error::{Error, ErrorClass, Result, ensure};

/// Ranks of the run by rank of the group. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group(Rc<[usize]>);

/// The result of comparing two groups or communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same object, or the same ranks in the same order.
    Identical,
    /// Different communicators with the same ranks in the same order.
    Congruent,
    /// The same ranks in another order.
    Similar,
    /// Different ranks.
    Unequal,
}

/// Every `stride`th rank from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Described above.
pub struct RankRange {
    pub first: i64,
    pub last: i64,
    pub stride: i64,
}

impl From<Vec<usize>> for Group {
    fn from(members: Vec<usize>) -> Self {
        Group(members.into())
    }
}

impl Group {
    /// Creates a group without members.
    pub fn empty() -> Self {
        Group::default()
    }

    /// Creates the group of all ranks of a run of this size.
    pub fn world(size: usize) -> Self {
        (0..size).collect::<Vec<_>>().into()
    }

    /// Returns the ranks of the run, by rank of the group.
    #[inline(always)]
    pub fn members(&self) -> &[usize] {
        &self.0
    }

    /// Returns the number of members.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the ranks of the group are those of the run.
    pub fn is_identity(&self) -> bool {
        self.0.iter().enumerate().all(|(rank, &member)| rank == member)
    }

    /// Returns the rank in the group for a rank of the run.
    #[inline]
    pub fn rank_of(&self, member: usize) -> Option<usize> {
        self.0.iter().position(|&one| one == member)
    }

    /// Returns the rank of the run for a rank of the group.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`].
    pub fn member(&self, rank: i64) -> Result<usize> {
        Ok(self.0[self.check(rank)?])
    }

    /// Checks a rank of the group.
    fn check(&self, rank: i64) -> Result<usize> {
        let in_range = usize::try_from(rank).ok().filter(|&rank| rank < self.size());
        in_range.ok_or_else(|| {
            Error::new(ErrorClass::Rank, format!("rank {rank} of a group of {}", self.size()))
        })
    }

    /// Returns the rank in another group of the process that has `rank` here, or `None` if it is not a member there.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`] if there is no such rank here.
    pub fn translate(&self, rank: i64, to: &Group) -> Result<Option<usize>> {
        Ok(to.rank_of(self.member(rank)?))
    }

    /// Compares it with another group.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self == other {
            return Comparison::Identical;
        }
        let sorted = |group: &Group| {
            let mut sorted = group.0.to_vec();
            sorted.sort_unstable();
            sorted
        };
        if sorted(self) == sorted(other) { Comparison::Similar } else { Comparison::Unequal }
    }

    /// Returns its members, then those of the other that it does not have.
    #[must_use]
    pub fn union(&self, other: &Group) -> Group {
        let more = other.0.iter().filter(|member| !self.0.contains(member));
        self.0.iter().chain(more).copied().collect::<Vec<_>>().into()
    }

    /// Returns its members that are also in the other.
    #[must_use]
    pub fn intersection(&self, other: &Group) -> Group {
        self.keep(|member| other.0.contains(&member))
    }

    /// Returns its members that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Group) -> Group {
        self.keep(|member| !other.0.contains(&member))
    }

    fn keep(&self, wanted: impl Fn(usize) -> bool) -> Group {
        self.0.iter().copied().filter(|&member| wanted(member)).collect::<Vec<_>>().into()
    }

    /// Returns the ranks of several ranges, one after the other, for [`include`](Group::include) and
    /// [`exclude`](Group::exclude).
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a stride of 0, and [`ErrorClass::Rank`] for a rank that does not exist.
    pub fn ranks_in(&self, ranges: &[RankRange]) -> Result<Vec<i64>> {
        let mut ranks = Vec::new();
        for &RankRange { first, last, stride } in ranges {
            ensure!(stride != 0, ErrorClass::Argument, "a range with stride 0");
            let mut rank = first;
            while if stride > 0 { rank <= last } else { rank >= last } {
                self.check(rank)?;
                ranks.push(rank);
                rank += stride;
            }
        }
        Ok(ranks)
    }

    /// Checks that ranks of the group are distinct.
    fn distinct(&self, ranks: &[i64]) -> Result<Vec<usize>> {
        let mut named = Vec::new();
        for &rank in ranks {
            let rank_in_range = self.check(rank)?;
            ensure!(
                !named.contains(&rank_in_range),
                ErrorClass::Rank,
                "rank {rank} is named twice"
            );
            named.push(rank_in_range);
        }
        Ok(named)
    }

    /// Returns the members with these ranks, in this order.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`] for a rank that does not exist, or is named twice.
    pub fn include(&self, ranks: &[i64]) -> Result<Group> {
        let named = self.distinct(ranks)?;
        Ok(named.into_iter().map(|rank| self.0[rank]).collect::<Vec<_>>().into())
    }

    /// Returns the members except those with these ranks.
    ///
    /// # Errors
    /// As for [`include`](Group::include).
    pub fn exclude(&self, ranks: &[i64]) -> Result<Group> {
        let named = self.distinct(ranks)?;
        let kept = (0..self.size()).filter(|rank| !named.contains(rank));
        Ok(kept.map(|rank| self.0[rank]).collect::<Vec<_>>().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[usize]) -> Group {
        members.to_vec().into()
    }

    #[test]
    fn sets_keep_the_order_of_the_first_group() {
        let (one, other) = (group(&[5, 1, 3]), group(&[3, 4, 5]));
        assert_eq!(one.union(&other), group(&[5, 1, 3, 4]));
        assert_eq!(one.intersection(&other), group(&[5, 3]));
        assert_eq!(one.difference(&other), group(&[1]));
        assert!(one.difference(&one).is_empty());
    }

    #[test]
    fn groups_compare_by_members_and_order() {
        let one = group(&[2, 0]);
        assert_eq!(one.compare(&group(&[2, 0])), Comparison::Identical);
        assert_eq!(one.compare(&group(&[0, 2])), Comparison::Similar);
        assert_eq!(one.compare(&group(&[0, 1])), Comparison::Unequal);
        assert_eq!(one.compare(&Group::empty()), Comparison::Unequal);
    }

    #[test]
    fn ranks_are_translated_and_those_that_are_not_there_refused() {
        let (one, other) = (group(&[5, 1, 3]), group(&[3, 5]));
        assert_eq!(
            [0, 1, 2].map(|rank| one.translate(rank, &other).unwrap()),
            [Some(1), None, Some(0)]
        );
        assert_eq!((one.member(1), one.rank_of(3), one.rank_of(2)), (Ok(1), Some(2), None));
        for wrong in [-1, 3] {
            assert_eq!(one.member(wrong).unwrap_err().class, ErrorClass::Rank);
        }
        assert_eq!((one.is_identity(), Group::world(4).is_identity()), (false, true));
    }

    #[test]
    fn members_are_picked_by_rank_and_by_range() {
        let all = Group::world(8);
        assert_eq!(all.include(&[6, 0]), Ok(group(&[6, 0])));
        assert_eq!(all.exclude(&[6, 0]), Ok(group(&[1, 2, 3, 4, 5, 7])));
        assert_eq!(all.include(&[1, 1]).unwrap_err().class, ErrorClass::Rank);
        assert_eq!(all.exclude(&[8]).unwrap_err().class, ErrorClass::Rank);
        let range = |first, last, stride| RankRange { first, last, stride };
        let ranges = [range(1, 6, 2), range(4, 0, -2), range(3, 2, 1)];
        assert_eq!(all.ranks_in(&ranges), Ok(vec![1, 3, 5, 4, 2, 0]));
        let endless = all.ranks_in(&[range(0, 1, 0)]).unwrap_err();
        assert_eq!(endless.class, ErrorClass::Argument);
        // Refused at the first rank that does not exist, however many would follow.
        let beyond = all.ranks_in(&[range(0, i64::MAX, 1)]).unwrap_err();
        assert_eq!(beyond.message, "rank 8 of a group of 8");
    }
}
