//! Which period to try next where nothing is predicted: it brackets the shortest sustained period in growing steps, and
//! halves the gaps until they are narrow. It depends on no machine.

use std::collections::BTreeMap;

use contract::TimeSpan;
use record::SearchEnd;

use super::acceptance::Verdict;
use super::constants::CONSTANTS;

/// Range of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SearchRange {
    /// Shortest period that is tried.
    pub(super) shortest: TimeSpan,
    /// Longest period that is tried.
    pub(super) longest: TimeSpan,
    /// Requested width of the interval, as a share of its lower end.
    pub(super) width: f64,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) end: SearchEnd,
    pub(super) longest_refused: Option<TimeSpan>,
    pub(super) shortest_sustained: Option<TimeSpan>,
}

/// The verdicts so far, each of all trials of its period together.
pub(super) struct Bisection {
    range: SearchRange,
    guess: TimeSpan,
    verdicts: BTreeMap<TimeSpan, Verdict>,
}

impl Bisection {
    pub(super) fn new(range: SearchRange, guess: TimeSpan) -> Self {
        let guess = guess.clamp(range.shortest, range.longest);
        Bisection { range, guess, verdicts: BTreeMap::new() }
    }

    pub(super) fn record(&mut self, period: TimeSpan, verdict: Verdict) {
        self.verdicts.insert(period, verdict);
    }

    /// Returns the interval that the verdicts leave.
    pub(super) fn answer(&self, end: SearchEnd) -> Answer {
        Answer { end, longest_refused: self.lower(), shortest_sustained: self.upper() }
    }

    /// Returns the next period to try, or how the search ended.
    pub(super) fn next(&self) -> Result<TimeSpan, SearchEnd> {
        let SearchRange { shortest, longest, .. } = self.range;
        let tried = || self.verdicts.keys().copied();
        let (Some(first), Some(last)) = (tried().next(), tried().next_back()) else {
            return Ok(self.guess);
        };
        match (self.lower(), self.upper()) {
            (_, None) if last >= longest => Err(SearchEnd::NeverSustained),
            (_, None) => Ok(times(last, stride(tried().rev())).min(longest)),
            (None, _) if first <= shortest => Err(SearchEnd::AlwaysSustained),
            (None, _) => Ok(times(first, 1.0 / stride(tried())).max(shortest)),
            (Some(lower), Some(upper)) => {
                let above = tried().find(|period| *period > lower).unwrap_or(upper);
                let below = tried().rfind(|period| *period < upper).unwrap_or(lower);
                let wider = [(lower, above), (below, upper)]
                    .into_iter()
                    .max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
                let wide = wider.filter(|gap| ratio(*gap) > 1.0 + self.range.width);
                wide.map(|gap| times(gap.0, ratio(gap).sqrt())).ok_or(SearchEnd::Settled)
            }
        }
    }

    /// Returns the longest refused period below which all tried ones are refused.
    fn lower(&self) -> Option<TimeSpan> {
        let refused = self.verdicts.iter().take_while(|one| *one.1 == Verdict::Refused);
        refused.last().map(|(period, _)| *period)
    }

    /// Returns the shortest sustained period above which all tried ones are sustained.
    fn upper(&self) -> Option<TimeSpan> {
        let sustained = self.verdicts.iter().rev();
        let sustained = sustained.take_while(|one| *one.1 == Verdict::Sustained);
        sustained.last().map(|(period, _)| *period)
    }
}

/// Returns the step beyond the first of `tried`, away from the second, as a factor: the square of the one between them.
fn stride(mut tried: impl Iterator<Item = TimeSpan>) -> f64 {
    let (Some(last), Some(before)) = (tried.next(), tried.next()) else {
        return CONSTANTS.step_first;
    };
    ratio((last.min(before), last.max(before)))
        .powi(2)
        .clamp(CONSTANTS.step_first, CONSTANTS.step_max)
}

fn ratio((low, high): (TimeSpan, TimeSpan)) -> f64 {
    high.as_ps() as f64 / low.as_ps() as f64
}

/// Returns a period times a factor.
pub(super) fn times(period: TimeSpan, factor: f64) -> TimeSpan {
    TimeSpan::from_ps((period.as_ps() as f64 * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Refused, Sustained, Unclear};

    fn range() -> SearchRange {
        let (shortest, longest) = (TimeSpan::from_ns(1), TimeSpan::from_us(1_000_000));
        SearchRange { shortest, longest, width: 0.02 }
    }

    /// Searches from a guess, where a period in microseconds has this verdict. Returns the answer with its ends in
    /// microseconds, and the number of trials.
    fn run(
        guess_us: f64,
        verdict: impl Fn(f64) -> Verdict,
    ) -> ((SearchEnd, [Option<f64>; 2]), usize) {
        let mut bisection = Bisection::new(range(), TimeSpan::from_s(guess_us / 1e6));
        for trials in 0.. {
            match bisection.next() {
                Ok(period) => bisection.record(period, verdict(period.as_us())),
                Err(end) => {
                    let Answer { end, longest_refused, shortest_sustained } = bisection.answer(end);
                    let us =
                        [longest_refused, shortest_sustained].map(|one| one.map(TimeSpan::as_us));
                    return ((end, us), trials);
                }
            }
        }
        unreachable!("it ends")
    }

    #[test]
    fn a_quiet_machine_is_pinned_down_whatever_the_guess() {
        let mut random = random::SplitMix64::new(7);
        for _ in 0..500 {
            // The range of periods of real jobs, and guesses that are too long or too short.
            let truth_us = 0.01 * 10f64.powf(7.0 * random.uniform());
            let guess_us = truth_us * 20f64.powf(2.0 * random.uniform() - 1.0);
            let verdict = |us| if us < truth_us { Refused } else { Sustained };
            let ((end, us), trials) = run(guess_us, verdict);
            let [low, high] = us.map(Option::unwrap);
            assert_eq!(end, SearchEnd::Settled);
            assert!(low < truth_us && truth_us <= high && high <= 1.0201 * low, "{low} {high}");
            // At most 5 steps outwards by 1.15, 1.32, 1.75, 3.06 and 4, and 7 halvings of ln 4 to ln 1.02.
            assert!(trials <= 13, "{trials}");
        }
    }

    #[test]
    fn unclear_periods_are_inside_the_interval_with_narrow_gaps_on_both_sides() {
        let ((end, us), _) = run(1000.0, |us| match us {
            us if us < 900.0 => Refused,
            us if us > 1200.0 => Sustained,
            _ => Unclear,
        });
        let [low, high] = us.map(Option::unwrap);
        assert_eq!(end, SearchEnd::Settled);
        assert!((882.0..900.0).contains(&low) && (1200.0..1224.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn a_machine_without_an_end_ends_the_search_at_that_of_its_range() {
        let (found, trials) = run(10.0, |_| Refused);
        assert_eq!(found, (SearchEnd::NeverSustained, [Some(1e6), None]));
        assert!(trials < 15, "{trials}");
        assert_eq!(run(10.0, |_| Sustained).0, (SearchEnd::AlwaysSustained, [None, Some(1e-3)]));
        assert_eq!(run(10.0, |_| Unclear).0, (SearchEnd::NeverSustained, [None, None]));
    }
}
