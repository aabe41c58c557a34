//! Rank 0 makes trials segment by segment, judges, reports and stores them.

mod recording;

use std::collections::BTreeMap;

use analysis::statistics::MissRate;
use contract::{Result, Time, TimeSpan};
use record::{LateInstance, PeriodSearch, SeenPause, Trial as TrialRecord};

use super::acceptance::Acceptance;
use super::command::Command;
use super::decision::{Answer, Foreseen, Verdict};
use super::forecast::{Confirmation, Forecast};
use super::notes::{Interruption, LateEnd, WORST_KEPT};
use super::outcome::{Known, PERIODS_PER_WAITING, SearchOutcome};
use super::schedule::Schedule;
use super::segment::{INSTANCES_MAX, TrialSegment, TrialSegments};
use super::trial::record_of;
use crate::bench::Bench;
use crate::event::Event;

/// Number of instances of the first segment. Each further segment has eight times as many as all before it.
const FIRST_SEGMENT: u64 = 16;
const GROWTH: u64 = 8;

/// Share of a trial before which a period is not refused early, because misses in a shorter time may have had one
/// cause.
const EARLIEST: f64 = 1.0 / 4.0;
/// Factor by which a trial that shows too little is extended, if the user left its length open and nothing was
/// predicted. At a predicted crossing most trials show too little, and the periods beside it show more in the same time.
const EXTENSION: u64 = 4;
/// Share of the time for finding that a trial takes if the user left its length open and a period was predicted: a few
/// trials near the crossing show more than one long one.
const SHARE_PREDICTED: f64 = 1.0 / 8.0;
/// Number of the longest pauses of a search that are stored.
const PAUSES_KEPT: usize = 1024;

