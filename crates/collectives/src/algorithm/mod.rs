//! The algorithms, one file for each collective. Each builds the schedule of one member; all members pass the same
//! arguments except for their own number.

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

/// Location of a member's own data at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// The input.
    InInput,
    /// The final position in the output.
    InOutput,
}

impl Own {
    /// Appends a copy of the own block to its final position, unless it is already there.
    fn copy(self, schedule: &mut Schedule, from: Part, to: Part) {
        if self == Own::InInput {
            schedule.copy(from, to);
        }
    }

    /// Returns the part of the own data, from the beginning of its area.
    fn part(self, length: usize) -> Part {
        match self {
            Own::InInput => Part::of(Area::Input, 0..length),
            Own::InOutput => Part::of(Area::Output, 0..length),
        }
    }
}

/// A run of blocks that may wrap around the end of its area, with its place in a packed copy.
struct Around {
    packed: Part,
    /// Each range with its place in the copy.
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

    /// Appends copies of the blocks into the packed copy.
    fn pack(&self, schedule: &mut Schedule) {
        self.ranges.iter().for_each(|&(place, packed)| schedule.copy(place, packed));
    }

    /// Appends copies of the blocks out of the packed copy.
    fn unpack(&self, schedule: &mut Schedule) {
        self.ranges.iter().for_each(|&(place, packed)| schedule.copy(packed, place));
    }
}

/// Returns a message to every other member, beginning with the next, so that not all members send to the same one at
/// once.
fn to_others(group: Membership, part: impl Fn(usize) -> Part) -> impl Iterator<Item = Message> {
    (1..group.size).map(move |distance| {
        let other = group.after(distance);
        Message::new(other, part(other))
    })
}

/// Returns a message from every other member, in the order in which their [`to_others`] messages reach this member.
fn from_others(group: Membership, part: impl Fn(usize) -> Part) -> impl Iterator<Item = Message> {
    (1..group.size).map(move |distance| {
        let other = group.before(distance);
        Message::new(other, part(other))
    })
}
