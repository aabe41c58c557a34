//! Trials as rank 0 makes them: leg by leg, judged, told and kept.

use std::collections::BTreeMap;

use contract::record::{LateInstance, PeriodSearch, SeenPause, Trial as TrialRecord};
use contract::{Result, Time, TimeSpan};

use super::Found;
use super::decision::{Answer, Verdict};
use super::leg::{INSTANCES_MAX, Leg, Legs};
use super::orders::Order;
use super::trial::{Late, Paused, WORST_KEPT};
use super::wanted::Wanted;
use crate::Event;
use crate::execute::Bench;

/// Instances of the first leg; each further one has eight times as many as all before.
const FIRST_LEG: u64 = 16;
const GROWTH: u64 = 8;

/// A period is given up early only after this share of a trial: misses in a shorter time may have had one cause. (Loads
/// of a tenth of a second on a virtual machine refused periods that it else sustained.)
const EARLIEST: f64 = 1.0 / 4.0;
/// A trial that shows too little is made so many times as long, where nobody said how long it is to be.
const EXTENSION: u64 = 4;
/// The longest pauses of a search that are kept.
const PAUSES_KEPT: usize = 1024;

/// Makes trials, and keeps what they showed.
pub(super) struct Tester<'a, 'b> {
    bench: &'a mut Bench<'b>,
    legs: Legs<'a>,
    wanted: Wanted,
    begin: Time,
    trials: Vec<TrialRecord>,
    tried: BTreeMap<TimeSpan, Tried>,
    /// The period that was tried last.
    last: TimeSpan,
    worst: Vec<LateInstance>,
    pauses: Vec<SeenPause>,
}

/// What is known of a period.
#[derive(Default)]
struct Tried {
    trials: usize,
    /// Of all instances of all its trials, in picoseconds.
    responses: Vec<u64>,
}

impl<'a, 'b> Tester<'a, 'b> {
    pub(super) fn new(bench: &'a mut Bench<'b>, legs: Legs<'a>) -> Self {
        let miss_rate = bench.settings.real_time.miss_rate;
        let confidence = bench.settings.confidence;
        let begin = bench.rank.now();
        Tester {
            bench,
            legs,
            wanted: Wanted { miss_rate, confidence },
            begin,
            trials: Vec::new(),
            tried: BTreeMap::new(),
            last: TimeSpan::ZERO,
            worst: Vec::new(),
            pauses: Vec::new(),
        }
    }

    /// Whether the search has taken as long as it may.
    pub(super) fn is_over(&self) -> bool {
        self.bench
            .settings
            .real_time
            .search_limit_s
            .is_some_and(|limit_s| self.spent_s() >= limit_s)
    }

    /// Whether the search has taken half of the time that it may.
    pub(super) fn is_half_over(&self) -> bool {
        let limit_s = self.bench.settings.real_time.search_limit_s;
        limit_s.is_some_and(|limit_s| self.spent_s() >= limit_s / 2.0)
    }

    fn spent_s(&self) -> f64 {
        self.bench.rank.now().since(self.begin).as_s()
    }

    /// Makes a trial of `period`; what all its trials together show.
    pub(super) fn test(&mut self, period: TimeSpan) -> Result<Verdict> {
        let mut planned = self.planned(period).min(INSTANCES_MAX);
        let extended = if self.bench.settings.real_time.trials_are_free() { EXTENSION } else { 1 };
        let most = planned.saturating_mul(extended).min(INSTANCES_MAX);
        let earliest_s = EARLIEST * planned as f64 * period.as_s();
        let begin_s = self.spent_s();
        let mut responses: Vec<u64> = Vec::with_capacity(planned as usize);
        while (responses.len() as u64) < planned {
            let made = responses.len() as u64;
            if made > 0 && (self.spent_s() - begin_s >= earliest_s || self.is_over()) {
                let so_far = self.wanted.rate(&responses, period, 1);
                if self.is_over() || self.wanted.verdict(&so_far) == Verdict::Refused {
                    break;
                }
            }
            let instances = (made * GROWTH).max(FIRST_LEG).min(planned - made);
            responses.extend(self.leg(period, instances, made)?);
            let is_whole = responses.len() as u64 == planned;
            let so_far = is_whole.then(|| self.wanted.rate(&responses, period, 1));
            if so_far.is_some_and(|rate| self.wanted.verdict(&rate) == Verdict::Unclear) {
                planned = most;
            }
        }
        let trial = self.describe(period, begin_s, &responses);
        self.trials.push(trial.clone());
        self.last = period;
        self.bench.tell_trial(trial)?;
        let tried = self.tried.entry(period).or_default();
        tried.trials += 1;
        tried.responses.extend(responses);
        Ok(self.wanted.verdict(&self.wanted.rate(&tried.responses, period, tried.trials)))
    }

