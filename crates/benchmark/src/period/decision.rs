//! Which period to try next, and when to settle: the search without a machine.
//!
//! All that is known is the evidence: how often each period that was tried was sustained, and how often refused. From
//! it follows the next step. First both outcomes are found, from a first guess in growing steps; then the gap between
//! the longest refused and the shortest sustained period is halved until it is narrow; then both ends are tried again.
//! On a noisy machine an end may change its mind: a period that was both sustained and refused is neither, and the
//! interval grows past it. So a period at the upper end was sustained each time, one at the lower end refused each
//! time, and the interval holds whatever the noise left unclear. Two searches of the same machine disagree only
//! where one was lucky, or unlucky, as often as ends are repeated.

use std::collections::BTreeMap;

use contract::TimeSpan;
use contract::record::SearchEnd;

/// Where a search stays, and when it is content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// No period below this one is tried.
    pub(super) shortest: TimeSpan,
    /// No period above this one is tried.
    pub(super) longest: TimeSpan,
    /// The wanted width of the interval, as a share of its lower end.
    pub(super) width: f64,
    /// How often each end must have been tried.
    pub(super) repeats: u32,
}

/// The most trials of a search; one that needs more is told as unsettled.
const TRIALS_MAX: u32 = 80;
/// The first step away from a guess, as a factor; each further one is the square of the one before.
const FIRST_STEP: f64 = 1.3;
/// The largest step.
const STEP_MAX: f64 = 4.0;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
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

#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    sustained: u32,
    refused: u32,
}

/// A search: its limits, and the evidence so far.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    limits: Limits,
    guess: u64,
    evidence: BTreeMap<u64, Outcomes>,
    trials: u32,
}

impl Decision {
    pub(super) fn new(limits: Limits, guess: TimeSpan) -> Self {
        let guess = guess.max(limits.shortest).min(limits.longest).as_ps();
        Decision { limits, guess, evidence: BTreeMap::new(), trials: 0 }
    }

    /// Takes the outcome of a trial.
    pub(super) fn record(&mut self, period: TimeSpan, sustained: bool) {
        let outcomes = self.evidence.entry(period.as_ps()).or_default();
        if sustained {
            outcomes.sustained += 1
        } else {
            outcomes.refused += 1
        }
        self.trials += 1;
    }

    /// What follows from the evidence.
    pub(super) fn next(&self) -> Step {
        if self.trials >= TRIALS_MAX {
            return self.done(SearchEnd::Unsettled);
        }
        match (self.longest_refusal(), self.shortest_success()) {
            (None, None) => self.attempt(self.guess),
            (Some(_), _) if self.upper().is_none() => self.longer(),
            (_, Some(_)) if self.lower().is_none() => self.shorter(),
            _ => self.narrow(),
        }
    }

    /// The interval that the evidence so far leaves, for a search that ends here.
    pub(super) fn done(&self, end: SearchEnd) -> Step {
        let span = |ps: Option<u64>| ps.map(TimeSpan::from_ps);
        Step::Done(Answer {
            end,
            longest_refused: span(self.lower()),
            shortest_sustained: span(self.upper()),
        })
    }

    /// The shortest period above every refusal.
    fn upper(&self) -> Option<u64> {
        let above = self.longest_refusal().map_or(0, |refused| refused + 1);
        self.evidence.range(above..).next().map(|(&period, _)| period)
    }

    /// The longest period below every success.
    fn lower(&self) -> Option<u64> {
        let below = self.shortest_success().unwrap_or(u64::MAX);
        self.evidence.range(..below).next_back().map(|(&period, _)| period)
    }

    fn longest_refusal(&self) -> Option<u64> {
        self.evidence.iter().rev().find(|(_, o)| o.refused > 0).map(|(&period, _)| period)
    }

    fn shortest_success(&self) -> Option<u64> {
        self.evidence.iter().find(|(_, o)| o.sustained > 0).map(|(&period, _)| period)
    }

    /// Nothing above the longest refusal was tried: on to longer periods.
    fn longer(&self) -> Step {
        let refused = self.longest_refusal().unwrap_or(self.guess);
        let last_success = self.evidence.iter().rev().find(|(_, o)| o.sustained > 0);
        let from = last_success.map_or(0, |(&period, _)| period);
        let steps = self.evidence.range(from..=refused).count();
        if refused >= self.limits.longest.as_ps() {
            return self.done(SearchEnd::NeverSustained);
        }
        let longer = refused as f64 * self.stride(steps, last_success.is_some());
        self.attempt((longer.ceil() as u64).max(refused + 1))
    }

    /// Nothing below the shortest success was tried: on to shorter periods.
    fn shorter(&self) -> Step {
        let success = self.shortest_success().unwrap_or(self.guess);
        let first_refusal = self.evidence.iter().find(|(_, o)| o.refused > 0);
        let to = first_refusal.map_or(u64::MAX, |(&period, _)| period);
        let steps = self.evidence.range(success..=to).count();
        if success <= self.limits.shortest.as_ps() {
            return self.confirm().unwrap_or_else(|| self.done(SearchEnd::AlwaysSustained));
        }
        let shorter = success as f64 / self.stride(steps, first_refusal.is_some());
        self.attempt((shorter.floor() as u64).min(success - 1))
    }

    /// The factor of the `steps`-th step in one direction: near an end that only gave way to noise, small.
    fn stride(&self, steps: usize, near: bool) -> f64 {
        let first = if near { 1.0 + self.limits.width } else { FIRST_STEP };
        let doublings = steps.saturating_sub(1).min(16) as i32;
        first.powf(2f64.powi(doublings)).min(STEP_MAX)
    }

    /// Both ends are known: halves a gap that is too wide, then repeats the ends.
    fn narrow(&self) -> Step {
        let (Some(refused), Some(upper)) = (self.longest_refusal(), self.upper()) else {
            return self.done(SearchEnd::Unsettled);
        };
        let (Some(lower), Some(success)) = (self.lower(), self.shortest_success()) else {
            return self.done(SearchEnd::Unsettled);
        };
        self.between(refused, upper)
            .or_else(|| self.between(lower, success))
            .or_else(|| self.confirm())
            .unwrap_or_else(|| self.done(SearchEnd::Settled))
    }

    /// The geometric middle of a gap that is wider than wanted.
    fn between(&self, low: u64, high: u64) -> Option<Step> {
        let wide = high as f64 > low as f64 * (1.0 + self.limits.width);
        let middle = (low as f64 * high as f64).sqrt().round() as u64;
        (wide && low < middle && middle < high).then(|| Step::Try(TimeSpan::from_ps(middle)))
    }

    /// The end that was tried less often, and not often enough. Taking turns spreads the trials of each end over
    /// time, for a machine keeps one mood for a while.
    fn confirm(&self) -> Option<Step> {
        let tried = |end: Option<u64>| {
            end.map(|period| {
                (self.evidence[&period].sustained + self.evidence[&period].refused, period)
            })
        };
        let ends = [tried(self.upper()), tried(self.lower())];
        let (times, period) = ends.into_iter().flatten().min_by_key(|(times, _)| *times)?;
        (times < self.limits.repeats).then(|| Step::Try(TimeSpan::from_ps(period)))
    }

    fn attempt(&self, period: u64) -> Step {
        let Limits { shortest, longest, .. } = self.limits;
        Step::Try(TimeSpan::from_ps(period.clamp(shortest.as_ps(), longest.as_ps())))
    }
}

#[cfg(test)]
mod tests;
