//! Trials as rank 0 makes them: segment by segment, judged, told and kept.

use std::collections::BTreeMap;

use analysis::statistics::MissRate;
use contract::record::{LateInstance, PeriodSearch, SeenPause, Trial as TrialRecord};
use contract::{Result, Time, TimeSpan};

use super::acceptance::Acceptance;
use super::command::Command;
use super::decision::{Answer, Verdict};
use super::notes::{Interruption, LateEnd, WORST_KEPT};
use super::outcome::{PERIODS_PER_WAITING, SearchOutcome};
use super::schedule::Schedule;
use super::segment::{INSTANCES_MAX, TrialSegment, TrialSegments};
use crate::bench::Bench;
use crate::event::Event;

/// Instances of the first segment; each further one has eight times as many as all before.
const FIRST_SEGMENT: u64 = 16;
const GROWTH: u64 = 8;

/// A period is given up early only after this share of a trial: misses in a shorter time may have had one cause. (Loads
/// of a tenth of a second on a virtual machine refused periods that it else sustained.)
const EARLIEST: f64 = 1.0 / 4.0;
/// A trial that shows too little is made so many times as long, where nobody said how long it is to be.
const EXTENSION: u64 = 4;
/// The longest pauses of a search that are kept.
const PAUSES_KEPT: usize = 1024;

/// Makes trials, and keeps what they showed.
pub(super) struct TrialRunner<'a, 'b> {
    bench: &'a mut Bench<'b>,
    segments: TrialSegments<'a>,
    /// How many instances may wait for each other.
    waiting: u64,
    wanted: Acceptance,
    begin: Time,
    pub(super) schedule: Schedule,
    trials: Vec<TrialRecord>,
    /// The confirmations that failed, in the order in which they were made.
    failed: Vec<TrialRecord>,
    held: Option<ConfirmedTrial>,
    tried: BTreeMap<TimeSpan, TriedPeriod>,
    /// The period that was tried last.
    last: TimeSpan,
    worst: Vec<LateInstance>,
    pauses: Vec<SeenPause>,
}

/// What is known of a period.
#[derive(Default)]
struct TriedPeriod {
    trials: usize,
    /// Of all instances of all its trials, in picoseconds.
    responses: Vec<u64>,
}

/// A confirmation that held.
struct ConfirmedTrial {
    trial: TrialRecord,
    rate: MissRate,
}

/// What came of confirming a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmed {
    Holds,
    /// It did not hold; what all its instances together show.
    Fails(Verdict),
    /// The time that is left is too short to show anything.
    NoTime,
}

impl<'a, 'b> TrialRunner<'a, 'b> {
    pub(super) fn new(bench: &'a mut Bench<'b>, segments: TrialSegments<'a>, waiting: u64) -> Self {
        let miss_rate = bench.settings.real_time.miss_rate;
        let confidence = bench.settings.confidence;
        let schedule = Schedule::new(&bench.settings.real_time);
        let begin = bench.rank.now();
        TrialRunner {
            bench,
            segments,
            waiting,
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
        }
    }

    /// How long the search has taken so far, in seconds.
    pub(super) fn spent_s(&self) -> f64 {
        self.bench.rank.now().since(self.begin).as_s()
    }

