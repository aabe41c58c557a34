//! Rank 0 makes trials segment by segment, judges, reports and stores them.

mod ending;
mod recording;

use std::collections::BTreeMap;

use analysis::statistics::MissRate;
use contract::{Result, Time, TimeSpan};
use record::{LateInstance, SeenPause, Trial as TrialRecord, TrialLine};

use super::acceptance::{Acceptance, Limits};
use super::command::Command;
use super::decision::{ExpectedVerdicts, Verdict};
use super::forecast::{Confirmation, Forecast};
use super::instances::{Instances, record_of};
use super::outcome::{PERIODS_PER_WAITING, SearchBasis};
use super::schedule::Schedule;
use super::segment::{INSTANCES_MAX, TrialSegment, TrialSegments};
use crate::bench::Bench;
use crate::event::Event;

/// Number of instances of the first segment. Each further segment has eight times as many as all before it.
const FIRST_SEGMENT: u64 = 16;
const GROWTH: u64 = 8;

/// Time by which the first segment of a trial may exceed the time of a search.
const OVERTIME_S: f64 = 0.5;

/// Share of a trial before which a period is not refused early, because misses in a shorter time may have had one
/// cause.
const EARLIEST: f64 = 1.0 / 4.0;
/// Factor by which a trial that shows too little is extended, if the user left its length open and nothing was
/// predicted. At a predicted crossing most trials show too little, and the periods beside it show more in the same time.
const EXTENSION: u64 = 4;
/// Share of the time for finding that a trial takes if the user left its length open and a period was predicted: a few
/// trials near the crossing show more than one long one.
const SHARE_PREDICTED: f64 = 1.0 / 8.0;
/// Time after which a trial is reported as far as it is made, and the minimum number of instances until then: a chain
/// that falls behind must have time to show it. An interrupted run keeps what was reported, and continues from there.
const PART_S: f64 = 10.0;
const PART_MIN: u64 = 256;
/// Maximum number of instances of a trial, whose times rank 0 keeps in less than a gigabyte.
const JUDGED_MAX: u64 = 1 << 25;
/// Number of the longest pauses of a search that are stored.
const PAUSES_KEPT: usize = 1024;

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
    tried: BTreeMap<TimeSpan, TriedPeriod>,
    /// Period that was tried last.
    last: TimeSpan,
    worst: Vec<LateInstance>,
    pauses: Vec<SeenPause>,
    forecast: Option<Forecast>,
    no_forecast: Option<String>,
}

/// The trials of one period.
#[derive(Default)]
struct TriedPeriod {
    trials: usize,
    /// The instances of all its trials.
    instances: Instances,
}

/// A confirmation that succeeded.
struct ConfirmedTrial {
    trial: TrialRecord,
    rate: MissRate,
}

