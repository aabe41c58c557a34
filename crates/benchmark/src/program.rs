//! One event of a benchmark, and the ranks that time it.

use crate::data::{Blocks, Data, Received};
use crate::ranks::Placement;
use crate::shape::Shape;

/// Part of a benchmark's declaration that measuring needs.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    /// Name of the benchmark in records.
    pub(crate) name: &'static str,
    /// Name of its group in records.
    pub(crate) group: &'static str,
    /// The required placement of its ranks.
    pub(crate) placement: Placement,
    /// The event that it times.
    pub(crate) program: Program,
    /// True if a measurement can be combined from repetitions.
    pub(crate) repeatable: bool,
}

/// A program for the timed loop: the same functions run on every rank.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// Ranks that time an event.
    pub(crate) timing: Timing,
    /// True if an event begins only when the previous one is over on every rank that affects the time. Only then is the
    /// time of several events in a row the sum of their times. A broadcast's root, for example, does not wait for the
    /// other ranks.
    pub(crate) in_a_row: bool,
    /// Numbers of blocks of `size` bytes from which a rank sends and into which it receives.
    pub(crate) blocks: fn(&Shape) -> Blocks,
    /// One event.
    pub(crate) event: fn(&mut dyn contract::Rank, &mut Data) -> contract::Result<()>,
    /// Contents of the blocks after an event.
    pub(crate) received: Received,
    /// The `time` of a measurement is an event's divided by this: 2 for half a round trip.
    pub(crate) parts: fn(&Shape) -> u64,
    /// Number of bytes that a `time` moves: the `rate` is this over the time. No rate if 0.
    pub(crate) moved: fn(&Shape) -> u64,
    /// True if it needs memory that all ranks share.
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
    /// Both ranks of the pair, from an agreed start to their own returns; the slower one counts. Other ranks send
    /// nothing meanwhile.
    SlowerOfPair,
}
