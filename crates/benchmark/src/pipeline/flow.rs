//! The state that all parts of a chain on one rank share during a trial.

use contract::{Rank, Time};

use super::mode::Mode;
use super::pending::PendingOperations;
use super::stamps::Stamps;
use super::swap_buffers::BufferSwaps;
use crate::period::{Deadlines, Trial};

/// The rank, the trial, and the objects into which each part records and posts.
pub(super) struct Flow<'a> {
    pub(super) rank: &'a mut dyn Rank,
    pub(super) trial: &'a Trial,
    pub(super) deadlines: &'a mut Deadlines,
    pub(super) stamps: &'a mut Stamps,
    pub(super) mode: Mode,
    pub(super) waiting: &'a mut PendingOperations,
    pub(super) swaps: &'a mut BufferSwaps,
}

/// State of a part's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Now,
    /// From this instant on.
    At(Time),
    /// Not before a message has arrived or left, or never, because all is done.
    No,
}
