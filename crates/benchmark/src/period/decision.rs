//! Decides which period to try next, and when the search is settled. It depends on no machine.
//!
//! The state of a search is its evidence: the result of all trials of each period together, which is sustained, refused
//! or unclear. If the result is to be confirmed and a prediction says from which period on a confirmation probably
//! succeeds, the periods from there on that are not refused count as sustained until then, and those that it will probably
//! not prove do not: one trial shows little of rare pauses. The search has four steps:
//!
//! 1. From a first guess, in growing steps, it finds one refused and one sustained period.
//! 2. It halves the gap above the longest refused period and the gap below the shortest sustained one, the wider gap
//!    first, until both are narrow.
//! 3. It repeats the trials of both ends, and of unclear periods next to them. An end whose verdict changes moves
//!    outwards.
//! 4. It confirms the upper end. A period that fails is never called sustained again, and the next longer one takes its
//!    place.
//!
//! The interval goes from the longest period below which all are refused to the confirmed one, or else the shortest
//! period above which all are sustained. It contains all periods that noise left unclear.

use std::collections::BTreeMap;

use contract::TimeSpan;
use record::SearchEnd;

/// Range of a search, and the conditions under which it is settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SearchRange {
    /// Shortest period that is tried.
    pub(super) shortest: TimeSpan,
    /// Longest period that is tried.
    pub(super) longest: TimeSpan,
    /// Requested width of the interval, as a share of its lower end.
    pub(super) width: f64,
    /// Number of trials that each end must have had, and each unclear period next to it.
    pub(super) repeats: u32,
}

/// Maximum number of trials of a search. A search that needs more ends unsettled.
const TRIALS_MAX: u32 = 80;
/// First and smallest step away from a guess, as a factor. Each further step is the square of the one before.
const FIRST_STEP: f64 = 1.15;
/// The largest step, and the largest beyond a prediction: a leap to a predicted period is no step, and says nothing of
/// the next one.
const STEP_MAX: f64 = 4.0;
const STEP_MAX_PREDICTED: f64 = 1.5;
/// Limits of a step, as factors, to a period that is expected to be sustained or refused.
const WORTH_A_STEP: f64 = 1.02;
const LEAP_MAX: f64 = 64.0;
/// If the time for a confirmation is short, the chosen period leaves this factor more instances than would prove the
/// rate without a miss, so that one miss is forgiven.
const FORGIVING: f64 = 1.5;
/// Width of a gap above which the expected crossing is tried instead of its middle, and which is narrowed even if time is
/// short: the user gains more from a narrower gap than from a further trial of its ends.
const WIDE: f64 = 1.1;

/// Prediction for periods that were not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpectedVerdicts {
    /// Longest period below the next that is expected to be refused.
    pub(super) refused: Option<TimeSpan>,
    /// Shortest period that is expected to be sustained.
    pub(super) sustained: TimeSpan,
    /// Whether that is the shortest one that a confirmation will probably prove.
    pub(super) is_provable: bool,
    /// Longest period below that one that a confirmation will probably not prove.
    pub(super) unprovable: Option<TimeSpan>,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    Try(TimeSpan),
    Done(Answer),
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) end: SearchEnd,
    pub(super) longest_refused: Option<TimeSpan>,
    pub(super) shortest_sustained: Option<TimeSpan>,
}

/// The next step of a search whose answer must be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextToConfirm {
    /// Confirm this period: the shortest that is still called sustained, or one that was not tried, because there is no
    /// time for more.
    Confirm(TimeSpan),
    /// Try this period first. No period is sustained any more, but this longer one may be, and there is time to try it,
    /// or no time to confirm it.
    Try(TimeSpan),
    /// No period is left to try.
    Nothing,
}

/// Decision of all trials of a period together.
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
    /// True if the period was called sustained, and its confirmation failed.
    disproved: bool,
}

impl Evidence {
    /// Returns the evidence after one more trial, if all trials together then show `verdict`.
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
    expected: Option<ExpectedVerdicts>,
    confirmed: Option<u64>,
}

impl Decision {
    pub(super) fn new(range: SearchRange, guess: TimeSpan) -> Self {
        let guess = guess.max(range.shortest).min(range.longest).as_ps();
        Decision {
            range,
            guess,
            evidence: BTreeMap::new(),
            trials: 0,
            hurried: false,
            expected: None,
            confirmed: None,
        }
    }

