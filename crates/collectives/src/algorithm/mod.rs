//! The algorithms, a file for each collective. Each makes the schedule of one member; all members give the same arguments
//! but for their own number.

pub mod all_to_all;
pub mod allgather;
pub mod allreduce;
pub mod barrier;
pub mod broadcast;
mod combining;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;

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

    /// The operand of a reduction.
    fn part(self, length: usize) -> Part {
        match self {
            Own::InInput => Part::of(Area::Input, 0..length),
            Own::InOutput => Part::of(Area::Output, 0..length),
        }
    }
}

/// A message to every other member, beginning with the next one, so that not all send to the same member at once.
fn to_others(group: Membership, part: impl Fn(usize) -> Part) -> impl Iterator<Item = Message> {
    (1..group.size).map(move |distance| {
        let other = group.after(distance);
        Message::new(other, part(other))
    })
}

/// A message from every other member, in the order in which [`to_others`] of the others comes here.
fn from_others(group: Membership, part: impl Fn(usize) -> Part) -> impl Iterator<Item = Message> {
    (1..group.size).map(move |distance| {
        let other = group.before(distance);
        Message::new(other, part(other))
    })
}
