//! An area divided into blocks in the order of the members.

use std::ops::Range;
use std::rc::Rc;

/// Blocks, one for each member, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Blocks of one length, except that the last ones may be shorter or empty.
    Equal { count: usize, each: usize, total: usize },
    /// Start of each block, and the end of the last.
    Listed(Rc<[usize]>),
}

impl Blocks {
    /// Returns `count` blocks of `each` units.
    pub fn equal(count: usize, each: usize) -> Self {
        Blocks(Kind::Equal { count, each, total: count * each })
    }

    /// Returns `total` units in `count` blocks, as equal as whole units allow.
    pub fn split(count: usize, total: usize) -> Self {
        Blocks(Kind::Equal { count, each: total.div_ceil(count), total })
    }

    /// Returns blocks of the given lengths.
    pub fn of_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0;
        let ends = lengths.into_iter().map(|length| {
            end += length;
            end
        });
        Blocks(Kind::Listed(std::iter::once(0).chain(ends).collect()))
    }

    /// Returns the number of blocks.
    pub fn count(&self) -> usize {
        match &self.0 {
            Kind::Equal { count, .. } => *count,
            Kind::Listed(places) => places.len() - 1,
        }
    }

    /// Returns whether all blocks except the last ones have one length and are contiguous.
    pub fn are_equal(&self) -> bool {
        matches!(self.0, Kind::Equal { .. })
    }

    /// Returns the start of block `index`; the start of the block after the last is the end.
    fn start(&self, index: usize) -> usize {
        match &self.0 {
            Kind::Equal { each, total, .. } => (index * each).min(*total),
            Kind::Listed(places) => places[index],
        }
    }

    /// Returns the number of units of all blocks.
    pub fn total(&self) -> usize {
        self.start(self.count())
    }

    /// Returns the length of the longest block.
    pub fn longest(&self) -> usize {
        match &self.0 {
            Kind::Equal { each, .. } => *each,
            Kind::Listed(places) => {
                places.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
            }
        }
    }

    /// Returns the units of one block.
    pub fn one(&self, index: usize) -> Range<usize> {
        self.start(index)..self.start(index + 1)
    }

    /// Returns the units of consecutive blocks.
    pub fn some(&self, blocks: Range<usize>) -> Range<usize> {
        self.start(blocks.start)..self.start(blocks.end)
    }

    /// Returns the units of `length` blocks from `first` on, wrapping around the end: one range, or two, the second of
    /// which begins at 0.
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
    fn blocks_of_arbitrary_lengths_are_consecutive() {
        let blocks = Blocks::of_lengths([2, 0, 5]);
        assert_eq!((blocks.count(), blocks.total(), blocks.longest()), (3, 7, 5));
        assert_eq!((blocks.one(1), blocks.one(2), blocks.some(0..2)), (2..2, 2..7, 0..2));
    }
}
