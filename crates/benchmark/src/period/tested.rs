//! Trials as rank 0 makes them: leg by leg, judged, told and kept.

use std::collections::BTreeMap;

use contract::record::{LateInstance, PeriodSearch, Trial as TrialRecord};
use contract::{Result, Time, TimeSpan};

use super::Found;
use super::decision::Answer;
use super::leg::{INSTANCES_MAX, Leg, Legs};
use super::orders::Order;
use super::trial::{Late, WORST_KEPT};
use super::wanted::Wanted;
use crate::Event;
use crate::execute::Bench;

/// Instances of the first leg; each further one has eight times as many as all before.
const FIRST_LEG: u64 = 16;
const GROWTH: u64 = 8;

/// Makes trials, and keeps what they showed.
pub(super) struct Tester<'a, 'b> {
    bench: &'a mut Bench<'b>,
    legs: Legs<'a>,
    wanted: Wanted,
    begin: Time,
    trials: Vec<TrialRecord>,
    responses: BTreeMap<TimeSpan, Vec<u64>>,
    worst: Vec<LateInstance>,
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
            responses: BTreeMap::new(),
            worst: Vec::new(),
        }
    }

    /// Makes a trial of `period`; whether it counts.
    pub(super) fn test(&mut self, period: TimeSpan) -> Result<bool> {
        let needed = self.wanted.instances_needed();
        let planned = self.bench.settings.real_time.instances(period, needed).min(INSTANCES_MAX);
        let allowed = self.wanted.misses_allowed(planned);
        let begin_s = self.bench.rank.now().since(self.begin).as_s();
        let mut responses: Vec<u64> = Vec::with_capacity(planned as usize);
        let mut missed = 0;
        loop {
            let made = responses.len() as u64;
            // Most of them missed is no bad luck, whatever the rest of a long trial would forgive.
            if made >= planned || missed > allowed || 2 * missed > made {
                break;
            }
            let instances = (made * GROWTH).max(FIRST_LEG).min(planned - made);
            Order::Leg { period, instances }.send(self.bench.rank)?;
            let leg = self.legs.run(self.bench.rank, period, instances)?;
            missed += leg.responses_ps.iter().filter(|&&ps| ps > period.as_ps()).count() as u64;
            self.keep_worst(period, made, &leg);
            responses.extend(leg.responses_ps);
        }
        let tested = self.judge(period, begin_s, missed, &responses)?;
        self.responses.entry(period).or_default().extend(responses);
        Ok(tested)
    }

    fn judge(
        &mut self,
        period: TimeSpan,
        begin_s: f64,
        missed: u64,
        responses: &[u64],
    ) -> Result<bool> {
        let instances = responses.len() as u64;
        let verdict = self.wanted.verdict(missed, instances);
        let mut sorted = responses.to_vec();
        sorted.sort_unstable();
        let us = |ps: u64| TimeSpan::from_ps(ps).as_us();
        let trial = TrialRecord {
            period_us: period.as_us(),
            begin_s,
            instances,
            missed,
            miss_rate_max: verdict.miss_rate_max,
            sustained: verdict.sustained,
            proven: verdict.proven,
            response_median_us: us(sorted[sorted.len() / 2]),
            response_max_us: us(sorted[sorted.len() - 1]),
        };
        self.trials.push(trial.clone());
        self.bench.tell_trial(trial)?;
        Ok(verdict.sustained)
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

    /// Ends the search: tells every rank so.
    pub(super) fn conclude(mut self, answer: Answer) -> Result<Found> {
        let Answer { end, longest_refused, shortest_sustained } = answer;
        Order::End { period: shortest_sustained }.send(self.bench.rank)?;
        let shown = shortest_sustained.or(longest_refused);
        let shown_us = shown.map(TimeSpan::as_us);
        let at_end = |trial: &&TrialRecord| Some(trial.period_us) == shown_us;
        let proven = shortest_sustained.is_some()
            && self.trials.iter().filter(at_end).all(|trial| trial.proven);
        // The instances of the settled period first, those of the nearest periods next.
        let distance = |late: &LateInstance| (late.period_us - shown_us.unwrap_or(0.0)).abs();
        self.worst.sort_by(|a, b| {
            distance(a).total_cmp(&distance(b)).then(b.late_us.total_cmp(&a.late_us))
        });
        self.worst.truncate(2 * WORST_KEPT);
        let search = PeriodSearch {
            end,
            longest_refused_us: longest_refused.map(TimeSpan::as_us),
            shortest_sustained_us: shortest_sustained.map(TimeSpan::as_us),
            miss_rate: self.wanted.miss_rate,
            confidence: self.wanted.confidence,
            proven,
            instances_needed: self.wanted.instances_needed(),
            trials: self.trials,
            worst: self.worst,
            hygiene: BTreeMap::new(),
        };
        let responses = shown.and_then(|period| self.responses.remove(&period)).unwrap_or_default();
        let responses_us = responses.iter().map(|&ps| TimeSpan::from_ps(ps).as_us()).collect();
        Ok(Found { search: Some(search), responses_us })
    }
}

impl Bench<'_> {
    /// Tells one trial as it is made.
    fn tell_trial(&mut self, trial: TrialRecord) -> Result<()> {
        let line = self.trial_line(trial);
        self.tell(Event::Tried(line))
    }
}