    /// Makes a trial of `period`, which ends early when the search has taken `until_s`; what all its trials together show.
    pub(super) fn test(&mut self, period: TimeSpan, until_s: f64) -> Result<Verdict> {
        let mut planned = self.planned(period).min(INSTANCES_MAX);
        let extended = if self.bench.settings.real_time.trials_are_free() { EXTENSION } else { 1 };
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
            // What a short last segment would show is shown better by a long one.
            let instances = if left < 2 * next { left } else { next };
            responses.extend(self.segment(period, instances, made)?);
            let is_whole = responses.len() as u64 == planned;
            let so_far = is_whole.then(|| self.wanted.rate(&responses, period, 1));
            if so_far.is_some_and(|rate| self.wanted.verdict(&rate) == Verdict::Unclear) {
                planned = most;
            }
        }
        let rate = self.wanted.rate(&responses, period, 1);
        let trial = describe(self.wanted, period, begin_s, &responses, &rate);
        self.bench.tell_trial(trial.clone())?;
        Ok(self.join(period, trial, responses, 1))
    }

    /// Keeps `period` up for a multiple of a trial's length. It holds if that alone shows the wanted miss rate: what the
    /// search saw of it is why it was chosen, and so looks better than it is. The more confirmations failed before, the
    /// surer each must be ([`Acceptance::of_attempt`]).
    pub(super) fn confirm(&mut self, period: TimeSpan) -> Result<Confirmed> {
        let wanted = self.wanted.of_attempt(self.failed.len() as u32 + 1);
        let trial = self.planned(period).min(INSTANCES_MAX);
        let asked = trial.saturating_mul(u64::from(self.schedule.times));
        let left_s = self.schedule.confirming_s - self.spent_s();
        let planned = match self.schedule.to_its_end {
            true => asked,
            false => asked.min((left_s.max(0.0) / period.as_s()) as u64),
        };
        // The first is made however late it is, where it was asked for.
        let may_begin = left_s > 0.0 || (self.schedule.to_its_end && self.failed.is_empty());
        if !may_begin || (planned < asked && planned < wanted.instances_needed()) {
            return Ok(Confirmed::NoTime);
        }
        let most = (wanted.miss_rate * planned as f64) as usize;
        let begin_s = self.spent_s();
        let mut responses: Vec<u64> = Vec::new();
        let mut missed = 0;
        // With more than the wanted share missed already, the rest need not be seen. Each segment begins anew, so it is as long as
        // all before: what an instance leaves to the next ones must have time to become too much.
        while (responses.len() as u64) < planned && missed <= most {
            let made = responses.len() as u64;
            let longest = made.max(trial).min(INSTANCES_MAX);
            let segment = self.segment(period, (planned - made).min(longest), made)?;
            missed += segment.iter().filter(|&&ps| ps > period.as_ps()).count();
            responses.extend(segment);
        }
        let trials = responses.len().div_ceil(trial as usize);
        let rate = wanted.rate(&responses, period, trials);
        let record = describe(wanted, period, begin_s, &responses, &rate);
        self.bench.tell_trial(record.clone())?;
        if record.sustained {
            self.held = Some(ConfirmedTrial { trial: record, rate });
            return Ok(Confirmed::Holds);
        }
        self.failed.push(record.clone());
        Ok(Confirmed::Fails(self.join(period, record, responses, trials)))
    }

    /// Adds what was seen of `period` to what is known of it; what that together shows.
    fn join(
        &mut self,
        period: TimeSpan,
        trial: TrialRecord,
        responses: Vec<u64>,
        trials: usize,
    ) -> Verdict {
        self.trials.push(trial);
        self.last = period;
        let tried = self.tried.entry(period).or_default();
        tried.trials += trials;
        tried.responses.extend(responses);
        self.wanted.verdict(&self.wanted.rate(&tried.responses, period, tried.trials))
    }

    /// How many instances a trial of `period` has.
    fn planned(&self, period: TimeSpan) -> u64 {
        let settings = &self.bench.settings.real_time;
        let instances = settings.instances(period, self.wanted.instances_needed());
        // The last segment is most of it.
        let for_waiting = (PERIODS_PER_WAITING * self.waiting).div_ceil(GROWTH) * (GROWTH + 1);
        if settings.trials_are_free() { instances.max(for_waiting) } else { instances }
    }

    /// How long each of some instances took, of a trial of which `made` were made before.
    fn segment(&mut self, period: TimeSpan, instances: u64, made: u64) -> Result<Vec<u64>> {
        Command::Segment { period, instances }.send(self.bench.rank)?;
        let segment = self.segments.run(self.bench.rank, period, instances)?;
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

    /// Ends the search: tells every rank so.
    pub(super) fn conclude(mut self, answer: Answer) -> Result<SearchOutcome> {
        let Answer { end, longest_refused, shortest_sustained } = answer;
        let limit_s = self.bench.settings.real_time.search_limit_s;
        Command::End { period: shortest_sustained }.send(self.bench.rank)?;
        self.keep_longest_pauses();
        self.pauses.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        // Where no period is sustained, none refused or none clear, the one that was tried last.
        let shown = shortest_sustained.or(longest_refused).unwrap_or(self.last);
        let worst = self.worst_near(shown.as_us());
        let TriedPeriod { trials, responses } = self.tried.remove(&shown).unwrap_or_default();
        // What the confirmation shows was not chosen for what it shows.
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
            trials: self.trials,
            hygiene: BTreeMap::new(),
        };
        let responses_us = responses.iter().map(|&ps| TimeSpan::from_ps(ps).as_us()).collect();
        Ok(SearchOutcome { search: Some(search), miss_rate: Some(miss_rate), responses_us })
    }

    /// The instances of the period that is shown first, those of the nearest periods next.
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

fn describe(
    wanted: Acceptance,
    period: TimeSpan,
    begin_s: f64,
    responses: &[u64],
    rate: &MissRate,
) -> TrialRecord {
    let verdict = wanted.verdict(rate);
    let mut sorted = responses.to_vec();
    sorted.sort_unstable();
    let us = |ps: u64| TimeSpan::from_ps(ps).as_us();
    TrialRecord {
        period_us: period.as_us(),
        begin_s,
        instances: rate.instances,
        missed: rate.missed,
        miss_rate_max: rate.max,
        miss_rate_min: rate.min,
        sustained: verdict == Verdict::Sustained,
        refused: verdict == Verdict::Refused,
        proven: wanted.is_proven(rate),
        response_median_us: us(sorted[sorted.len() / 2]),
        response_max_us: us(sorted[sorted.len() - 1]),
    }
}

impl Bench<'_> {
    /// Tells one trial as it is made.
    fn tell_trial(&mut self, trial: TrialRecord) -> Result<()> {
        let line = self.trial_line(trial);
        self.tell(Event::Tried(line))
    }
}
