//! The number of further launches that would decide an undecided comparison.

use serde::Serialize;

use super::{Comparison, Settings, Verdict};
use crate::launches::distinguishes;
use crate::statistics::reaches;

/// Maximum number of launches to advise. If more are needed, the change is about as large as the threshold, or one side
/// has too few.
const LAUNCHES_MAX: usize = 1000;

/// Further launches of one side that would decide a comparison while the other side is unchanged; `None` if no
/// practical number would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MissingLaunches {
    /// Number for the first run.
    pub first: Option<usize>,
    /// Number for the second run.
    pub second: Option<usize>,
}

impl Comparison {
    /// Returns whether it is undecided if the second run is worse by more than `threshold`. If the whole interval of a
    /// change is smaller, this is decided, although the change may be neither *same* nor *faster*.
    pub fn is_open(&self, threshold: f64, confidence: f64) -> bool {
        if self.verdict != Verdict::Undecided {
            return false;
        }
        match self.worsening() {
            Some(worse) => {
                !(reaches(worse.confidence, confidence) && worse.high <= 1.0 + threshold)
            }
            None => self.first != self.second,
        }
    }

    /// Returns the launches that are missing to decide whether the second run is worse by more than `threshold`. This
    /// is an estimate: it assumes that the change is as large as it seems, but the next launches may differ in another
    /// way.
    pub fn missing_launches(&self, threshold: f64, settings: Settings) -> MissingLaunches {
        let Some(worse) = self.worsening() else { return MissingLaunches::default() };
        let (middle, limit) = (worse.ratio.ln(), threshold.ln_1p());
        let end = if middle > limit { worse.low } else { worse.high };
        let (gap, reach) = ((middle - limit).abs(), (end.ln() - middle).abs());
        let [n, m] = self.compared;
        // Nobody knows how often further launches would meet a state of the other side.
        if n == 0 || m == 0 {
            return MissingLaunches::default();
        }
        let variance = |n: usize, m: usize| 1.0 / n as f64 + 1.0 / m as f64;
        // An interval shrinks with the root of the variance of the difference of two means.
        let is_enough = |of: [usize; 2]| {
            let shrunk = reach * (variance(of[0], of[1]) / variance(n, m)).sqrt();
            distinguishes(of, settings.confidence) && shrunk < gap
        };
        let more = |with: &dyn Fn(usize) -> [usize; 2]| {
            (1..=LAUNCHES_MAX).find(|&more| is_enough(with(more)))
        };
        MissingLaunches { first: more(&|more| [n + more, m]), second: more(&|more| [n, m + more]) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, compare};
    use super::*;
    use crate::launches::pooled;
    use crate::records::{measurement, run};
    use record::{Measurement, Run};

    /// Returns a run of launches with these medians.
    fn of_launches(medians: &[f64]) -> Run {
        let one = |(launch, &median): (u32, &f64)| Measurement {
            launch,
            ..measurement("ping-pong", 8, &[median])
        };
        pooled(run((0..).zip(medians).map(one).collect()))
    }

    fn compared(first: &[f64], second: &[f64]) -> Comparison {
        let found = compare(&of_launches(first), &of_launches(second), Settings::default());
        found.comparisons.into_iter().next().unwrap()
    }

    #[test]
    fn the_launches_that_a_short_history_lacks_by_hand() {
        // One launch against six that are a hundred times as slow: only the number of launches is too small.
        let slow = [1000.0, 1001.0, 1002.0, 1003.0, 1004.0, 1005.0];
        let one = compared(&[10.0], &slow);
        assert!(one.is_open(0.05, 0.95));
        // 2 / C(8, 2) = 7.1 % and 2 / C(9, 3) = 2.4 %: two more; and 2 / C(40, 1) = 5 %: 39 against the one.
        let missing = one.missing_launches(0.05, Settings::default());
        assert_eq!(missing, MissingLaunches { first: Some(2), second: Some(33) });
    }

    #[test]
    fn a_change_below_the_threshold_is_decided_although_it_is_neither_same_nor_faster() {
        let before: Vec<f64> = (0..6).map(|i| 100.0 + 0.1 * f64::from(i)).collect();
        // 5 % faster: the margin, 1 / 1.05, is within the interval, which is far below 1.05.
        let after: Vec<f64> = before.iter().map(|median| median / 1.05).collect();
        let one = compared(&before, &after);
        assert_eq!((one.verdict, one.is_open(0.05, 0.95)), (Verdict::Undecided, false));
        // If it is slower by as much, it is undecided.
        let other = compared(&after, &before);
        assert_eq!((other.verdict, other.is_open(0.05, 0.95)), (Verdict::Undecided, true));
    }

    #[test]
    fn launches_far_apart_need_more_and_a_change_of_the_threshold_is_never_told() {
        // The ratios reach from 0.6 to 2.0 around 1.1: launches that differ so much need many times six.
        let wide = [80.0, 100.0, 90.0, 110.0, 120.0, 100.0];
        let slower: Vec<f64> = wide.iter().map(|median| median * 1.1).collect();
        let one = compared(&wide, &slower);
        let missing = one.missing_launches(0.05, Settings::default());
        assert!(
            one.is_open(0.05, 0.95) && missing.second.is_none_or(|more| more > 6),
            "{missing:?}"
        );
        // Slower by the threshold itself: no number of launches shows on which side of it.
        let before: Vec<f64> = (0..6).map(|i| 100.0 + 0.1 * f64::from(i)).collect();
        let after: Vec<f64> = before.iter().map(|median| median * 1.05).collect();
        let missing = compared(&before, &after).missing_launches(0.05, Settings::default());
        assert_eq!(missing, MissingLaunches::default());
    }
}