    /// Records one more trial of `period`, after which all of them show `verdict`.
    pub(super) fn record(&mut self, period: TimeSpan, verdict: Verdict) {
        let new = Evidence { verdict, trials: 0, disproved: false };
        let evidence = self.evidence.entry(period.as_ps()).or_insert(new);
        *evidence = evidence.and(verdict);
        self.trials += 1;
    }

    /// Records that `period` was confirmed. It is the upper end of the interval.
    pub(super) fn confirm(&mut self, period: TimeSpan) {
        self.record(period, Verdict::Sustained);
        self.confirmed = Some(period.as_ps());
    }

    /// Records that the confirmation of `period` failed. `verdict` is that of it and the trials together.
    pub(super) fn disprove(&mut self, period: TimeSpan, verdict: Verdict) {
        let new = Evidence { verdict, trials: 0, disproved: false };
        let evidence = self.evidence.entry(period.as_ps()).or_insert(new);
        *evidence = Evidence { disproved: true, ..*evidence }.and(verdict);
        self.trials += 1;
    }

    /// Sets the prediction for periods that were not tried. It determines the steps, but only trials are evidence.
    pub(super) fn expect(&mut self, expected: Option<ExpectedVerdicts>) {
        self.expected = expected;
    }

    /// Ends the narrowing of gaps that are not wide. The remaining time is used to repeat the trials of the ends: a
    /// verdict from a single trial often does not hold on a machine with several performance states.
    pub(super) fn hurry(&mut self) {
        self.hurried = true;
    }

    /// Returns the next step that follows from the evidence.
    pub(super) fn next(&self) -> NextStep {
        if self.trials >= TRIALS_MAX {
            return self.done(SearchEnd::Unsettled);
        }
        match (self.upper(), self.lower()) {
            _ if self.evidence.is_empty() => self.attempt(self.guess),
            // To refuse a period takes less time than to climb to one that is sustained, and may be all that there is
            // time for.
            (None, None)
                if self.evidence.len() > 1
                    && !super::without("down")
                    && self.expects_a_refused() =>
            {
                self.shorter()
            }
            (None, _) => self.longer(),
            (_, None) => self.shorter(),
            (Some(upper), Some(lower)) => self.narrow(lower, upper),
        }
    }

    /// Returns the period to confirm when the search itself is over, or the period to try in order to find one. The
    /// remaining time suffices to confirm periods up to `longest`, or any if it is `None`. If time is short, a period
    /// is confirmed without a trial, because a confirmation does not depend on one.
    pub(super) fn next_to_confirm(&self, longest: Option<TimeSpan>) -> NextToConfirm {
        let in_time = |wanted| self.in_time(wanted, longest?.as_ps());
        match (self.upper(), self.longer()) {
            _ if self.trials >= TRIALS_MAX => NextToConfirm::Nothing,
            (Some(upper), _) => {
                NextToConfirm::Confirm(TimeSpan::from_ps(in_time(upper).unwrap_or(upper)))
            }
            (None, NextStep::Try(longer)) => {
                // If the next step is unknown, the one after it is sustained more often.
                let is_known = self.provable() == Some(longer.as_ps()) || super::without("further");
                let further = if is_known { 1.0 } else { FIRST_STEP };
                let wanted = (longer.as_ps() as f64 * further) as u64;
                in_time(wanted).map_or(NextToConfirm::Try(longer), |period| {
                    NextToConfirm::Confirm(TimeSpan::from_ps(period))
                })
            }
            (None, NextStep::Done(_)) => NextToConfirm::Nothing,
        }
    }

    /// Returns the period to confirm instead of `wanted` if the remaining time suffices for periods up to `longest`:
    /// `wanted` itself, or a shorter one; `None` if only periods that are not sustained are short enough.
    fn in_time(&self, wanted: u64, longest: u64) -> Option<u64> {
        if super::without("shorter") {
            return Some(wanted);
        }
        let not_sustained = self.longest_that_fails().unwrap_or(0);
        let above = (not_sustained as f64 * WORTH_A_STEP) as u64;
        let shorter = [(longest as f64 / FORGIVING) as u64, longest];
        let is_open = |period: &u64| *period > above.max(self.range.shortest.as_ps());
        if wanted <= longest { Some(wanted) } else { shorter.into_iter().find(is_open) }
    }

