//! Whether a chain falls behind its source while its buffers still hide it.
//!
//! A chain that takes a little longer than the period for each matrix delivers each a little later than the one before, and
//! misses no deadline until all its buffers are full. The time from a matrix's start to its result shows it long before: it
//! grows from the first half of a trial to the second.

use contract::{Buffer, Result, TimeSpan};

/// Latencies that are kept. In a longer trial a chain that falls behind shows by deadlines alone.
const KEPT_MAX: usize = 4096;
/// Fewer say nothing: the middle one of a half could be one that a pause made late.
const KEPT_MIN: usize = 8;
/// A trial's first matrices, in which the chain fills, as a share of those kept, and at most.
const FILLING_SHARE: usize = 4;
const FILLING_MAX: usize = 8;
/// How much later, as a share of the period, the results of the second half may be than those of the first: the middle one
/// of each, so that a pause in which some are late says nothing.
const LATER_SHARE: f64 = 0.25;

/// The latencies of a trial. Noting them allocates nothing.
pub(super) struct Trend {
    latencies_ps: Buffer,
    kept: usize,
    scratch: Vec<u64>,
}

impl Trend {
    pub(super) fn new() -> Result<Self> {
        let latencies_ps = Buffer::try_zeroed(KEPT_MAX * size_of::<u64>())?;
        Ok(Trend { latencies_ps, kept: 0, scratch: Vec::with_capacity(KEPT_MAX) })
    }

    pub(super) fn begin(&mut self) {
        self.kept = 0;
    }

    pub(super) fn note(&mut self, latency: TimeSpan) {
        if let Some(place) = self.latencies_ps.elements_mut::<u64>().get_mut(self.kept) {
            *place = latency.as_ps();
            self.kept += 1;
        }
    }

    /// The matrices of the second half, each with how much later it was than those of the first, if the chain fell behind.
    pub(super) fn behind(
        &mut self,
        period: TimeSpan,
    ) -> Option<impl Iterator<Item = (u64, TimeSpan)>> {
        if self.kept < KEPT_MIN {
            return None;
        }
        let filling = (self.kept / FILLING_SHARE).min(FILLING_MAX);
        let middle = (filling + self.kept).div_ceil(2);
        let first = self.median(filling..middle);
        let second = self.median(middle..self.kept);
        let later = second.saturating_sub(first) as f64;
        (later > LATER_SHARE * period.as_ps() as f64).then(|| {
            let latencies = &self.latencies_ps.elements::<u64>()[middle..self.kept];
            let late = move |&ps: &u64| TimeSpan::from_ps(ps.saturating_sub(first));
            (middle as u64..).zip(latencies.iter().map(late))
        })
    }

    fn median(&mut self, of: std::ops::Range<usize>) -> u64 {
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.latencies_ps.elements::<u64>()[of]);
        self.scratch.sort_unstable();
        self.scratch[self.scratch.len() / 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_US: u64 = 100;

    /// The results of a chain that takes `each_us` for a matrix, is paused for `pause_us` at `paused`, and is never blocked.
    fn falls_behind(matrices: u64, each_us: u64, paused: u64, pause_us: u64) -> bool {
        let mut trend = Trend::new().unwrap();
        let mut free_us = 0;
        for matrix in 0..matrices {
            let start_us = matrix * PERIOD_US;
            let pause_us = if matrix == paused { pause_us } else { 0 };
            free_us = start_us.max(free_us) + pause_us + each_us;
            trend.note(TimeSpan::from_us(free_us - start_us));
        }
        trend.behind(TimeSpan::from_us(PERIOD_US)).is_some()
    }

    #[test]
    fn a_chain_that_keeps_up_does_not_fall_behind_however_little_it_has_to_spare() {
        for matrices in [1, 2, 4, 16, 1000, 10_000] {
            assert!(!falls_behind(matrices, 100, 0, 0), "{matrices}");
            assert!(!falls_behind(matrices, 60, 0, 0), "{matrices}");
        }
    }

    #[test]
    fn one_that_takes_a_little_too_long_is_seen_before_a_result_is_a_period_late() {
        // Over the 12 matrices after 4 the halves lie 6 apart: 5 % too long are 30 % of a period, 1 % are 6 %.
        assert!(falls_behind(16, 105, 0, 0));
        assert!(!falls_behind(16, 101, 0, 0));
        // Over 120 of 128 they lie 60 apart: 1 % too long are 60 %.
        assert!(falls_behind(128, 101, 0, 0));
        assert!(falls_behind(8, 115, 0, 0));
        assert!(!falls_behind(7, 150, 0, 0));
    }

    #[test]
    fn a_pause_that_is_made_up_for_is_none_of_it() {
        // After 500 us every matrix makes up for 20: 25 are late, of 500 in each half.
        assert!(!falls_behind(1000, 80, 900, 500));
        assert!(!falls_behind(1000, 80, 100, 500));
    }

    #[test]
    fn the_second_half_is_told_with_how_late_it_is() {
        let mut trend = Trend::new().unwrap();
        // The first two fill the chain; of the others the halves have 11 and 61 in the middle.
        for us in [5, 9, 10, 11, 12, 60, 61, 70] {
            trend.note(TimeSpan::from_us(us));
        }
        let behind: Vec<_> = trend.behind(TimeSpan::from_us(100)).unwrap().collect();
        assert_eq!(behind, [(5, 49), (6, 50), (7, 59)].map(|(at, us)| (at, TimeSpan::from_us(us))));
        trend.begin();
        assert!(trend.behind(TimeSpan::from_us(100)).is_none());
    }
}