/// Makes trials, and stores their results.
pub(super) struct TrialRunner<'a, 'b> {
    bench: &'a mut Bench<'b>,
    segments: TrialSegments<'a>,
    /// Known properties of the job.
    known: Known,
    wanted: Acceptance,
    begin: Time,
    pub(super) schedule: Schedule,
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
    /// Responses of all instances of all its trials, in picoseconds.
    responses: Vec<u64>,
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
    pub(super) fn new(bench: &'a mut Bench<'b>, segments: TrialSegments<'a>, known: Known) -> Self {
        let miss_rate = bench.settings.real_time.miss_rate;
        let confidence = bench.settings.confidence;
        let schedule = Schedule::new(&bench.settings.real_time);
        let begin = bench.rank.now();
        TrialRunner {
            bench,
            segments,
            known,
            wanted: Acceptance { miss_rate, confidence },
            begin,
            schedule,
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
    pub(super) fn foresee(&self) -> Option<Foreseen> {
        let finding_s = self.schedule.finding_s.max(self.spent_s());
        let time_s = match (self.schedule.times, self.schedule.to_its_end) {
            (0, _) => None,
            (times, true) => Some(f64::from(times) * self.bench.settings.real_time.trial_s()),
            (_, false) => Some((self.schedule.confirming_s - finding_s).max(0.0)),
        };
        let wanted = self.to_be_confirmed();
        let confirmation = time_s.map(|time_s| Confirmation { wanted, time_s });
        self.forecast.as_ref()?.foresee(|period| self.planned(period), confirmation)
    }

    /// Returns what the next confirmation must prove.
    fn to_be_confirmed(&self) -> Acceptance {
        self.wanted.of_attempt(self.failed.len() as u32 + 1)
    }

    /// Returns the time of the search so far, in seconds.
    pub(super) fn spent_s(&self) -> f64 {
        self.bench.rank.now().since(self.begin).as_s()
    }

    /// Makes a trial of `period`, which ends early when the search has taken `until_s`. Returns the verdict of all
    /// trials of the period together.
    pub(super) fn test(&mut self, period: TimeSpan, until_s: f64) -> Result<Verdict> {
        let mut planned = self.planned(period).min(INSTANCES_MAX);
        let may_extend = self.bench.settings.real_time.trials_are_free() && self.forecast.is_none();
        let extended = if may_extend { EXTENSION } else { 1 };
        let most = planned.saturating_mul(extended).min(INSTANCES_MAX);
        let earliest_s = EARLIEST * planned as f64 * period.as_s();
        let begin_s = self.spent_s();
        let mut responses: Vec<u64> = Vec::with_capacity(planned as usize);
        while (responses.len() as u64) < planned {
            let made = responses.len() as u64;
            let is_over = self.spent_s() >= until_s;
            if made > 0 && (self.spent_s() - begin_s >= earliest_s || is_over) {
                let so_far = self.wanted.rate(&responses, period, 1);
                if is_over || self.wanted.verdict(&so_far) == Verdict::Refused {
                    break;
                }
            }
            let left = planned - made;
            let next = (made * GROWTH).max(FIRST_SEGMENT);
            // A short remainder is added to the last segment, because one long segment shows more than a long and a
            // short one.
            let instances = if left < 2 * next { left } else { next };
            let in_time = ((until_s - self.spent_s()).max(0.0) / period.as_s()) as u64;
            let instances = instances.min(in_time.max(FIRST_SEGMENT));
            responses.extend(self.segment(period, instances, made)?);
            let is_whole = responses.len() as u64 == planned;
            let so_far = is_whole.then(|| self.wanted.rate(&responses, period, 1));
            if so_far.is_some_and(|rate| self.wanted.verdict(&rate) == Verdict::Unclear) {
                planned = most;
            }
        }
        let rate = self.wanted.rate(&responses, period, 1);
        let trial = record_of(self.wanted, period, begin_s, &responses, &rate);
        self.bench.tell_trial(trial.clone())?;
        Ok(self.join(period, trial, responses, 1))
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
        let asked = trial.saturating_mul(u64::from(self.schedule.times));
        let left_s = self.schedule.confirming_s - self.spent_s();
        let planned = match self.schedule.to_its_end {
            true => asked,
            false => asked.min((left_s.max(0.0) / period.as_s()) as u64),
        };
        // The first confirmation is made even if it is late, if the user requested it.
        let may_begin = left_s > 0.0 || (self.schedule.to_its_end && self.failed.is_empty());
        if !may_begin || (planned < asked && planned < wanted.instances_needed()) {
            return Ok(Confirmed::NoTime);
        }
        let begin_s = self.spent_s();
        let mut responses: Vec<u64> = Vec::new();
        // Once it has no chance any more, the rest of the time is left for a longer period. A segment begins without a
        // backlog, so each is as long as all before it: a backlog that grows slowly must have time to cause a miss.
        let prospect = wanted.prospect();
        let (trials, rate) = loop {
            let made = responses.len() as u64;
            let longest = made.max(trial).min(INSTANCES_MAX);
            responses.extend(self.segment(period, (planned - made).min(longest), made)?);
            let trials = responses.len().div_ceil(trial as usize);
            let rate = wanted.rate(&responses, period, trials);
            let rest = planned.saturating_sub(rate.instances) as f64;
            let expected = || self.forecast.as_ref().and_then(|all| all.share_missed(period));
            let is_over = rest == 0.0
                || rate.missed > 0
                    && !prospect.has_a_chance(&rate, rest, expected().unwrap_or_default());
            if is_over {
                break (trials, rate);
            }
        };
        let record = record_of(wanted, period, begin_s, &responses, &rate);
        self.bench.tell_trial(record.clone())?;
        if record.sustained {
            let tried = self.tried.entry(period).or_default();
            if tried.trials == 0 {
                *tried = TriedPeriod { trials, responses };
            }
            self.held = Some(ConfirmedTrial { trial: record, rate });
            return Ok(Confirmed::Holds);
        }
        self.failed.push(record.clone());
        Ok(Confirmed::Fails(self.join(period, record, responses, trials)))
    }

    /// Adds a trial to those of `period`. Returns the verdict of all of them together.
    fn join(
        &mut self,
        period: TimeSpan,
        trial: TrialRecord,
        responses: Vec<u64>,
        trials: usize,
    ) -> Verdict {
        if let Some(forecast) = &mut self.forecast {
            forecast.learn(&trial);
        }
        self.trials.push(trial);
        self.last = period;
        let tried = self.tried.entry(period).or_default();
        tried.trials += trials;
        tried.responses.extend(responses);
        self.wanted.verdict(&self.wanted.rate(&tried.responses, period, tried.trials))
    }

    /// Returns the number of instances in a trial of `period`.
    fn planned(&self, period: TimeSpan) -> u64 {
        let settings = &self.bench.settings.real_time;
        let instances = settings.instances(period, self.wanted.instances_needed());
        // The last segment, which is most of the trial, must contain that many.
        let for_waiting =
            (PERIODS_PER_WAITING * self.known.waiting).div_ceil(GROWTH) * (GROWTH + 1);
        let free = settings.trials_are_free();
        let shorter = self.forecast.as_ref().filter(|_| free).map_or(u64::MAX, |_| {
            let part = (SHARE_PREDICTED * self.schedule.finding_s / period.as_s()) as u64;
            part.max(2 * self.wanted.instances_needed())
        });
        if free { instances.min(shorter).max(for_waiting) } else { instances }
    }

    /// Runs a segment of a trial after `made` of its instances, and returns the responses.
    fn segment(&mut self, period: TimeSpan, instances: u64, made: u64) -> Result<Vec<u64>> {
        Command::Segment { period, instances }.send(self.bench.rank)?;
        let segment = self.segments.run(self.bench.rank, period, instances)?;
        if let Some(forecast) = &mut self.forecast {
            forecast.watch(period, &segment.responses_ps);
        }
        self.keep_worst(period, made, &segment);
        self.keep_pauses(&segment);
        Ok(segment.responses_ps)
    }

    fn keep_worst(&mut self, period: TimeSpan, made: u64, segment: &TrialSegment) {
        let record = |&(rank, late): &(usize, LateEnd)| LateInstance {
            period_us: period.as_us(),
            instance: made + late.instance,
            rank,
            stage: late.stage,
            late_us: late.late.as_us(),
            at_s: late.at.since(self.begin).as_s(),
        };
        let period_us = period.as_us();
        let (mut same, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.worst)
            .into_iter()
            .partition(|late| late.period_us == period_us);
        same.extend(segment.worst.iter().map(record));
        same.sort_by(|a, b| b.late_us.total_cmp(&a.late_us));
        same.truncate(WORST_KEPT);
        same.extend(others);
        self.worst = same;
    }

    fn keep_pauses(&mut self, segment: &TrialSegment) {
        let record = |&(rank, pause): &(usize, Interruption)| SeenPause {
            rank,
            at_s: pause.at.since(self.begin).as_s(),
            length_us: pause.length.as_us(),
            during: pause.during,
            stage: pause.stage,
        };
        self.pauses.extend(segment.pauses.iter().map(record));
        if self.pauses.len() > 2 * PAUSES_KEPT {
            self.keep_longest_pauses();
        }
    }

    fn keep_longest_pauses(&mut self) {
        self.pauses.sort_by(|a, b| b.length_us.total_cmp(&a.length_us));
        self.pauses.truncate(PAUSES_KEPT);
    }

    /// Ends the search on every rank, and returns its outcome.
    pub(super) fn conclude(mut self, answer: Answer) -> Result<SearchOutcome> {
        let Answer { end, longest_refused, shortest_sustained } = answer;
        let limit_s = self.bench.settings.real_time.search_limit_s;
        Command::End { period: shortest_sustained }.send(self.bench.rank)?;
        self.keep_longest_pauses();
        self.pauses.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        // The period whose responses are reported: the sustained one, else the refused one, else the one that was tried
        // last.
        let shown = shortest_sustained.or(longest_refused).unwrap_or(self.last);
        let worst = self.worst_near(shown.as_us());
        let TriedPeriod { trials, responses } = self.tried.remove(&shown).unwrap_or_default();
        // The confirmation's miss rate is preferred: the period was not chosen for it.
        let (confirmation, confirmed) = self.held.map(|held| (held.trial, held.rate)).unzip();
        let miss_rate = confirmed.unwrap_or_else(|| self.wanted.rate(&responses, shown, trials));
        let search = PeriodSearch {
            end,
            longest_refused_us: longest_refused.map(TimeSpan::as_us),
            shortest_sustained_us: shortest_sustained.map(TimeSpan::as_us),
            miss_rate: self.wanted.miss_rate,
            confidence: self.wanted.confidence,
            proven: shortest_sustained.is_some() && self.wanted.is_proven(&miss_rate),
            miss_rate_max: shortest_sustained.map(|_| miss_rate.max),
            instances_needed: self.wanted.instances_needed(),
            limit_s,
            confirmation,
            unconfirmed: self.failed,
            confirm_times: self.schedule.times,
            worst,
            pauses: self.pauses,
            forecast: self.forecast.as_ref().map(Forecast::record),
            no_forecast: self.no_forecast,
            trials: self.trials,
            hygiene: BTreeMap::new(),
        };
        let responses_us = responses.iter().map(|&ps| TimeSpan::from_ps(ps).as_us()).collect();
        Ok(SearchOutcome { search: Some(search), miss_rate: Some(miss_rate), responses_us })
    }

    /// Returns the latest instances: first those of the reported period, then those of the nearest periods.
    fn worst_near(&mut self, shown_us: f64) -> Vec<LateInstance> {
        let mut worst = std::mem::take(&mut self.worst);
        let distance = |late: &LateInstance| (late.period_us - shown_us).abs();
        worst.sort_by(|a, b| {
            distance(a).total_cmp(&distance(b)).then(b.late_us.total_cmp(&a.late_us))
        });
        worst.truncate(2 * WORST_KEPT);
        worst
    }
}

impl Bench<'_> {
    /// Reports one trial.
    fn tell_trial(&mut self, trial: TrialRecord) -> Result<()> {
        let line = self.trial_line(trial);
        self.tell(Event::Tried(line))
    }
}