    /// Returns the interval that the evidence so far leaves, for a search that ends here.
    pub(super) fn done(&self, end: SearchEnd) -> NextStep {
        NextStep::Done(self.answer(end))
    }

    /// Returns the answer of the evidence so far.
    pub(super) fn answer(&self, end: SearchEnd) -> Answer {
        let span = |ps: Option<u64>| ps.map(TimeSpan::from_ps);
        let (longest_refused, shortest_sustained) = (span(self.lower()), span(self.sustained()));
        Answer { end, longest_refused, shortest_sustained }
    }

    /// Returns whether the shortest period that may hold still needs a proof.
    pub(super) fn needs_proof(&self) -> bool {
        self.sustained() != self.upper()
    }

    /// Returns the confirmed period, or the shortest sustained one above which all tried periods are sustained.
    fn sustained(&self) -> Option<u64> {
        self.confirmed
            .or_else(|| self.shortest_of(|_, evidence| evidence.verdict == Verdict::Sustained))
    }

    /// Returns the period from which on a confirmation will probably succeed.
    fn provable(&self) -> Option<u64> {
        self.expected
            .filter(|expected| expected.is_provable)
            .map(|expected| expected.sustained.as_ps())
    }

    /// Returns whether a period may be confirmed.
    fn may_hold(&self, period: u64, evidence: &Evidence) -> bool {
        let unprovable = self.expected.and_then(|expected| expected.unprovable);
        match evidence.verdict {
            Verdict::Refused => false,
            Verdict::Sustained => unprovable.is_none_or(|shorter| period > shorter.as_ps()),
            Verdict::Unclear => {
                let from = |provable| period as f64 * WORTH_A_STEP >= provable as f64;
                let is_provable = self.provable().is_some_and(from);
                is_provable && !evidence.disproved
            }
        }
    }

    /// Returns the shortest period above which all tried periods may hold.
    fn upper(&self) -> Option<u64> {
        self.shortest_of(|period, evidence| self.may_hold(period, evidence))
    }

    /// Returns the shortest period with such evidence above which all tried periods have it.
    fn shortest_of(&self, is: impl Fn(u64, &Evidence) -> bool) -> Option<u64> {
        let above = self.longest_not(is).map_or(0, |period| period + 1);
        self.evidence.range(above..).next().map(|(&period, _)| period)
    }

    /// Returns the longest refused period below which all tried periods are refused.
    fn lower(&self) -> Option<u64> {
        let below = self.shortest_not_refused().unwrap_or(u64::MAX);
        self.evidence.range(..below).next_back().map(|(&period, _)| period)
    }

    fn longest_not(&self, is: impl Fn(u64, &Evidence) -> bool) -> Option<u64> {
        let mut all = self.evidence.iter().rev();
        all.find(|(period, evidence)| !is(**period, evidence)).map(|(&period, _)| period)
    }

    fn longest_that_fails(&self) -> Option<u64> {
        self.longest_not(|period, evidence| self.may_hold(period, evidence))
    }

    fn shortest_not_refused(&self) -> Option<u64> {
        let mut all = self.evidence.iter();
        all.find(|(_, e)| e.verdict != Verdict::Refused).map(|(&period, _)| period)
    }

    /// Returns whether a period below all tried ones is expected to be refused.
    fn expects_a_refused(&self) -> bool {
        let refused = self.expected.and_then(|expected| expected.refused).map(TimeSpan::as_ps);
        refused.zip(self.evidence.keys().next()).is_some_and(|(refused, tried)| refused < *tried)
    }

    /// Returns the next step if the longest tried period is not sustained: a longer one.
    fn longer(&self) -> NextStep {
        let longest = self.evidence.keys().next_back().copied().unwrap_or(self.guess);
        if longest >= self.range.longest.as_ps() {
            return self.done(SearchEnd::NeverSustained);
        }
        let longer = longest as f64 * self.stride(self.evidence.keys().rev());
        let expected = self.expected.map_or(0, |expected| expected.sustained.as_ps());
        let longer = match expected as f64 / longest as f64 {
            ratio if (WORTH_A_STEP..=LEAP_MAX).contains(&ratio) => expected,
            _ => longer.ceil() as u64,
        };
        self.attempt(longer.max(longest + 1))
    }

