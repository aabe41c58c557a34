//! What the sections of the page are made from.

use contract::record::Run;

use super::comparing::Comparisons;
use super::limits::Limits;

/// The runs and what was derived from them.
pub(super) struct Material<'a> {
    pub(super) runs: &'a [Run],
    pub(super) limits: Limits,
    pub(super) comparisons: Comparisons,
    /// How many numbers each trace of samples may hold.
    pub(super) numbers_per_trace: usize,
}
