//! An area cut into blocks that stand in the order of the members.

use std::ops::Range;
use std::rc::Rc;

/// Blocks, one for each member, one behind the other.
#[derive(Clone, Debug)]
pub struct Blocks(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Of one length, but that the last ones may be shorter or empty.
    Equal { count: usize, each: usize, total: usize },
    /// Where each begins, and where the last ends.
    Listed(Rc<[usize]>),
}

impl Blocks {
    /// `count` blocks of `each` units.
    pub fn equal(count: usize, each: usize) -> Self {
        Blocks(Kind::Equal { count, each, total: count * each })
    }

    /// `total` units in `count` blocks, as equal as whole units allow.
    pub fn split(count: usize, total: usize) -> Self {
        Blocks(Kind::Equal { count, each: total.div_ceil(count), total })
    }

    /// Blocks of these lengths.
    pub fn of_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0;
        let ends = lengths.into_iter().map(|length| {
            end += length;
            end
        });
        Blocks(Kind::Listed(std::iter::once(0).chain(ends).collect()))
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        match &self.0 {
            Kind::Equal { count, .. } => *count,
            Kind::Listed(places) => places.len() - 1,
        }
    }

    /// Returns whether they are of one length, but for the last ones, and lie in one piece.
    pub fn are_equal(&self) -> bool {
        matches!(self.0, Kind::Equal { .. })
    }

    /// Returns where block `index` begins; that after the last is the end.
    fn start(&self, index: usize) -> usize {
        match &self.0 {
            Kind::Equal { each, total, .. } => (index * each).min(*total),
            Kind::Listed(places) => places[index],
        }
    }

    /// Returns how many units all of them have.
    pub fn total(&self) -> usize {
        self.start(self.count())
    }

    /// Returns the longest.
    pub fn longest(&self) -> usize {
        match &self.0 {
            Kind::Equal { each, .. } => *each,
            Kind::Listed(places) => {
                places.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
            }
        }
    }

    /// Returns where one stands.
    pub fn one(&self, index: usize) -> Range<usize> {
        self.start(index)..self.start(index + 1)
    }

    /// Returns where some that follow each other stand.
    pub fn some(&self, blocks: Range<usize>) -> Range<usize> {
        self.start(blocks.start)..self.start(blocks.end)
    }

    /// Returns where `length` blocks from `first` on stand, around the end: one range, or two of which the second
    /// begins at 0.
    pub(crate) fn around(&self, first: usize, length: usize) -> (Range<usize>, Range<usize>) {
        let first = first % self.count();
        let end = first + length;
        let wrapped = end.saturating_sub(self.count());
        (self.some(first..end.min(self.count())), self.some(0..wrapped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_around_the_end_are_two_ranges() {
        // Ten units in four blocks: three, three, three and one.
        let blocks = Blocks::split(4, 10);
        assert_eq!((blocks.total(), blocks.longest()), (10, 3));
        assert_eq!(blocks.one(3), 9..10);
        assert_eq!(blocks.around(3, 2), (9..10, 0..3));
        assert_eq!(blocks.around(5, 2), (3..9, 0..0));
    }

    #[test]
    fn blocks_of_any_lengths_stand_one_behind_the_other() {
        let blocks = Blocks::of_lengths([2, 0, 5]);
        assert_eq!((blocks.count(), blocks.total(), blocks.longest()), (3, 7, 5));
        assert_eq!((blocks.one(1), blocks.one(2), blocks.some(0..2)), (2..2, 2..7, 0..2));
    }
}