    /// Returns the next step if the shortest tried period is not refused: a shorter one.
    fn shorter(&self) -> NextStep {
        let shortest = self.evidence.keys().next().copied().unwrap_or(self.guess);
        if shortest <= self.range.shortest.as_ps() {
            return self.repeat().unwrap_or_else(|| self.done(SearchEnd::AlwaysSustained));
        }
        let shorter = shortest as f64 / self.stride(self.evidence.keys());
        let expected =
            self.expected.and_then(|expected| expected.refused).map_or(0, TimeSpan::as_ps);
        let shorter = match shortest as f64 / expected as f64 {
            ratio if (WORTH_A_STEP..=LEAP_MAX).contains(&ratio) => expected,
            _ => shorter.floor() as u64,
        };
        self.attempt(shorter.min(shortest - 1))
    }

    /// Returns the next step if both ends are known: halves the wider gap that is too wide, or repeats a trial.
    fn narrow(&self, lower: u64, upper: u64) -> NextStep {
        // If no period between the ends was tried, these are the ends themselves.
        let (last, first) = (self.longest_that_fails(), self.shortest_not_refused());
        let above = self.middle(last.unwrap_or(lower), upper);
        let below = self.middle(lower, first.unwrap_or(upper));
        let widest = above.into_iter().chain(below).max_by(|a, b| a.0.total_cmp(&b.0));
        let end = match widest {
            Some((ratio, _)) if self.hurried && ratio <= WIDE => SearchEnd::TimeLimit,
            Some((_, middle)) => return NextStep::Try(TimeSpan::from_ps(middle)),
            None => SearchEnd::Settled,
        };
        self.repeat().unwrap_or_else(|| self.done(end))
    }

    /// Returns the width of a gap as the ratio of its ends, and the next period to try within it: its geometric mean,
    /// or the period that is expected to be sustained; `None` if the gap is narrow enough.
    fn middle(&self, low: u64, high: u64) -> Option<(f64, u64)> {
        let ratio = high as f64 / low as f64;
        let (low_end, high_end) = (low as f64 * WORTH_A_STEP, high as f64 / WORTH_A_STEP);
        let is_inside = |ps: &u64| {
            ratio > WIDE && !super::without("leap") && (low_end..=high_end).contains(&(*ps as f64))
        };
        let expected = self.expected.map(|expected| expected.sustained.as_ps()).filter(is_inside);
        let middle = (low as f64 * high as f64).sqrt().round() as u64;
        let middle = expected.unwrap_or(middle);
        let least = if super::without("narrowing") { 1e9 } else { 1.0 + self.range.width };
        (ratio > least && low < middle && middle < high).then_some((ratio, middle))
    }

    /// Returns the end, or the unclear period next to one, with the fewest trials, if it has had too few. Alternating
    /// between them spreads the trials of each over time, because a machine keeps one performance state for a while.
    fn repeat(&self) -> Option<NextStep> {
        let unclear = |period: &u64| self.evidence[period].verdict == Verdict::Unclear;
        let ends = [self.upper(), self.lower()].into_iter().flatten();
        let inside = [self.longest_that_fails(), self.shortest_not_refused()];
        let candidates = ends.chain(inside.into_iter().flatten().filter(unclear));
        let (trials, period) =
            candidates.map(|period| (self.evidence[&period].trials, period)).min_by_key(|c| c.0)?;
        (trials < self.range.repeats).then(|| NextStep::Try(TimeSpan::from_ps(period)))
    }

    fn attempt(&self, period: u64) -> NextStep {
        let SearchRange { shortest, longest, .. } = self.range;
        NextStep::Try(TimeSpan::from_ps(period.clamp(shortest.as_ps(), longest.as_ps())))
    }

    /// Returns the factor of the next step beyond the first of `tried`, away from the second: the square of the step
    /// between those two. If the gap was narrow already and its end is no longer sustained, the steps begin small again:
    /// the machine has become a little slower, not four times as slow.
    fn stride<'a>(&self, mut tried: impl Iterator<Item = &'a u64>) -> f64 {
        let (Some(&last), Some(&before)) = (tried.next(), tried.next()) else { return FIRST_STEP };
        let step = last.max(before) as f64 / last.min(before) as f64;
        let longest = if self.expected.is_some() && !super::without("small") {
            STEP_MAX_PREDICTED
        } else {
            STEP_MAX
        };
        (step * step).clamp(FIRST_STEP, longest)
    }
}

#[cfg(test)]
mod tests;
