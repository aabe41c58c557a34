//! The recording of instances back to back, before the first trial.

use contract::{Result, TimeSpan};

use super::TrialRunner;
use crate::period::command::Command;
use crate::period::forecast::{self, Forecast};
use crate::period::segment::TrialSegment;

impl TrialRunner<'_, '_> {
    /// Records instances back to back, which take about `each`, and predicts from them, on machines where time costs
    /// something.
    pub(in crate::period) fn predict(&mut self, each: TimeSpan) -> Result<()> {
        let real_time = &self.bench.settings.real_time;
        let explains = real_time.explain;
        if real_time.search_limit_s.is_none() || crate::period::without("forecast") {
            return Ok(());
        }
        let instances = match forecast::instances(each, self.schedule.finding_s) {
            // More instances would only repeat these.
            Ok(instances) if self.is_steady => instances.min(forecast::INSTANCES_MIN),
            Ok(instances) => instances,
            Err(why) => {
                self.no_forecast = Some(why);
                return Ok(());
            }
        };
        let mut alone = Vec::new();
        for _ in 0..forecast::ALONE {
            alone.extend(self.back_to_back(1)?.responses_ps);
        }
        let segment = self.recorded(instances)?;
        match Forecast::new(&segment, &alone, self.basis.clone(), self.wanted, explains) {
            Ok(forecast) => self.forecast = Some(forecast),
            Err(why) => self.no_forecast = Some(why),
        }
        Ok(())
    }

    /// Records some instances back to back, and more of them if these take much less time than a recording should: the
    /// estimate of an instance may contain a pause of the system, or the slow first instance.
    fn recorded(&mut self, mut instances: u64) -> Result<TrialSegment> {
        let wanted_s = forecast::recording_s(self.schedule.finding_s);
        loop {
            let segment = self.back_to_back(instances)?;
            let last_ps = segment.responses_ps.iter().copied().max().unwrap_or(0);
            match forecast::more_instances(instances, TimeSpan::from_ps(last_ps), wanted_s) {
                Some(more) if !self.is_steady => instances = more,
                _ => return Ok(segment),
            }
        }
    }

    /// Runs a segment of `instances` that follow each other at once.
    fn back_to_back(&mut self, instances: u64) -> Result<TrialSegment> {
        Command::Segment { period: TimeSpan::ZERO, instances }.send(self.bench.rank)?;
        let segment = self.segments.run(self.bench.rank, TimeSpan::ZERO, instances)?;
        self.keep_pauses(&segment);
        Ok(segment)
    }
}
