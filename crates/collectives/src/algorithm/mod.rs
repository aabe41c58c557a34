//! The algorithms, a file for each collective. Each makes the schedule of one member; all members give the same arguments
//! but for their own number.

pub mod all_to_all;
pub mod allgather;
pub mod allreduce;
pub mod barrier;
pub mod between;
pub mod broadcast;
mod combining;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;
pub mod two_level;

use std::ops::Range;

use crate::{Area, Membership, Message, Part, Schedule};

/// Where a member's own data are at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// In the input.
    InInput,
    /// In the output, in their place already.
    InOutput,
}

impl Own {
    /// Copies the own block to its place, unless it is there.
    fn copy(self, schedule: &mut Schedule, from: Part, to: Part) {
        if self == Own::InInput {
            schedule.copy(from, to);
        }
    }

    /// Returns the own data, from the beginning of their area.
    fn part(self, length: usize) -> Part {
        match self {
            Own::InInput => Part::of(Area::Input, 0..length),
            Own::InOutput => Part::of(Area::Output, 0..length),
        }
    }
}

/// A run of blocks that may go around the end of its area, with its place in a packed copy.
struct Around {
    packed: Part,
    /// Each range in its place, and where it is in the copy.
    ranges: [(Part, Part); 2],
}

impl Around {
    fn new(
        schedule: &mut Schedule,
        area: Area,
        (first, second): (Range<usize>, Range<usize>),
    ) -> Self {
        let packed = schedule.room(first.len() + second.len());
        let behind = packed.within(first.len()..packed.length);
        let before = packed.within(0..first.len());
        let ranges = [(Part::of(area, first), before), (Part::of(area, second), behind)];
        Around { packed, ranges }
    }

    /// Copies the blocks out of their place.
    fn pack(&self, schedule: &mut Schedule) {
        self.ranges.iter().for_each(|&(place, packed)| schedule.copy(place, packed));
    }

    /// Copies the blocks to their place.
    fn unpack(&self, schedule: &mut Schedule) {
        self.ranges.iter().for_each(|&(place, packed)| schedule.copy(packed, place));
    }
}

/// Returns a message to every other member, beginning with the next one, so that not all send to the same member at
/// once.
fn to_others(group: Membership, part: impl Fn(usize) -> Part) -> impl Iterator<Item = Message> {
    (1..group.size).map(move |distance| {
        let other = group.after(distance);
        Message::new(other, part(other))
    })
}

/// Returns a message from every other member, in the order in which [`to_others`] of the others comes here.
fn from_others(group: Membership, part: impl Fn(usize) -> Part) -> impl Iterator<Item = Message> {
    (1..group.size).map(move |distance| {
        let other = group.before(distance);
        Message::new(other, part(other))
    })
}
