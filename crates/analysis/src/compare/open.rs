//! Whether undecided measurements leave open that there is a regression.

use super::{ComparedRuns, Comparison, Verdict};

impl Comparison {
    /// Returns whether the measurement seems worse by more than `threshold`, whatever its interval.
    pub fn seems_worse(&self, threshold: f64) -> bool {
        self.worsening().is_some_and(|worse| worse.ratio > 1.0 + threshold)
    }
}

impl ComparedRuns {
    /// Returns the number of measurements that leave open whether there is a regression beyond `threshold`: all, if all
    /// are undecided; otherwise the undecided ones that seem worse by more than that.
    pub fn open(&self, threshold: f64) -> usize {
        let undecided = self.comparisons.iter().filter(|one| one.verdict == Verdict::Undecided);
        open_among(undecided, self.comparisons.len(), threshold)
    }
}

/// Returns the number of `undecided` measurements, of `all`, that leave open whether there is a regression, as
/// [`ComparedRuns::open`] does.
pub fn open_among<'a>(
    undecided: impl Iterator<Item = &'a Comparison> + Clone,
    all: usize,
    threshold: f64,
) -> usize {
    match undecided.clone().count() {
        every if every == all => all,
        _ => undecided.filter(|one| one.seems_worse(threshold)).count(),
    }
}
