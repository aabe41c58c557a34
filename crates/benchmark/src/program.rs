//! What one event of a benchmark is, and who times it.

use crate::data::{Blocks, Data, Received};
use crate::ranks::Placement;
use crate::shape::Shape;

/// What measuring needs of a benchmark's declaration.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    /// The benchmark's name, as records have it.
    pub(crate) name: &'static str,
    /// Its group, as records have it.
    pub(crate) group: &'static str,
    /// Where its ranks must be.
    pub(crate) placement: Placement,
    /// What it times.
    pub(crate) program: Program,
    /// Whether a measurement can be put together from repetitions.
    pub(crate) repeatable: bool,
}

/// A program for the timed loop: the same functions run on every rank.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// Who times.
    pub(crate) timing: Timing,
    /// Whether an event begins only when the previous one is over on every rank that matters. Only then is the time of
    /// several events in a row the sum of their times. A broadcast's root, for example, does not wait for the other
    /// ranks.
    pub(crate) in_a_row: bool,
    /// How many blocks of `size` bytes a rank sends from and receives into.
    pub(crate) blocks: fn(&Shape) -> Blocks,
    /// One event.
    pub(crate) event: fn(&mut dyn contract::Rank, &mut Data) -> contract::Result<()>,
    /// What the blocks hold after an event.
    pub(crate) received: Received,
    /// The `time` of a measurement is an event's divided by this: 2 for half a round trip.
    pub(crate) parts: fn(&Shape) -> u64,
    /// The bytes that a `time` moves: the `rate` is this over the time. No rate where 0.
    pub(crate) moved: fn(&Shape) -> u64,
    /// Whether it needs memory that all ranks see.
    pub(crate) needs_shared_line: bool,
}

/// Who times an event, and from when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    /// The first rank of the pair, from its call to its return.
    First,
    /// From the call of the first rank of the pair to the return of the second, by their common clock. The second rank
    /// tells the first that it is ready before each event.
    OneWay,
    /// Every rank, from a synchronised start to its own return; the slowest counts.
    Slowest,
}
