//! Rank 0 makes trials segment by segment, judges, reports and stores them.

mod confirmation;
mod ending;
mod recording;

pub(super) use confirmation::Confirmed;
use confirmation::ConfirmedTrial;

use std::collections::BTreeMap;

use contract::{Result, Time, TimeSpan};
use record::{LateInstance, SeenPause, Trial as TrialRecord, TrialLine};

use super::acceptance::{Acceptance, Limits, Verdict};
use super::command::Command;
use super::constants::CONSTANTS;
use super::forecast::Forecast;
use super::instances::{Instances, record_of};
use super::outcome::SearchBasis;
use super::schedule::Schedule;
use super::segment::{TrialSegment, TrialSegments};
use crate::bench::Bench;
use crate::event::Event;

/// Makes trials, and stores their results.
pub(super) struct TrialRunner<'a, 'b> {
    bench: &'a mut Bench<'b>,
    segments: TrialSegments<'a>,
    /// Known properties of the job.
    basis: SearchBasis,
    wanted: Acceptance,
    limits: Limits,
    begin: Time,
    pub(super) schedule: Schedule,
    /// True if the same work always takes the same time here. A search then repeats no trial, and ends one once its
    /// instances repeat.
    pub(super) is_steady: bool,
    trials: Vec<TrialRecord>,
    /// Confirmations that failed, in the order in which they were made.
    failed: Vec<TrialRecord>,
    held: Option<ConfirmedTrial>,
    /// The instances of all trials of each period.
    tried: BTreeMap<TimeSpan, Instances>,
    /// Period that was tried last.
    last: TimeSpan,
    worst: Vec<LateInstance>,
    pauses: Vec<SeenPause>,
    forecast: Option<Forecast>,
    /// Length of the next trial in seconds, if it follows from the forecast.
    planned_s: Option<f64>,
    no_forecast: Option<String>,
}

impl<'a, 'b> TrialRunner<'a, 'b> {
    pub(super) fn new(
        bench: &'a mut Bench<'b>,
        segments: TrialSegments<'a>,
        basis: SearchBasis,
    ) -> Self {
        let miss_rate = bench.settings.real_time.miss_rate;
        let confidence = bench.settings.confidence;
        let is_steady = bench.rank.describe().is_steady;
        let schedule = Schedule::new(&bench.settings.real_time, is_steady);
        let limits = Limits::of(bench.settings.real_time.required);
        let begin = basis.begun.unwrap_or_else(|| bench.rank.now());
        TrialRunner {
            bench,
            segments,
            basis,
            wanted: Acceptance { miss_rate, confidence },
            limits,
            begin,
            schedule,
            is_steady,
            trials: Vec::new(),
            failed: Vec::new(),
            held: None,
            tried: BTreeMap::new(),
            last: TimeSpan::ZERO,
            worst: Vec::new(),
            pauses: Vec::new(),
            forecast: None,
            planned_s: None,
            no_forecast: None,
        }
    }

    /// Returns whether a period has been tried.
    pub(super) fn has_tried(&self) -> bool {
        !self.trials.is_empty()
    }

    /// Returns the time of the search so far, in seconds.
    pub(super) fn spent_s(&self) -> f64 {
        self.bench.rank.now().since(self.begin).as_s()
    }

    /// Takes up the trials of `period` that the resumed run has made.
    pub(super) fn resume(&mut self, period: TimeSpan) {
        let key = self.bench.key();
        let of_period = |trial: &TrialRecord| TimeSpan::from_s(trial.period_us / 1e6) == period;
        let is_it = |line: &&TrialLine| line.key == key && of_period(&line.trial);
        let earlier = self.bench.settings.real_time.earlier.iter().filter(is_it);
        for line in earlier {
            let tried = self.tried.entry(period).or_default();
            tried.add_earlier(&line.trial);
            self.trials.push(line.trial.clone());
        }
    }

