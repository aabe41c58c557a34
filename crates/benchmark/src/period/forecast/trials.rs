//! What a search learns from its trials of the pauses of the machine: a trial shows more of them than the recording.

use analysis::replay::{LostInTrial, Recording};
use analysis::statistics::MissRate;
use contract::TimeSpan;

use super::{Forecast, share};
use crate::period::acceptance::Acceptance;

/// The longest of the periods whose trials say something of a period, as a multiple of it. Pauses that are shorter than
/// the time between two instances of a trial do not appear in it.
const LONGER: f64 = 1.25;

/// A confirmation to come: what it must prove, and its time in seconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::period) struct Confirmation {
    pub(in crate::period) wanted: Acceptance,
    pub(in crate::period) time_s: f64,
}

impl Confirmation {
    /// Returns the shortest period of a curve from which on it will probably succeed, in microseconds. It contains too few
    /// instances of the longest ones to do so.
    pub(super) fn shortest_us(self, curve: &[(f64, MissRate)]) -> Option<f64> {
        if crate::period::without("provable") {
            return None;
        }
        let prospect = self.wanted.prospect();
        let instances = |period_us: f64| 1e6 * self.time_s / period_us;
        let is_provable = |(period_us, rate): &&(f64, MissRate)| {
            prospect.is_provable(rate, instances(*period_us))
        };
        let from_longest = curve.iter().rev().skip_while(|point| !is_provable(point));
        from_longest.take_while(is_provable).last().map(|(period_us, _)| *period_us)
    }
}

impl Forecast {
    /// Returns the curve of miss rates from the recording and all trials that say something of a period.
    pub(super) fn learnt_curve(&self) -> Vec<(f64, MissRate)> {
        let mut of_trials = self.recording.as_in([]);
        let mut with = 0;
        let point = |&(period_us, recorded): &(f64, MissRate)| {
            let trials = self.trials_for(period_us);
            if trials.len() > with {
                with = trials.len();
                of_trials = self.as_in(trials);
            }
            (period_us, self.together(period_us, recorded, &of_trials))
        };
        self.recorded.iter().map(point).collect()
    }

    /// Returns the miss rate of a period from that of the recording and what trials lost.
    fn together(&self, period_us: f64, recorded: MissRate, of_trials: &Recording) -> MissRate {
        let confidence = self.wanted.confidence;
        let tried = of_trials.miss_rate(self.job(period_us), confidence);
        let all = tried.map_or(recorded, |tried| recorded.together(tried, confidence));
        // A job that falls behind misses more in a longer trial.
        let falls_behind = recorded.max == 1.0;
        MissRate { max: if falls_behind { 1.0 } else { all.max }, ..all }
    }

    fn as_in(&self, trials: &[(f64, LostInTrial)]) -> Recording {
        self.recording.as_in(trials.iter().map(|(_, lost)| lost))
    }

    /// Returns the trials that say something of a period.
    fn trials_for(&self, period_us: f64) -> &[(f64, LostInTrial)] {
        let longest_us = LONGER * period_us;
        &self.trials[..self.trials.partition_point(|(tried_us, _)| *tried_us <= longest_us)]
    }

    /// Learns what instances at a period lost, in a trial or a part of one.
    pub(in crate::period) fn watch(&mut self, period: TimeSpan, responses_ps: &[u64]) {
        let us = |ps: &u64| TimeSpan::from_ps(*ps).as_us();
        let responses_us: Vec<f64> = responses_ps.iter().map(us).collect();
        let period_us = period.as_us();
        let lost = LostInTrial::new(&responses_us, period_us, self.pace * self.recording.each_us());
        let Some(lost) = lost else { return };
        self.now.push(lost.clone());
        if crate::period::without("lost") {
            return;
        }
        let place = self.trials.partition_point(|(tried_us, _)| *tried_us <= period_us);
        self.trials.insert(place, (period_us, lost));
    }

    /// Returns the share of instances of `period` that are expected to be missed.
    pub(in crate::period) fn share_missed(&self, period: TimeSpan) -> Option<f64> {
        let period_us = period.as_us();
        let recorded = self.recording.miss_rate(self.job(period_us), self.wanted.confidence)?;
        let of_trials = self.as_in(self.trials_for(period_us));
        Some(share(&self.together(period_us, recorded, &of_trials)))
    }
}