/// The result of confirming a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmed {
    Holds,
    /// The period was not sustained. The verdict is that of all its instances together.
    Fails(Verdict),
    /// The remaining time is too short to show anything.
    NoTime,
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
        let schedule = Schedule::new(&bench.settings.real_time).on_machine(is_steady);
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
            no_forecast: None,
        }
    }

    /// Returns whether a period has been tried.
    pub(super) fn has_tried(&self) -> bool {
        !self.trials.is_empty()
    }

    /// Predicts the miss rates of all periods from the recording and all trials.
    pub(super) fn expected_verdicts(&self) -> Option<ExpectedVerdicts> {
        let finding_s = self.schedule.finding_s.max(self.spent_s());
        let time_s = match (self.schedule.times, self.schedule.to_its_end) {
            (0, _) => None,
            (times, true) => Some(f64::from(times) * self.bench.settings.real_time.trial_s()),
            (_, false) => Some((self.schedule.confirming_s - finding_s).max(0.0)),
        };
        let wanted = self.to_be_confirmed();
        let confirmation = time_s.map(|time_s| Confirmation { wanted, time_s });
        self.forecast.as_ref()?.expected_verdicts(|period| self.planned(period), confirmation)
    }

    /// Returns what the next confirmation must prove.
    fn to_be_confirmed(&self) -> Acceptance {
        self.wanted.of_attempt(self.failed.len() as u32 + 1)
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
            tried.trials += 1;
            tried.instances.add_earlier(&line.trial);
            self.trials.push(line.trial.clone());
        }
    }

    /// Makes a trial of `period`, which ends early when the search has taken `until_s`. Returns the verdict of all
    /// trials of the period together. Instances that a resumed run has made are part of this trial.
    pub(super) fn test(&mut self, period: TimeSpan, until_s: f64) -> Result<Verdict> {
        let resumed = self.resumed(period);
        let mut planned = self.planned(period).min(JUDGED_MAX).saturating_sub(resumed).max(1);
        let real_time = &self.bench.settings.real_time;
        // A required proof has one verdict, after the number of instances that was planned.
        let is_open = real_time.trials_are_free() && real_time.required.is_none();
        let ends_settled = self.is_steady && is_open && real_time.period_s.is_none();
        let extended = if is_open && self.forecast.is_none() && !super::without("extension") {
            EXTENSION
        } else {
            1
        };
        let most = planned.saturating_mul(extended).min(JUDGED_MAX);
        let earliest_s = if ends_settled { 0.0 } else { EARLIEST * planned as f64 * period.as_s() };
        let earliest_s = earliest_s.min(PART_S);
        let part = self.part(period);
        let pace_s = self.pace_s(period);
        let late = FIRST_SEGMENT.min((OVERTIME_S / pace_s) as u64);
        let begin_s = self.spent_s();
        let (mut all, mut reported, mut reported_s) = (Instances::default(), 0, begin_s);
        while (all.len() as u64) < planned {
            let made = all.len() as u64;
            let is_over = self.spent_s() >= until_s;
            if made > 0 && (self.spent_s() - begin_s >= earliest_s || is_over) {
                let so_far = self.wanted.rate(&all.missed, 1);
                if is_over
                    || (self.wanted.verdict(&so_far) == Verdict::Refused
                        && !super::without("early"))
                {
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
            let so_far = (is_whole || is_settled).then(|| self.wanted.rate(&all.missed, 1));
            match so_far.map(|rate| self.wanted.verdict(&rate)) {
                Some(Verdict::Unclear) if is_whole => planned = most,
                Some(verdict) if verdict != Verdict::Unclear => break,
                _ => {}
            }
        }
        self.report_part(period, reported_s, &all.since(reported as usize))?;
        let rate = self.wanted.rate(&all.missed, 1);
        let trial = record_of(self.wanted, period, begin_s, &all, &rate);
        Ok(self.join(period, trial, all, 1))
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
        tried.map_or(0, |tried| tried.instances.missed.len() as u64)
    }

    /// Returns the number of instances after which a trial of `period` is reported as far as it is made.
    fn part(&self, period: TimeSpan) -> u64 {
        let instances = (PART_S / period.as_s()) as u64;
        instances.max(PART_MIN).max(self.for_waiting()).min(INSTANCES_MAX)
    }

    fn report_part(&mut self, period: TimeSpan, begin_s: f64, part: &Instances) -> Result<()> {
        let rate = self.wanted.rate(&part.missed, 1);
        self.bench.emit_trial(record_of(self.wanted, period, begin_s, part, &rate))
    }

    /// Returns the longest period that can be confirmed in the remaining time; `None` if a confirmation may take as
    /// long as it needs.
    pub(super) fn longest_to_confirm(&self) -> Option<TimeSpan> {
        if self.schedule.to_its_end {
            return None;
        }
        let wanted = self.to_be_confirmed();
        let left_s = (self.schedule.confirming_s - self.spent_s()).max(0.0);
        Some(TimeSpan::from_s(left_s / wanted.instances_needed() as f64))
    }

    /// Confirms `period`: runs it for a multiple of a trial's length. It is sustained if these instances alone prove
    /// the requested miss rate. The trials of the search do not count, because the period was chosen for them. The more
    /// confirmations failed before, the higher the confidence must be ([`Acceptance::of_attempt`]).
    pub(super) fn confirm(&mut self, period: TimeSpan) -> Result<Confirmed> {
        let wanted = self.to_be_confirmed();
        let trial = self.planned(period).min(INSTANCES_MAX);
        let requested = trial.saturating_mul(u64::from(self.schedule.times));
        let left_s = self.schedule.confirming_s - self.spent_s();
        let planned = match self.schedule.to_its_end {
            true => requested,
            false => requested.min((left_s.max(0.0) / self.pace_s(period)) as u64),
        };
        // The first confirmation is made even if it is late, if the user requested it.
        let may_begin = left_s > 0.0 || (self.schedule.to_its_end && self.failed.is_empty());
        if !may_begin || (planned < requested && planned < wanted.instances_needed()) {
            return Ok(Confirmed::NoTime);
        }
        let begin_s = self.spent_s();
        let mut all = Instances::default();
        // Once it has no chance any more, the rest of the time is left for a longer period. A segment begins without a
        // backlog, so each is as long as all before it: a backlog that grows slowly must have time to cause a miss.
        let prospect = wanted.prospect();
        let (trials, rate) = loop {
            let made = all.len() as u64;
            let longest = made.max(trial).min(INSTANCES_MAX);
            let segment = self.segment(period, (planned - made).min(longest), made)?;
            all.judge(&segment, period, self.limits);
            let trials = all.len().div_ceil(trial as usize);
            let rate = wanted.rate(&all.missed, trials);
            let rest = planned.saturating_sub(rate.instances) as f64;
            let expected = || self.forecast.as_ref().and_then(|all| all.share_missed(period));
            let is_over = rest == 0.0
                || rate.missed > 0
                    && !super::without("chance")
                    && !prospect.has_a_chance(&rate, rest, expected().unwrap_or_default());
            if is_over {
                break (trials, rate);
            }
        };
        let record = record_of(wanted, period, begin_s, &all, &rate);
        self.bench.emit_trial(record.clone())?;
        if record.sustained {
            let tried = self.tried.entry(period).or_default();
            if tried.trials == 0 {
                *tried = TriedPeriod { trials, instances: all };
            }
            self.held = Some(ConfirmedTrial { trial: record, rate });
            return Ok(Confirmed::Holds);
        }
        self.failed.push(record.clone());
        Ok(Confirmed::Fails(self.join(period, record, all, trials)))
    }

    /// Adds a trial to those of `period`. Returns the verdict of all of them together.
    fn join(
        &mut self,
        period: TimeSpan,
        trial: TrialRecord,
        instances: Instances,
        trials: usize,
    ) -> Verdict {
        if let Some(forecast) = &mut self.forecast {
            forecast.learn(&trial);
        }
        self.trials.push(trial);
        self.last = period;
        let tried = self.tried.entry(period).or_default();
        tried.trials += trials;
        tried.instances.extend(instances);
        self.wanted.verdict(&self.wanted.rate(&tried.instances.missed, tried.trials))
    }

    /// Returns the number of instances in a trial of `period`.
    fn planned(&self, period: TimeSpan) -> u64 {
        let settings = &self.bench.settings.real_time;
        let instances = settings.instances(period, self.wanted.instances_needed());
        // The last segment, which is most of the trial, must contain enough for what may wait.
        let for_waiting = self.for_waiting().div_ceil(GROWTH) * (GROWTH + 1);
        let free = settings.trials_are_free();
        if free && self.is_steady {
            let is_given = settings.period_s.is_some();
            let wanted = if is_given { self.wanted } else { self.to_be_confirmed() };
            return wanted.instances_needed().max(for_waiting);
        }
        let shorter = self.forecast.as_ref().filter(|_| free && !super::without("eighth")).map_or(
            u64::MAX,
            |_| {
                let part = (SHARE_PREDICTED * self.schedule.finding_s / period.as_s()) as u64;
                part.max(2 * self.wanted.instances_needed())
            },
        );
        if free { instances.min(shorter).max(for_waiting) } else { instances }
    }

    /// Returns the number of instances of a segment in which a job catches up with those that may wait.
    fn for_waiting(&self) -> u64 {
        PERIODS_PER_WAITING * self.basis.waiting
    }

    /// Runs a segment of a trial after `made` of its instances.
    fn segment(&mut self, period: TimeSpan, instances: u64, made: u64) -> Result<TrialSegment> {
        Command::Segment { period, instances }.send(self.bench.rank)?;
        let segment = self.segments.run(self.bench.rank, period, instances)?;
        if let Some(forecast) = &mut self.forecast {
            forecast.watch(period, &segment.responses_ps);
        }
        self.keep_worst(period, made, &segment);
        self.keep_pauses(&segment);
        Ok(segment)
    }
}

/// Returns the number of instances of the segment after `made` of a trial. A short remainder is added to the last
/// segment, because one long segment shows more than a long and a short one.
fn next_segment(made: u64, planned: u64) -> u64 {
    let (left, next) = (planned - made, (made * GROWTH).max(FIRST_SEGMENT));
    if left < 2 * next { left } else { next }
}

impl Bench<'_> {
    /// Reports one trial.
    fn emit_trial(&mut self, trial: TrialRecord) -> Result<()> {
        let line = self.trial_line(trial);
        self.emit(Event::Tried(line))
    }
}
