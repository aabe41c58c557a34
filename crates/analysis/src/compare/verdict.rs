//! From intervals to verdicts: what is decided, what is left open, and which launches would decide it.

use record::Better;
use serde::Serialize;

use super::{ComparedRuns, Comparison, Effect, Settings};
use crate::constants::CONSTANTS;
use crate::launches::distinguishes;

/// Result of a comparison of the second run with the first. Differences count beyond the threshold, so a change of 4 to
/// 6 % is neither the same within 5 % nor certainly different: it is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is better than the threshold: a time that fell, or a rate that rose. Exact numbers: better.
    Faster,
    /// The whole interval is worse than the threshold. Exact numbers: worse.
    Slower,
    /// The interval of two one-sided tests is within the threshold: at 95 % the interval of 90 %. Exact numbers: equal.
    Same,
    /// None of these: the launches are too few or too far apart, or the change is about as large as the threshold.
    Undecided,
}

/// Further launches of one side that would decide a comparison while the other side is unchanged; `None` if no
/// practical number would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MissingLaunches {
    /// Number for the first run.
    pub first: Option<usize>,
    /// Number for the second run.
    pub second: Option<usize>,
}

/// Returns the confidence of the interval between two one-sided tests of this confidence each (Schuirmann, Journal of
/// Pharmacokinetics and Biopharmaceutics 15, 1987).
pub(super) fn equivalence_confidence(confidence: f64) -> f64 {
    (2.0 * confidence - 1.0).max(confidence / 2.0)
}

/// Returns the verdict of a number from its interval and the narrower one of two one-sided tests.
pub(super) fn of_intervals(
    effect: Option<Effect>,
    equivalence: Option<Effect>,
    better: Better,
    settings: Settings,
) -> Verdict {
    let Some(effect) = effect.filter(|effect| effect.reaches(settings.confidence)) else {
        return Verdict::Undecided;
    };
    let above = 1.0 + settings.margin;
    let is_within = |narrow: Effect| 1.0 / above <= narrow.low && narrow.high <= above;
    let is_better = (effect.ratio > 1.0) == (better == Better::Higher);
    match equivalence {
        Some(narrow) if is_within(narrow) => Verdict::Same,
        _ if effect.low <= above && above * effect.high >= 1.0 => Verdict::Undecided,
        _ if is_better => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

/// Returns the verdict of two exact numbers: any difference is one.
pub(super) fn of_exact([first, second]: [f64; 2], better: Better) -> Verdict {
    match (first == second, (second > first) == (better == Better::Higher)) {
        (true, _) => Verdict::Same,
        (false, true) => Verdict::Faster,
        (false, false) => Verdict::Slower,
    }
}

impl Comparison {
    /// Returns the ratio of the second median to the first one: the change of the two numbers as they are printed.
    pub fn change(&self) -> Option<f64> {
        match self.exact {
            true => self.effect.map(|effect| effect.ratio),
            false => (self.first > 0.0 && self.second > 0.0).then(|| self.second / self.first),
        }
    }

    /// Returns whether the measurement became worse by more than `threshold`, as defined at
    /// [`ComparedRuns::regressions`].
    pub fn is_regression(&self, threshold: f64) -> bool {
        self.verdict == Verdict::Slower
            && self.worsening().is_some_and(|worse| worse.low > 1.0 + threshold)
    }

    /// Returns whether the measurement seems worse by more than `threshold`, whatever its interval.
    pub fn seems_worse(&self, threshold: f64) -> bool {
        self.worsening().is_some_and(|worse| worse.ratio > 1.0 + threshold)
    }

    /// Returns whether the printed numbers are worse by more than `threshold`, and the launches are not: they met other
    /// states or speeds of the machine.
    pub fn is_worse_only_as_printed(&self, threshold: f64) -> bool {
        let worse = self.change().map(|ratio| match self.better {
            Better::Lower => ratio,
            Better::Higher => 1.0 / ratio,
        });
        worse.is_some_and(|worse| worse > 1.0 + threshold) && !self.is_regression(threshold)
    }

    /// Returns whether it is undecided if the second run is worse by more than `threshold`. If the whole interval of a
    /// change is smaller, this is decided, although the change may be neither *same* nor *faster*.
    pub fn is_open(&self, threshold: f64, confidence: f64) -> bool {
        let is_small = |worse: Effect| worse.reaches(confidence) && worse.high <= 1.0 + threshold;
        self.verdict == Verdict::Undecided
            && self.worsening().map_or(self.first != self.second, |worse| !is_small(worse))
    }

    /// Returns the launches that are missing to decide whether the second run is worse by more than `threshold`. This
    /// is an estimate: it assumes that the change is as large as it seems, but the next launches may differ in another
    /// way.
    pub fn missing_launches(&self, threshold: f64, settings: Settings) -> MissingLaunches {
        let [n, m] = self.compared;
        // Nobody knows how often further launches would meet a state of the other side.
        let Some(worse) = self.worsening().filter(|_| n > 0 && m > 0) else {
            return MissingLaunches::default();
        };
        let (middle, limit) = (worse.ratio.ln(), threshold.ln_1p());
        let end = if middle > limit { worse.low } else { worse.high };
        let (gap, reach) = ((middle - limit).abs(), (end.ln() - middle).abs());
        let variance = |n: usize, m: usize| 1.0 / n as f64 + 1.0 / m as f64;
        // An interval shrinks with the root of the variance of the difference of two means.
        let is_enough = |of: [usize; 2]| {
            let shrunk = reach * (variance(of[0], of[1]) / variance(n, m)).sqrt();
            distinguishes(of, settings.confidence) && shrunk < gap
        };
        let more = |with: &dyn Fn(usize) -> [usize; 2]| {
            (1..=CONSTANTS.launches_advised_max).find(|&more| is_enough(with(more)))
        };
        MissingLaunches { first: more(&|more| [n + more, m]), second: more(&|more| [n, m + more]) }
    }

    /// Returns by which ratio the second run is worse, above 1 for worse, with its interval. Rates are inverted, so
    /// that the time and the rate of one measurement give the same ratio.
    fn worsening(&self) -> Option<Effect> {
        self.effect.map(|effect| match self.better {
            Better::Lower => effect,
            Better::Higher => effect.inverse(),
        })
    }
}

impl ComparedRuns {
    /// Returns the measurements that became worse by more than `threshold` (0.1: a time longer by more than 10 %, or a
    /// rate below 1/1.1) with their whole interval, and have the verdict slower. With a threshold of at most the margin
    /// these are all that are slower and not exact.
    pub fn regressions(&self, threshold: f64) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(move |comparison| comparison.is_regression(threshold))
    }

    /// Returns the number of comparisons with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.comparisons.iter().filter(|comparison| comparison.verdict == verdict).count()
    }

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

impl Verdict {
    /// Returns the verdict in a word. Exact numbers that do not differ are equal.
    pub fn word(self, exact: bool) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same if exact => "equal",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare;
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
