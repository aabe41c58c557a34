//! The recording of instances back to back, before the first trial, and what is predicted from it.

use contract::{Result, TimeSpan};

use super::TrialRunner;
use crate::period::command::Command;
use crate::period::constants::CONSTANTS;
use crate::period::forecast::{self, Forecast};
use crate::period::schedule::Schedule;

impl TrialRunner<'_, '_> {
    /// Records instances back to back, which take about `each`, and predicts from them, on machines where time costs
    /// something.
    pub(in crate::period) fn predict(&mut self, each: TimeSpan) -> Result<()> {
        if self.bench.settings.real_time.search_limit_s.is_none() {
            return Ok(());
        }
        let forecast = match forecast::instances(each, self.schedule.finding_s) {
            Ok(instances) => self.recorded(instances)?,
            Err(why) => Err(why),
        };
        match forecast {
            Ok(forecast) => self.forecast = Some(forecast),
            Err(why) => self.no_forecast = Some(why),
        }
        Ok(())
    }

    /// Records single instances, and then this number back to back, or more of them if these take less than half of the time
    /// for it: the estimate of an instance may contain a pause of the system, or the slow first instance.
    fn recorded(&mut self, mut instances: u64) -> Result<std::result::Result<Forecast, String>> {
        let mut alone_ps = Vec::new();
        for _ in 0..CONSTANTS.alone {
            alone_ps.extend(self.back_to_back(1)?);
        }
        // More instances than that would only repeat these where the same work always takes the same time.
        let (least, most) = (CONSTANTS.recorded_min, CONSTANTS.recorded_max);
        let most = if self.is_steady { least } else { most };
        let enough_s = CONSTANTS.recording * self.schedule.finding_s / 2.0;
        let ends_ps = loop {
            let ends_ps = self.back_to_back(instances.min(most))?;
            let last_ps = ends_ps.iter().copied().max().unwrap_or(0);
            if instances >= most || TimeSpan::from_ps(last_ps).as_s() >= enough_s {
                break ends_ps;
            }
            instances *= CONSTANTS.segment_growth;
        };
        Ok(Forecast::new(&ends_ps, &alone_ps, &self.basis, self.wanted))
    }

    /// Runs instances that follow each other at once, and returns their ends in picoseconds.
    fn back_to_back(&mut self, instances: u64) -> Result<Vec<u64>> {
        Command::Segment { period: TimeSpan::ZERO, instances }.send(self.bench.rank)?;
        let segment = self.segments.run(self.bench.rank, TimeSpan::ZERO, instances)?;
        self.keep_pauses(&segment);
        Ok(segment.responses_ps)
    }

    /// Returns whether the search tries what is predicted: if the time for a confirmation may suffice for a proof.
    pub(in crate::period) fn follows_forecast(&self) -> bool {
        let Schedule { finding_s, confirming_s, times, to_its_end } = self.schedule;
        let confirmed_s = match to_its_end {
            true => f64::from(times) * self.bench.settings.real_time.trial_s(),
            false => confirming_s - finding_s,
        };
        let proven_s = |all: &Forecast| all.each_s() * self.wanted.instances_needed() as f64;
        !self.is_steady && self.forecast.as_ref().is_some_and(|all| proven_s(all) < confirmed_s)
    }

    /// Returns the shortest period that is predicted to be sustained.
    pub(in crate::period) fn forecast_period(&self) -> Option<TimeSpan> {
        self.forecast.as_ref()?.shortest()
    }

    /// Plans a trial of this length in seconds, and returns the longest period that it will probably refuse.
    pub(in crate::period) fn refutable(&mut self, trial_s: f64) -> Option<TimeSpan> {
        self.planned_s = Some(trial_s);
        self.forecast.as_ref()?.refutable(trial_s)
    }
}
