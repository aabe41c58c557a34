//! Which period to try next, and when to settle: the search without a machine.
//!
//! All that is known is the evidence: for each period that was tried what all its trials together show: that it is
//! sustained, that it is not, or neither. First both outcomes are found, from a first guess in growing steps; then the gap
//! above the longest refused period and the gap below the shortest sustained one are halved until they are narrow, the wider
//! one first; then both ends, and what lies unclear between them, are tried again. The interval goes from the longest
//! refused period below all others to the shortest sustained one above all others, so it holds whatever the noise left
//! unclear. An end that changes its mind when it is tried again moves outwards. When the search is over its upper end is
//! confirmed; one that fails is never called sustained again, and the next longer one takes its place.

use std::collections::BTreeMap;

use contract::TimeSpan;
use contract::record::SearchEnd;

/// Where a search stays, and when it is content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SearchRange {
    /// No period below this one is tried.
    pub(super) shortest: TimeSpan,
    /// No period above this one is tried.
    pub(super) longest: TimeSpan,
    /// The wanted width of the interval, as a share of its lower end.
    pub(super) width: f64,
    /// How often each end must have been tried, and what lies unclear next to it.
    pub(super) repeats: u32,
}

/// The most trials of a search; one that needs more is told as unsettled.
const TRIALS_MAX: u32 = 80;
/// The first step away from a guess, as a factor, and the least; each further one is the square of the one before.
const FIRST_STEP: f64 = 1.3;
/// The largest step.
const STEP_MAX: f64 = 4.0;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    Try(TimeSpan),
    Done(Answer),
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) end: SearchEnd,
    pub(super) longest_refused: Option<TimeSpan>,
    pub(super) shortest_sustained: Option<TimeSpan>,
}

/// What may come of a search whose answer is to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextToConfirm {
    /// The shortest period that is still called sustained.
    Confirm(TimeSpan),
    /// None is; a longer one may be.
    Try(TimeSpan),
    /// There is none left to try.
    Nothing,
}

/// What all trials of a period together show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Sustained,
    Refused,
    Unclear,
}

#[derive(Clone, Copy, Debug)]
struct Evidence {
    verdict: Verdict,
    trials: u32,
    /// It was called sustained, and did not hold when it was kept up for longer.
    disproved: bool,
}

impl Evidence {
    /// With one more trial, after which all of them show this.
    fn and(self, verdict: Verdict) -> Evidence {
        let verdict = match verdict {
            Verdict::Sustained if self.disproved => Verdict::Unclear,
            other => other,
        };
        Evidence { verdict, trials: self.trials + 1, ..self }
    }
}

/// A search: its range, and the evidence so far.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    range: SearchRange,
    guess: u64,
    evidence: BTreeMap<u64, Evidence>,
    trials: u32,
    hurried: bool,
}

impl Decision {
    pub(super) fn new(range: SearchRange, guess: TimeSpan) -> Self {
        let guess = guess.max(range.shortest).min(range.longest).as_ps();
        Decision { range, guess, evidence: BTreeMap::new(), trials: 0, hurried: false }
    }

    /// Takes what all trials of `period` show, with one more of them.
    pub(super) fn record(&mut self, period: TimeSpan, verdict: Verdict) {
        let new = Evidence { verdict, trials: 0, disproved: false };
        let evidence = self.evidence.entry(period.as_ps()).or_insert(new);
        *evidence = evidence.and(verdict);
        self.trials += 1;
    }

    /// `period` did not hold when it was kept up for longer; takes what its trials and that together show.
    pub(super) fn disprove(&mut self, period: TimeSpan, verdict: Verdict) {
        let new = Evidence { verdict, trials: 0, disproved: false };
        let evidence = self.evidence.entry(period.as_ps()).or_insert(new);
        *evidence = Evidence { disproved: true, ..*evidence }.and(verdict);
        self.trials += 1;
    }

    /// From now on gaps are left as wide as they are: the time that is left goes into trying the ends again, for an end that
    /// was tried once only is a promise that a machine with moods does not keep.
    pub(super) fn hurry(&mut self) {
        self.hurried = true;
    }

    /// What follows from the evidence.
    pub(super) fn next(&self) -> NextStep {
        if self.trials >= TRIALS_MAX {
            return self.done(SearchEnd::Unsettled);
        }
        match (self.upper(), self.lower()) {
            _ if self.evidence.is_empty() => self.attempt(self.guess),
            (None, _) => self.longer(),
            (_, None) => self.shorter(),
            (Some(upper), Some(lower)) => self.narrow(lower, upper),
        }
    }

    /// What to confirm, or to try for something to confirm, when the search itself is over.
    pub(super) fn next_to_confirm(&self) -> NextToConfirm {
        match (self.upper(), self.longer()) {
            _ if self.trials >= TRIALS_MAX => NextToConfirm::Nothing,
            (Some(period), _) => NextToConfirm::Confirm(TimeSpan::from_ps(period)),
            (None, NextStep::Try(period)) => NextToConfirm::Try(period),
            (None, NextStep::Done(_)) => NextToConfirm::Nothing,
        }
    }

    /// The interval that the evidence so far leaves, for a search that ends here.
    pub(super) fn done(&self, end: SearchEnd) -> NextStep {
        NextStep::Done(self.answer(end))
    }

