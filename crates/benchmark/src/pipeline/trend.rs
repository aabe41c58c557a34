//! Detects a chain that falls behind its source while its buffers, or the source's memory, still hide it.
//!
//! A chain that takes a little longer than the period for each matrix delivers each one a little later than the one
//! before, and misses no deadline until all queues are full. The latency shows it long before: in the second half of a
//! trial the smallest latency is larger than in the first half. A chain that sustains its period and was delayed by a
//! pause catches up, and its latency returns to its earlier value. The least latency of each half is therefore a better
//! criterion than the median (decision 0017).

use analysis::replay::falls_behind;
use contract::TimeSpan;

/// Minimum number of matrices that show a trend: half of fewer could be one pause.
const MATRICES_MIN: u64 = 8;
/// First matrices of a trial, in which the chain fills: their share of all, and their largest number.
const FILLING_SHARE: u64 = 4;
const FILLING_MAX: u64 = 8;

/// The least latency in each half of a trial.
#[derive(Default)]
pub(super) struct Trend {
    matrices: u64,
    least: [Option<TimeSpan>; 2],
}

impl Trend {
    /// Begins a trial of this number of matrices.
    pub(super) fn begin(&mut self, matrices: u64) {
        *self = Trend { matrices, least: [None; 2] };
    }

    fn filling(&self) -> u64 {
        (self.matrices / FILLING_SHARE).min(FILLING_MAX)
    }

    /// Returns the first matrix of the second half; the first half begins when the chain is full.
    fn middle(&self) -> u64 {
        (self.filling() + self.matrices).div_ceil(2)
    }

    pub(super) fn note(&mut self, matrix: u64, latency: TimeSpan) {
        if matrix >= self.filling() {
            let least = &mut self.least[usize::from(matrix >= self.middle())];
            *least = Some(least.map_or(latency, |before| before.min(latency)));
        }
    }

    /// Returns, if the chain fell behind, the matrices of the second half, and the difference of their least latency
    /// from that of the first half. Must be called after all matrices have been recorded.
    pub(super) fn behind(&self, period: TimeSpan) -> Option<(std::ops::Range<u64>, TimeSpan)> {
        let [Some(first), Some(second)] = self.least else { return None };
        let later = TimeSpan::from_ps(second.as_ps().saturating_sub(first.as_ps()));
        let least = [first, second].map(|latency| latency.as_ps() as f64);
        let fell = falls_behind(least, period.as_ps() as f64);
        (fell && self.matrices >= MATRICES_MIN).then(|| (self.middle()..self.matrices, later))
    }
}

#[cfg(test)]
mod tests;
