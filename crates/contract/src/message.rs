//! What selects a message: who sent it, and its tag.

use std::fmt;

use crate::{Error, Result};

/// A label that sender and receiver agree on, from 0 to [`Tag::MAX`].
///
/// The values above are kept for collectives, so that a wildcard receive can never take a collective's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(u32);

/// The rank that a receive takes messages from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Whichever rank sends a matching message first.
    Any,
    /// This rank only.
    Rank(usize),
}

/// The tags that a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagSelector {
    /// Every user's tag; never one kept for collectives.
    Any,
    /// This tag only.
    Is(Tag),
    /// Every tag kept for collectives; never a user's. A collective receives with it, and so sees a message of another
    /// collective instead of waiting for ever. Programs have no use for it.
    AnyReserved,
}

/// What is known of a message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The rank that sent it.
    pub source: usize,
    /// Its tag.
    pub tag: Tag,
    /// Its length in bytes.
    pub bytes: usize,
}

impl Tag {
    /// The largest tag that a program may use.
    pub const MAX: u32 = (1 << 31) - 1;

    /// Returns the tag `value`.
    ///
    /// # Panics
    /// If `value` is above [`Tag::MAX`]; for a value that is not a constant use [`Tag::checked`].
    pub const fn new(value: u32) -> Self {
        assert!(value <= Tag::MAX, "a tag is at most Tag::MAX");
        Tag(value)
    }

    /// Returns the tag `value`, or [`Error::InvalidTag`] above [`Tag::MAX`].
    pub fn checked(value: u32) -> Result<Self> {
        if value <= Tag::MAX { Ok(Tag(value)) } else { Err(Error::InvalidTag { tag: value }) }
    }

    /// Returns a tag out of reach of user programs, for messages inside a collective. `value` is below 2^20, which
    /// leaves a fabric that maps tags onto a smaller space some room.
    pub(crate) const fn reserved(value: u32) -> Self {
        Tag(value | (Tag::MAX + 1))
    }

    /// Returns the bare number, as a fabric puts it on the wire.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Returns the tag with this bare number, reserved ones included: for fabrics that read it off the wire.
    pub const fn from_wire(value: u32) -> Self {
        Tag(value)
    }

    /// Returns whether a wildcard may match it.
    pub const fn is_reserved(self) -> bool {
        self.0 > Tag::MAX
    }
}

impl Source {
    /// Returns whether a message from `rank` is accepted.
    pub fn accepts(self, rank: usize) -> bool {
        match self {
            Source::Any => true,
            Source::Rank(wanted) => wanted == rank,
        }
    }
}

impl TagSelector {
    /// Returns whether a message with `tag` is accepted.
    pub fn accepts(self, tag: Tag) -> bool {
        match self {
            TagSelector::Any => !tag.is_reserved(),
            TagSelector::Is(wanted) => wanted == tag,
            TagSelector::AnyReserved => tag.is_reserved(),
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reserved() {
            write!(f, "the tag of {}", crate::collective::describe(*self))
        } else {
            write!(f, "tag {}", self.0)
        }
    }
}

impl fmt::Display for TagSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TagSelector::Any => write!(f, "any tag"),
            TagSelector::Is(tag) => tag.fmt(f),
            TagSelector::AnyReserved => write!(f, "a collective's message"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Any => write!(f, "any rank"),
            Source::Rank(rank) => write!(f, "rank {rank}"),
        }
    }
}

impl From<Tag> for TagSelector {
    fn from(tag: Tag) -> Self {
        TagSelector::Is(tag)
    }
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Source::Rank(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_never_takes_a_reserved_tag() {
        assert!(TagSelector::Any.accepts(Tag::new(Tag::MAX)));
        assert!(!TagSelector::Any.accepts(Tag::reserved(0)));
        assert!(TagSelector::Is(Tag::reserved(7)).accepts(Tag::reserved(7)));
    }

    #[test]
    fn the_wildcard_of_collectives_never_takes_a_users_tag() {
        assert!(TagSelector::AnyReserved.accepts(Tag::reserved(0)));
        assert!(!TagSelector::AnyReserved.accepts(Tag::new(Tag::MAX)));
    }

    #[test]
    fn tags_beyond_the_largest_are_refused() {
        assert_eq!(Tag::checked(Tag::MAX + 1), Err(Error::InvalidTag { tag: 1 << 31 }));
        assert_eq!(Tag::checked(3), Ok(Tag::new(3)));
    }
}
