//! What all parts of a chain on one rank share while a trial is kept up.

use contract::{Rank, Time};

use super::mode::Mode;
use super::pending::PendingOperations;
use super::stamps::Stamps;
use super::swap_buffers::BufferSwaps;
use crate::period::{Deadlines, Trial};

/// The rank, the trial, and where each part notes and posts.
pub(super) struct Flow<'a> {
    pub(super) rank: &'a mut dyn Rank,
    pub(super) trial: &'a Trial,
    pub(super) deadlines: &'a mut Deadlines,
    pub(super) stamps: &'a mut Stamps,
    pub(super) mode: Mode,
    pub(super) waiting: &'a mut PendingOperations,
    pub(super) swaps: &'a mut BufferSwaps,
}

/// Whether a part can do its next bit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Now,
    /// Not before this instant; then it can.
    At(Time),
    /// Something must come or go first, or nothing is left to do.
    No,
}
