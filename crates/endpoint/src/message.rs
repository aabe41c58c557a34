//! The properties by which a receive selects a message: sender and tag.

use std::fmt;

use collectives::CallId;

use crate::{Error, Result};

/// A label that sender and receiver agree on, from 0 to [`Tag::MAX`].
///
/// Larger values are reserved for collectives, so that a wildcard receive never matches a collective's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(u32);

/// The rank that a receive takes messages from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The first rank that sends a matching message.
    Any,
    /// This rank only.
    Rank(usize),
}

/// The tags that a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagSelector {
    /// Every tag of programs; never a reserved one.
    Any,
    /// This tag only.
    Is(Tag),
    /// Every reserved tag; never a program's. A collective receives with it, so that it detects a message of another
    /// collective instead of waiting for ever. Programs do not need it.
    AnyReserved,
}

/// The properties of an arrived message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Rank of the sender.
    pub source: usize,
    /// Tag of the message.
    pub tag: Tag,
    /// Length in bytes.
    pub bytes: usize,
}

impl Tag {
    /// The largest tag that a program may use.
    pub const MAX: u32 = (1 << 31) - 1;

    /// Creates the tag `value`.
    ///
    /// # Panics
    /// If `value` is above [`Tag::MAX`]. Use [`Tag::checked`] for a value that is not a constant.
    pub const fn new(value: u32) -> Self {
        assert!(value <= Tag::MAX, "a tag is at most Tag::MAX");
        Tag(value)
    }

    /// Creates the tag `value`, or returns [`Error::InvalidTag`] if it is above [`Tag::MAX`].
    pub fn checked(value: u32) -> Result<Self> {
        if value <= Tag::MAX { Ok(Tag(value)) } else { Err(Error::InvalidTag { tag: value }) }
    }

    /// Creates a tag that user programs cannot use, for messages inside a collective. `value` is below 2^20, so that a
    /// fabric can map tags onto a smaller space.
    pub const fn reserved(value: u32) -> Self {
        Tag(value | (Tag::MAX + 1))
    }

    /// Returns the id of the call of a collective's message, as far as the tag holds it.
    pub fn call_id(self) -> Option<CallId> {
        if self.is_reserved() { CallId::from_short(self.0 & Tag::MAX) } else { None }
    }

    /// Returns the raw number, as fabrics transmit it.
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Creates a tag from its raw number, reserved tags included: for fabrics that receive it.
    pub const fn from_wire(value: u32) -> Self {
        Tag(value)
    }

    /// Returns whether the tag is reserved: the wildcard of programs never matches it.
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
        match self.call_id() {
            Some(call) => write!(f, "the tag of {call:?}"),
            None if self.is_reserved() => {
                write!(f, "the tag of a collective of its fabric ({})", self.0 & Tag::MAX)
            }
            None => write!(f, "tag {}", self.0),
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
