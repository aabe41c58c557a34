//! The material of the sections of the page.

use record::Run;

use super::comparing::Comparisons;
use super::limits::Limits;

/// Runs, and data derived from them.
pub(super) struct Material<'a> {
    pub(super) runs: &'a [Run],
    pub(super) limits: Limits,
    pub(super) comparisons: Comparisons,
    /// Maximum of numbers in each trace of samples.
    pub(super) numbers_per_trace: usize,
}
