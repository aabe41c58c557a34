//! The contract's tags as those of an MPI, whose largest may be smaller.

use contract::{Error, Result, Tag};

/// So many of the contract's largest tags keep a place of their own at the top of the MPI's: programs count tags from 0
/// up, and those that must not meet them from the largest down.
const KEPT: u32 = 1024;
/// Tags kept for collectives are below this.
const RESERVED: u32 = 1 << 20;

/// Both ways between the contract's tags and an MPI's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags {
    /// The MPI's largest tag.
    tag_max: u32,
}

impl Tags {
    pub(crate) fn new(tag_max: u32) -> Self {
        Tags { tag_max }
    }

    /// Whether the tags of collectives fit.
    pub(crate) fn reserved_fit(&self) -> bool {
        self.tag_max >= RESERVED - 1
    }

    /// The MPI's tag for a user's one.
    #[inline]
    pub(crate) fn to_mpi(self, tag: Tag) -> Result<i32> {
        let value = tag.value() & Tag::MAX;
        if tag.is_reserved() || value + KEPT <= self.tag_max {
            return Ok(value as i32);
        }
        let from_top = Tag::MAX - value;
        if self.tag_max == Tag::MAX || from_top < KEPT {
            return Ok((self.tag_max - from_top) as i32);
        }
        Err(Error::Unsupported {
            fabric: "this MPI".into(),
            what: format!(
                "carry tag {value}: its tags end at {}, so those from 0 to {} and the {KEPT} largest can be used",
                self.tag_max,
                self.tag_max - KEPT
            ),
        })
    }

    /// The contract's tag for an MPI's one.
    #[inline]
    pub(crate) fn of_mpi(self, tag: i32, reserved: bool) -> Tag {
        let value = tag as u32;
        if reserved {
            Tag::from_wire(value | (Tag::MAX + 1))
        } else if value + KEPT <= self.tag_max {
            Tag::from_wire(value)
        } else {
            Tag::from_wire(Tag::MAX - (self.tag_max - value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_that_can_be_carried_comes_back_as_itself() {
        for tag_max in [32_767, (1 << 20) - 1, (1 << 28) - 1, Tag::MAX] {
            let tags = Tags::new(tag_max);
            let mut carried = std::collections::BTreeMap::new();
            let low = 0..3000;
            let high = Tag::MAX - 3000..=Tag::MAX;
            let middle = (tag_max - 2000..=tag_max).chain(tag_max.saturating_sub(KEPT)..=tag_max);
            for value in low.chain(high).chain(middle) {
                let tag = Tag::new(value);
                if let Ok(wire) = tags.to_mpi(tag) {
                    assert!(wire >= 0 && wire as u32 <= tag_max);
                    assert_eq!(tags.of_mpi(wire, false), tag, "tag {value} of {tag_max}");
                    assert_eq!(*carried.entry(wire).or_insert(value), value, "two as {wire}");
                }
            }
            assert!(tags.to_mpi(Tag::new(0)).is_ok() && tags.to_mpi(Tag::new(Tag::MAX)).is_ok());
        }
    }

    #[test]
    fn tags_between_are_refused_by_number() {
        let error = Tags::new(32_767).to_mpi(Tag::new(40_000)).unwrap_err();
        assert!(error.to_string().contains("tag 40000") && error.to_string().contains("31743"));
        assert!(Tags::new(Tag::MAX).to_mpi(Tag::new(Tag::MAX / 2)).is_ok());
    }

    #[test]
    fn the_tags_of_collectives_keep_their_mark() {
        let tags = Tags::new((1 << 20) - 1);
        let tag = Tag::from_wire(Tag::MAX + 1 + 12345);
        assert!(tags.reserved_fit() && !Tags::new(32_767).reserved_fit());
        assert_eq!(tags.of_mpi(tags.to_mpi(tag).unwrap(), true), tag);
    }
}