    /// Makes a trial of `period`, which ends early when the search has taken `until_s`. Returns the verdict of all
    /// trials of the period together. Instances that a resumed run has made are part of this trial.
    pub(super) fn test(&mut self, period: TimeSpan, until_s: f64) -> Result<Verdict> {
        let resumed = self.resumed(period);
        let mut planned =
            self.planned(period).min(CONSTANTS.trial_max).saturating_sub(resumed).max(1);
        let real_time = &self.bench.settings.real_time;
        // A required proof has one verdict, after the number of instances that was planned.
        let is_open = real_time.trials_are_free() && real_time.required.is_none();
        let ends_settled = self.is_steady && is_open && real_time.period_s.is_none();
        let extended = if is_open && !self.follows_forecast() { CONSTANTS.extension } else { 1 };
        let most = planned.saturating_mul(extended).min(CONSTANTS.trial_max);
        let earliest_s = if ends_settled {
            0.0
        } else {
            CONSTANTS.refused_from * planned as f64 * period.as_s()
        };
        let earliest_s = earliest_s.min(CONSTANTS.part_s);
        let part = self.part(period);
        let pace_s = self.pace_s(period);
        let late = CONSTANTS.segment_first.min((CONSTANTS.overtime_s / pace_s) as u64);
        let begin_s = self.spent_s();
        let (mut all, mut reported, mut reported_s) = (Instances::default(), 0, begin_s);
        while (all.len() as u64) < planned {
            let made = all.len() as u64;
            let is_over = self.spent_s() >= until_s;
            if made > 0 && (self.spent_s() - begin_s >= earliest_s || is_over) {
                let so_far = self.wanted.rate(&all.missed);
                if is_over || self.wanted.verdict(&so_far) == Verdict::Refused {
                    break;
                }
            }
            if made - reported >= part {
                self.report_part(period, reported_s, &all.since(reported as usize))?;
                (reported, reported_s) = (made, self.spent_s());
            }
            let in_time = ((until_s - self.spent_s()).max(0.0) / pace_s) as u64;
            let instances = next_segment(made, planned).min(part).min(in_time.max(late).max(1));
            let segment = self.segment(period, instances, resumed + made)?;
            all.judge(&segment, period, self.limits);
            let is_whole = all.len() as u64 == planned;
            let is_settled =
                ends_settled && all.len() as u64 > self.for_waiting() && all.are_settled();
            let so_far = (is_whole || is_settled).then(|| self.wanted.rate(&all.missed));
            match so_far.map(|rate| self.wanted.verdict(&rate)) {
                Some(Verdict::Unclear) if is_whole => planned = most,
                Some(verdict) if verdict != Verdict::Unclear => break,
                _ => {}
            }
        }
        self.report_part(period, reported_s, &all.since(reported as usize))?;
        let rate = self.wanted.rate(&all.missed);
        let trial = record_of(self.wanted, period, begin_s, &all, &rate);
        Ok(self.join(period, trial, all))
    }

    /// Returns the time from one instance to the next in seconds. Those that take longer than the period end later than it
    /// says.
    fn pace_s(&self, period: TimeSpan) -> f64 {
        period.max(self.basis.each.unwrap_or_default()).as_s()
    }

    /// Returns the number of instances of `period` that the resumed run has made.
    fn resumed(&self, period: TimeSpan) -> u64 {
        let is_given = self.bench.settings.real_time.period_s.is_some();
        let tried = self.tried.get(&period).filter(|_| is_given);
        tried.map_or(0, |tried| tried.missed.len() as u64)
    }

    /// Returns the number of instances after which a trial of `period` is reported as far as it is made.
    fn part(&self, period: TimeSpan) -> u64 {
        let instances = (CONSTANTS.part_s / period.as_s()) as u64;
        instances.max(CONSTANTS.part_min).max(self.for_waiting()).min(CONSTANTS.segment_max)
    }

    fn report_part(&mut self, period: TimeSpan, begin_s: f64, part: &Instances) -> Result<()> {
        let rate = self.wanted.rate(&part.missed);
        self.bench.emit_trial(record_of(self.wanted, period, begin_s, part, &rate))
    }

    /// Adds a trial to those of `period`. Returns the verdict of all of them together.
    fn join(&mut self, period: TimeSpan, trial: TrialRecord, instances: Instances) -> Verdict {
        self.trials.push(trial);
        self.last = period;
        let tried = self.tried.entry(period).or_default();
        tried.extend(instances);
        self.wanted.verdict(&self.wanted.rate(&tried.missed))
    }

    /// Returns the number of instances in a trial of `period`.
    fn planned(&self, period: TimeSpan) -> u64 {
        let settings = &self.bench.settings.real_time;
        let instances = settings.instances(period, self.wanted.instances_needed());
        if !settings.trials_are_free() {
            return instances;
        }
        // The last segment, which is most of the trial, must contain enough for what may wait.
        let growth = CONSTANTS.segment_growth;
        let for_waiting = self.for_waiting().div_ceil(growth) * (growth + 1);
        let instances = match self.planned_s {
            _ if self.is_steady && settings.period_s.is_some() => self.wanted.instances_needed(),
            _ if self.is_steady => self.to_be_confirmed().instances_needed(),
            Some(planned_s) => (planned_s / period.as_s()) as u64,
            None => instances,
        };
        instances.max(for_waiting)
    }

    /// Returns the number of instances of a segment in which a job catches up with those that may wait.
    fn for_waiting(&self) -> u64 {
        CONSTANTS.instances_per_waiting * self.basis.waiting
    }

    /// Runs a segment of a trial after `made` of its instances.
    fn segment(&mut self, period: TimeSpan, instances: u64, made: u64) -> Result<TrialSegment> {
        Command::Segment { period, instances }.send(self.bench.rank)?;
        let segment = self.segments.run(self.bench.rank, period, instances)?;
        if let Some(forecast) = &mut self.forecast {
            forecast.learn(period, &segment.responses_ps);
        }
        self.keep_worst(period, made, &segment);
        self.keep_pauses(&segment);
        Ok(segment)
    }
}

/// Returns the number of instances of the segment after `made` of a trial. A short remainder is added to the last
/// segment, because one long segment shows more than a long and a short one.
fn next_segment(made: u64, planned: u64) -> u64 {
    let (left, next) =
        (planned - made, (made * CONSTANTS.segment_growth).max(CONSTANTS.segment_first));
    if left < 2 * next { left } else { next }
}

impl Bench<'_> {
    /// Reports one trial.
    fn emit_trial(&mut self, trial: TrialRecord) -> Result<()> {
        let line = self.trial_line(trial);
        self.emit(Event::Tried(line))
    }
}
