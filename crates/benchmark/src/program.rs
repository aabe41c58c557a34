//! One event of a benchmark, and the ranks that time it.

use crate::data::{Blocks, Data, Received};
use crate::ranks::Placement;
use crate::shape::Shape;

/// The part of a benchmark's declaration that measuring needs.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    /// The benchmark's name, as records have it.
    pub(crate) name: &'static str,
    /// Its group, as records have it.
    pub(crate) group: &'static str,
    /// The required placement of its ranks.
    pub(crate) placement: Placement,
    /// The event that it times.
    pub(crate) program: Program,
    /// Whether a measurement can be put together from repetitions.
    pub(crate) repeatable: bool,
}

/// A program for the timed loop: the same functions run on every rank.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// The ranks that time.
    pub(crate) timing: Timing,
    /// Whether an event begins only when the previous one is over on every rank that matters. Only then is the time of
    /// several events in a row the sum of their times. A broadcast's root, for example, does not wait for the other
    /// ranks.
    pub(crate) in_a_row: bool,
    /// The number of blocks of `size` bytes that a rank sends from and receives into.
    pub(crate) blocks: fn(&Shape) -> Blocks,
    /// One event.
    pub(crate) event: fn(&mut dyn contract::Rank, &mut Data) -> contract::Result<()>,
    /// The contents of the blocks after an event.
    pub(crate) received: Received,
    /// The `time` of a measurement is an event's divided by this: 2 for half a round trip.
    pub(crate) parts: fn(&Shape) -> u64,
    /// The bytes that a `time` moves: the `rate` is this over the time. No rate where 0.
    pub(crate) moved: fn(&Shape) -> u64,
    /// Whether it needs memory that all ranks see.
    pub(crate) needs_shared_line: bool,
}

/// The ranks that time an event, and the beginning and end of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    /// The first rank of the pair, from its call to its return.
    First,
    /// From the call of the first rank of the pair to the return of the second, by their common clock. The second rank
    /// reports to the first that it is ready before each event.
    OneWay,
    /// Every rank, from a synchronised start to its own return; the slowest counts.
    Slowest,
    /// Both ranks of the pair, from a start on which the two agree to the own return; the slower one counts. Other
    /// ranks send nothing meanwhile.
    SlowerOfPair,
}
