//! Numbers that another process has written, in shared memory or in a message.

use std::fmt;
use std::ops::RangeInclusive;

/// A number that another process has written: it may be any number, whatever a correct process would write.
///
/// The only way to its value is a check, so that no length, index or place of another process is used before it is
/// known to be possible. A number that means something to its writer alone can be [sent back](Untrusted::sent_back).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Untrusted<T>(T);

impl<T: Copy + PartialOrd> Untrusted<T> {
    /// Returns the number if it is less than `end`, as an index of `end` things is.
    #[inline(always)]
    pub fn below(self, end: T) -> Option<T> {
        self.accepted(|number| *number < end)
    }

    /// Returns the number if it is at most `longest`.
    #[inline(always)]
    pub fn at_most(self, longest: T) -> Option<T> {
        self.accepted(|number| *number <= longest)
    }

    /// Returns the number if it is in `range`.
    #[inline(always)]
    pub fn within(self, range: RangeInclusive<T>) -> Option<T> {
        self.accepted(|number| range.contains(number))
    }

    /// Returns whether it is this number.
    #[inline(always)]
    pub fn is(self, expected: T) -> bool {
        self.0 == expected
    }
}

impl<T: Copy> Untrusted<T> {
    /// Marks what another process has written.
    #[inline(always)]
    pub const fn new(number: T) -> Self {
        Untrusted(number)
    }

    /// Returns the number to send it back to its writer, or where every number is right.
    #[inline(always)]
    pub const fn sent_back(self) -> T {
        self.0
    }

    /// Returns the number if `is_possible` says so.
    #[inline(always)]
    pub fn accepted(self, is_possible: impl FnOnce(&T) -> bool) -> Option<T> {
        if is_possible(&self.0) { Some(self.0) } else { None }
    }
}

impl Untrusted<u32> {
    /// Joins the halves of a length or of a place, the low half first.
    #[inline(always)]
    pub const fn joined(low: Self, high: Self) -> Untrusted<usize> {
        Untrusted(low.0 as usize | (high.0 as usize) << 32)
    }
}

/// Messages about it may show any number.
impl<T: fmt::Debug> fmt::Debug for Untrusted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_out_by_a_check_only() {
        let seven = Untrusted::new(7_usize);
        assert_eq!((seven.below(7), seven.below(8)), (None, Some(7)));
        assert_eq!((seven.at_most(6), seven.at_most(7)), (None, Some(7)));
        assert_eq!((seven.within(8..=9), seven.within(7..=7)), (None, Some(7)));
        assert!(seven.is(7) && !seven.is(8));
        assert_eq!(seven.accepted(|number| number % 2 == 0), None);
        let halves = (Untrusted::new(5), Untrusted::new(1));
        assert!(Untrusted::joined(halves.0, halves.1).is(1 << 32 | 5));
        assert_eq!(format!("{seven:?}"), "7");
    }
}
