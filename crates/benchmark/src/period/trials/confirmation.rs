//! The confirmation: new instances prove the period that was found.

use analysis::statistics::MissRate;
use contract::{Result, TimeSpan};
use record::Trial as TrialRecord;

use super::TrialRunner;
use crate::period::acceptance::{Acceptance, Verdict};
use crate::period::bisection::times;
use crate::period::constants::CONSTANTS;
use crate::period::instances::{Instances, record_of};
use crate::period::schedule::Schedule;

/// A confirmation that succeeded.
pub(super) struct ConfirmedTrial {
    pub(super) trial: TrialRecord,
    pub(super) rate: MissRate,
}

/// The result of confirming a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::period) enum Confirmed {
    Holds,
    /// The period was not sustained. The verdict is that of all its instances together.
    Fails(Verdict),
    /// The remaining time is too short to show anything.
    NoTime,
}

impl TrialRunner<'_, '_> {
    /// Returns the next period to confirm, at least `from`: the shortest that will probably be proven in a part of the time,
    /// or else the candidate, or one for which the time suffices, or a step beyond `from`; `None` if the time suffices for
    /// none.
    pub(in crate::period) fn to_confirm(
        &self,
        candidate: Option<TimeSpan>,
        from: TimeSpan,
    ) -> Option<TimeSpan> {
        let Schedule { confirming_s, times: trials, to_its_end, .. } = self.schedule;
        let wanted = self.to_be_confirmed();
        let left_s = (confirming_s - self.spent_s()).max(0.0);
        let (confirmed_s, longest) = match to_its_end {
            true => (f64::from(trials) * self.bench.settings.real_time.trial_s(), None),
            false => {
                let longest_s = left_s / wanted.instances_needed() as f64;
                (CONSTANTS.proving * left_s, Some(TimeSpan::from_s(longest_s)))
            }
        };
        let forecast = self.forecast.as_ref().filter(|_| self.follows_forecast());
        // The first that fails leaves time for a longer one. Without a forecast nothing says that it ends early.
        let is_first = forecast.is_some() && self.failed.is_empty();
        let part = if is_first { CONSTANTS.proving } else { 1.0 };
        let in_time = longest.map(|longest| times(longest, part / CONSTANTS.forgiving));
        // Where none probably is, one for which the time suffices holds more often than one that all of the time may prove.
        let provable = forecast.and_then(|all| all.provable(wanted, confirmed_s));
        let chosen = provable.or(candidate).or(in_time);
        let period = chosen.unwrap_or_else(|| times(from, CONSTANTS.step_first)).max(from);
        match longest {
            Some(longest) if period > longest => in_time.filter(|period| *period > from),
            _ => Some(period).filter(|period| *period > TimeSpan::ZERO),
        }
    }

    /// Returns what the next confirmation must prove.
    pub(super) fn to_be_confirmed(&self) -> Acceptance {
        self.wanted.of_attempt(self.failed.len() as u32 + 1)
    }

    /// Confirms `period`: runs it for the remaining time, or for as many trials as the user requested. It is sustained if
    /// these instances alone prove the requested miss rate. The trials of the search do not count, because the period was
    /// chosen for them. The more confirmations failed before, the higher the confidence must be
    /// ([`Acceptance::of_attempt`]).
    pub(in crate::period) fn confirm(&mut self, period: TimeSpan) -> Result<Confirmed> {
        let wanted = self.to_be_confirmed();
        self.planned_s = None;
        let trial = self.planned(period).min(CONSTANTS.segment_max);
        let left_s = (self.schedule.confirming_s - self.spent_s()).max(0.0);
        // The first confirmation is made even if it is late, if the user requested it.
        let (planned, may_begin) = match self.schedule.to_its_end {
            true => {
                let planned = trial.saturating_mul(u64::from(self.schedule.times));
                (planned, left_s > 0.0 || self.failed.is_empty())
            }
            false => {
                let planned = (left_s / self.pace_s(period)) as u64;
                (planned, planned >= wanted.instances_needed())
            }
        };
        if !may_begin {
            return Ok(Confirmed::NoTime);
        }
        let begin_s = self.spent_s();
        let mut all = Instances::default();
        // Once it has no chance any more, the rest of the time is left for a longer period. A segment begins without a
        // backlog, so each is as long as all before it: a backlog that grows slowly must have time to cause a miss.
        let prospect = wanted.prospect();
        let rate = loop {
            let made = all.len() as u64;
            let longest = made.max(trial).min(CONSTANTS.segment_max);
            let segment = self.segment(period, (planned - made).min(longest), made)?;
            all.judge(&segment, period, self.limits);
            let rate = wanted.rate(&all.missed);
            let rest = planned.saturating_sub(rate.instances) as f64;
            let expected = || self.forecast.as_ref().and_then(|all| all.share_missed(period));
            let has_a_chance =
                || prospect.has_a_chance(&rate, rest, expected().unwrap_or_default());
            if rest == 0.0 || (rate.missed > 0 && !has_a_chance()) {
                break rate;
            }
        };
        let record = record_of(wanted, period, begin_s, &all, &rate);
        self.bench.emit_trial(record.clone())?;
        if record.sustained {
            self.tried.entry(period).or_insert(all);
            self.held = Some(ConfirmedTrial { trial: record, rate });
            return Ok(Confirmed::Holds);
        }
        self.failed.push(record.clone());
        Ok(Confirmed::Fails(self.join(period, record, all)))
    }
}