    /// Keeps `period` up for `times` as long as a trial, whatever it shows.
    fn confirm(&mut self, period: TimeSpan, times: u32) -> Result<TrialRecord> {
        let planned = self.planned(period).saturating_mul(u64::from(times));
        let begin_s = self.spent_s();
        let mut responses = Vec::new();
        while (responses.len() as u64) < planned {
            let made = responses.len() as u64;
            responses.extend(self.leg(period, (planned - made).min(INSTANCES_MAX), made)?);
        }
        Ok(self.describe(period, begin_s, &responses))
    }

    /// How many instances a trial of `period` has.
    fn planned(&self, period: TimeSpan) -> u64 {
        self.bench.settings.real_time.instances(period, self.wanted.instances_needed())
    }

    /// How long each of some instances took, of a trial of which `made` were made before.
    fn leg(&mut self, period: TimeSpan, instances: u64, made: u64) -> Result<Vec<u64>> {
        Order::Leg { period, instances }.send(self.bench.rank)?;
        let leg = self.legs.run(self.bench.rank, period, instances)?;
        self.keep_worst(period, made, &leg);
        self.keep_pauses(&leg);
        Ok(leg.responses_ps)
    }

    fn describe(&self, period: TimeSpan, begin_s: f64, responses: &[u64]) -> TrialRecord {
        let rate = self.wanted.rate(responses, period, 1);
        let verdict = self.wanted.verdict(&rate);
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
            proven: self.wanted.is_proven(&rate),
            response_median_us: us(sorted[sorted.len() / 2]),
            response_max_us: us(sorted[sorted.len() - 1]),
        }
    }

    fn keep_worst(&mut self, period: TimeSpan, made: u64, leg: &Leg) {
        let record = |&(rank, late): &(usize, Late)| LateInstance {
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
        same.extend(leg.worst.iter().map(record));
        same.sort_by(|a, b| b.late_us.total_cmp(&a.late_us));
        same.truncate(WORST_KEPT);
        same.extend(others);
        self.worst = same;
    }

    fn keep_pauses(&mut self, leg: &Leg) {
        let record = |&(rank, pause): &(usize, Paused)| SeenPause {
            rank,
            at_s: pause.at.since(self.begin).as_s(),
            length_us: pause.length.as_us(),
            during: pause.during,
        };
        self.pauses.extend(leg.pauses.iter().map(record));
        if self.pauses.len() > 2 * PAUSES_KEPT {
            self.keep_longest_pauses();
        }
    }

    fn keep_longest_pauses(&mut self) {
        self.pauses.sort_by(|a, b| b.length_us.total_cmp(&a.length_us));
        self.pauses.truncate(PAUSES_KEPT);
    }

    /// Confirms the answer if that is asked for, and ends the search: tells every rank so.
    pub(super) fn conclude(mut self, answer: Answer) -> Result<Found> {
        let Answer { end, longest_refused, shortest_sustained } = answer;
        let settings = &self.bench.settings.real_time;
        let limit_s = settings.search_limit_s;
        let confirmation = match (shortest_sustained, settings.confirm) {
            (Some(period), Some(times)) => Some(self.confirm(period, times)?),
            _ => None,
        };
        Order::End { period: shortest_sustained }.send(self.bench.rank)?;
        self.keep_longest_pauses();
        self.pauses.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        // Where no period is sustained, none refused or none clear, the one that was tried last.
        let shown = shortest_sustained.or(longest_refused).unwrap_or(self.last);
        let Tried { trials, responses } = self.tried.remove(&shown).unwrap_or_default();
        let miss_rate = self.wanted.rate(&responses, shown, trials);
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
            worst: self.worst_near(shown.as_us()),
            pauses: self.pauses,
            trials: self.trials,
            hygiene: BTreeMap::new(),
        };
        let responses_us = responses.iter().map(|&ps| TimeSpan::from_ps(ps).as_us()).collect();
        Ok(Found { search: Some(search), miss_rate: Some(miss_rate), responses_us })
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

impl Bench<'_> {
    /// Tells one trial as it is made.
    fn tell_trial(&mut self, trial: TrialRecord) -> Result<()> {
        let line = self.trial_line(trial);
        self.tell(Event::Tried(line))
    }
}