    /// The same, as the answer that it is.
    pub(super) fn answer(&self, end: SearchEnd) -> Answer {
        let span = |ps: Option<u64>| ps.map(TimeSpan::from_ps);
        let (longest_refused, shortest_sustained) = (span(self.lower()), span(self.upper()));
        Answer { end, longest_refused, shortest_sustained }
    }

    /// The shortest period that is sustained as all longer ones are.
    fn upper(&self) -> Option<u64> {
        let above = self.longest_not(Verdict::Sustained).map_or(0, |period| period + 1);
        self.evidence.range(above..).next().map(|(&period, _)| period)
    }

    /// The longest period that is refused as all shorter ones are.
    fn lower(&self) -> Option<u64> {
        let below = self.shortest_not(Verdict::Refused).unwrap_or(u64::MAX);
        self.evidence.range(..below).next_back().map(|(&period, _)| period)
    }

    fn longest_not(&self, verdict: Verdict) -> Option<u64> {
        self.evidence.iter().rev().find(|(_, e)| e.verdict != verdict).map(|(&period, _)| period)
    }

    fn shortest_not(&self, verdict: Verdict) -> Option<u64> {
        self.evidence.iter().find(|(_, e)| e.verdict != verdict).map(|(&period, _)| period)
    }

    /// The longest period that was tried is not sustained: on to longer ones.
    fn longer(&self) -> NextStep {
        let longest = self.evidence.keys().next_back().copied().unwrap_or(self.guess);
        if longest >= self.range.longest.as_ps() {
            return self.done(SearchEnd::NeverSustained);
        }
        let longer = longest as f64 * stride(self.evidence.keys().rev());
        self.attempt((longer.ceil() as u64).max(longest + 1))
    }

    /// The shortest period that was tried is not refused: on to shorter ones.
    fn shorter(&self) -> NextStep {
        let shortest = self.evidence.keys().next().copied().unwrap_or(self.guess);
        if shortest <= self.range.shortest.as_ps() {
            return self.repeat().unwrap_or_else(|| self.done(SearchEnd::AlwaysSustained));
        }
        let shorter = shortest as f64 / stride(self.evidence.keys());
        self.attempt((shorter.floor() as u64).min(shortest - 1))
    }

    /// Both ends are known: halves the wider gap next to them that is too wide, then repeats.
    fn narrow(&self, lower: u64, upper: u64) -> NextStep {
        // Where nothing lies between the ends these are the ends themselves.
        let (last, first) =
            (self.longest_not(Verdict::Sustained), self.shortest_not(Verdict::Refused));
        let above = self.middle(last.unwrap_or(lower), upper);
        let below = self.middle(lower, first.unwrap_or(upper));
        let widest = above.into_iter().chain(below).max_by(|a, b| a.0.total_cmp(&b.0));
        let end = match widest {
            Some(_) if self.hurried => SearchEnd::TimeLimit,
            Some((_, middle)) => return NextStep::Try(TimeSpan::from_ps(middle)),
            None => SearchEnd::Settled,
        };
        self.repeat().unwrap_or_else(|| self.done(end))
    }

    /// How wide a gap is, as the ratio of its ends, and its geometric middle; none where it is as narrow as wanted.
    fn middle(&self, low: u64, high: u64) -> Option<(f64, u64)> {
        let ratio = high as f64 / low as f64;
        let middle = (low as f64 * high as f64).sqrt().round() as u64;
        (ratio > 1.0 + self.range.width && low < middle && middle < high).then_some((ratio, middle))
    }

    /// The end, or the unclear period next to one, that was tried less often, and not often enough. Taking turns spreads
    /// the trials of each over time, for a machine keeps one mood for a while.
    fn repeat(&self) -> Option<NextStep> {
        let unclear = |period: &u64| self.evidence[period].verdict == Verdict::Unclear;
        let ends = [self.upper(), self.lower()].into_iter().flatten();
        let inside = [self.longest_not(Verdict::Sustained), self.shortest_not(Verdict::Refused)];
        let candidates = ends.chain(inside.into_iter().flatten().filter(unclear));
        let (trials, period) =
            candidates.map(|period| (self.evidence[&period].trials, period)).min_by_key(|c| c.0)?;
        (trials < self.range.repeats).then(|| NextStep::Try(TimeSpan::from_ps(period)))
    }

    fn attempt(&self, period: u64) -> NextStep {
        let SearchRange { shortest, longest, .. } = self.range;
        NextStep::Try(TimeSpan::from_ps(period.clamp(shortest.as_ps(), longest.as_ps())))
    }
}

/// The factor of the next step beyond the first of `tried`, which leads away from the second: the square of the step between
/// those two. Where the gap was already narrow, and the end of it that held then does not any more, the way begins anew
/// with a small step: the machine became a little slower, not four times as slow.
fn stride<'a>(mut tried: impl Iterator<Item = &'a u64>) -> f64 {
    let (Some(&last), Some(&before)) = (tried.next(), tried.next()) else { return FIRST_STEP };
    let step = last.max(before) as f64 / last.min(before) as f64;
    (step * step).clamp(FIRST_STEP, STEP_MAX)
}

#[cfg(test)]
mod tests;
