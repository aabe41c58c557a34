//! Mapping of the contract's tags to those of an MPI, whose largest may be smaller.
//!
//! Each context has two communicators, with a different mapping in each. Tags of programs end at [`Tag::MAX`]. The
//! contract's own tags, inside collectives, have the highest bit set, which tags of an MPI cannot represent.

use contract::{Error, Result, Tag};

/// Number of the contract's largest tags that are mapped to the largest tags of the MPI: programs count tags from 0 up,
/// and use the largest for messages that must not match these.
const KEPT: u32 = 1024;
/// Upper limit of the contract's own tags without their highest bit.
const RESERVED: u32 = 1 << 20;

/// Mapping in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags {
    /// Largest tag of the MPI.
    tag_max: u32,
}

impl Tags {
    pub(crate) fn new(tag_max: u32) -> Self {
        Tags { tag_max }
    }

    /// Returns whether the contract's own tags fit.
    pub(crate) fn reserved_fit(&self) -> bool {
        self.tag_max >= RESERVED - 1
    }

    /// Returns the tag of the MPI for a tag of the contract in this context.
    #[inline]
    pub(crate) fn to_mpi(self, context: u32, tag: u32) -> Result<i32> {
        if context.is_multiple_of(2) { self.of_program(tag) } else { self.inside_collective(tag) }
    }

    #[inline]
    fn of_program(self, tag: u32) -> Result<i32> {
        if tag <= Tag::MAX {
            if tag + KEPT <= self.tag_max {
                return Ok(tag as i32);
            }
            let from_top = Tag::MAX - tag;
            if self.tag_max == Tag::MAX || from_top < KEPT {
                return Ok((self.tag_max - from_top) as i32);
            }
        }
        let (largest, count) = (self.tag_max, self.tag_max.saturating_sub(KEPT));
        Err(unsupported(
            tag,
            &format!(
                "its tags end at {largest}, so those from 0 to {count} and the {KEPT} largest can be used"
            ),
        ))
    }

    #[inline]
    fn inside_collective(self, tag: u32) -> Result<i32> {
        let (value, is_reserved) = (tag & Tag::MAX, tag > Tag::MAX);
        let mapped = if is_reserved { value } else { value.saturating_add(RESERVED) };
        if mapped > self.tag_max || (is_reserved && value >= RESERVED) {
            return Err(unsupported(
                tag,
                &format!(
                    "inside collectives it has {RESERVED} tags of the contract, and others up to {}",
                    self.tag_max.saturating_sub(RESERVED)
                ),
            ));
        }
        Ok(mapped as i32)
    }

    /// Returns the tag of the contract for a tag of the MPI in this context.
    #[inline]
    pub(crate) fn of_mpi(self, context: u32, tag: i32) -> u32 {
        let value = tag as u32;
        match (context.is_multiple_of(2), value < RESERVED) {
            (false, true) => value | (Tag::MAX + 1),
            (false, false) => value - RESERVED,
            (true, _) if value + KEPT <= self.tag_max => value,
            (true, _) => Tag::MAX - (self.tag_max - value),
        }
    }
}

#[cold]
fn unsupported(tag: u32, why: &str) -> Error {
    Error::Unsupported { fabric: "this MPI".into(), what: format!("carry tag {tag}: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: u32 = 4;
    const INSIDE: u32 = 5;

    #[test]
    fn each_tag_that_can_be_carried_maps_back_to_itself() {
        for tag_max in [32_767, (1 << 20) - 1, (1 << 28) - 1, Tag::MAX] {
            let tags = Tags::new(tag_max);
            for context in [PROGRAM, INSIDE] {
                let mut carried = std::collections::BTreeMap::new();
                let low = 0..3000;
                let high = Tag::MAX - 3000..=Tag::MAX;
                let middle =
                    (tag_max - 2000..=tag_max).chain(tag_max.saturating_sub(KEPT)..=tag_max);
                let reserved = (0..3000).chain(RESERVED - 3000..RESERVED + 3000);
                let reserved = reserved.map(|value| value | (Tag::MAX + 1));
                for tag in low.chain(high).chain(middle).chain(reserved) {
                    if let Ok(wire) = tags.to_mpi(context, tag) {
                        assert!(wire >= 0 && wire as u32 <= tag_max);
                        assert_eq!(tags.of_mpi(context, wire), tag, "tag {tag} of {tag_max}");
                        assert_eq!(*carried.entry(wire).or_insert(tag), tag, "two as {wire}");
                    }
                }
            }
            assert!(tags.to_mpi(PROGRAM, 0).is_ok() && tags.to_mpi(PROGRAM, Tag::MAX).is_ok());
        }
    }

    #[test]
    fn tags_between_are_refused_by_number() {
        let error = Tags::new(32_767).to_mpi(PROGRAM, 40_000).unwrap_err();
        assert!(error.to_string().contains("tag 40000") && error.to_string().contains("31743"));
        assert!(Tags::new(Tag::MAX).to_mpi(PROGRAM, Tag::MAX / 2).is_ok());
        assert!(Tags::new(Tag::MAX).to_mpi(PROGRAM, Tag::MAX + 1).is_err());
    }

    #[test]
    fn the_tags_of_collectives_fit_from_twenty_bits_on() {
        let last = Tag::MAX + 1 + RESERVED - 1;
        let tags = Tags::new(RESERVED - 1);
        assert!(tags.reserved_fit() && !Tags::new(32_767).reserved_fit());
        assert_eq!(tags.to_mpi(INSIDE, last).map(|wire| tags.of_mpi(INSIDE, wire)), Ok(last));
        assert!(tags.to_mpi(INSIDE, 0).is_err());
        assert_eq!(Tags::new(RESERVED).to_mpi(INSIDE, 0), Ok(RESERVED as i32));
    }
}
