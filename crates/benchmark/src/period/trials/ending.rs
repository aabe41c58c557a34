//! What a search keeps besides its trials, and its outcome.

use contract::{Result, TimeSpan};
use record::{LateInstance, PeriodSearch, SeenPause};

use super::TrialRunner;
use crate::period::bisection::Answer;
use crate::period::command::Command;
use crate::period::constants::CONSTANTS;
use crate::period::notes::{Interruption, LateEnd};
use crate::period::outcome::SearchOutcome;
use crate::period::segment::TrialSegment;

impl TrialRunner<'_, '_> {
    pub(super) fn keep_worst(&mut self, period: TimeSpan, made: u64, segment: &TrialSegment) {
        let record = |&(rank, late): &(usize, LateEnd)| LateInstance {
            period_us: period.as_us(),
            instance: made + late.instance,
            rank,
            stage: late.stage,
            late_us: late.late.as_us(),
            broken: late.broken,
            at_s: late.at.since(self.begin).as_s(),
        };
        let period_us = period.as_us();
        let (mut same, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.worst)
            .into_iter()
            .partition(|late| late.period_us == period_us);
        same.extend(segment.worst.iter().map(record));
        same.sort_by(|a, b| b.late_us.total_cmp(&a.late_us));
        same.truncate(CONSTANTS.late_noted);
        same.extend(others);
        self.worst = same;
    }

    pub(super) fn keep_pauses(&mut self, segment: &TrialSegment) {
        let record = |&(rank, pause): &(usize, Interruption)| SeenPause {
            rank,
            at_s: pause.at.since(self.begin).as_s(),
            length_us: pause.length.as_us(),
            during: pause.during,
            stage: pause.stage,
        };
        self.pauses.extend(segment.pauses.iter().map(record));
        if self.pauses.len() > 2 * CONSTANTS.pauses_kept {
            self.keep_longest_pauses();
        }
    }

    fn keep_longest_pauses(&mut self) {
        self.pauses.sort_by(|a, b| b.length_us.total_cmp(&a.length_us));
        self.pauses.truncate(CONSTANTS.pauses_kept);
    }

    /// Ends the search on every rank, and returns its outcome.
    pub(in crate::period) fn conclude(mut self, answer: Answer) -> Result<SearchOutcome> {
        let Answer { end, longest_refused, shortest_sustained } = answer;
        let spent_s = self.spent_s();
        let explains = self.bench.settings.real_time.explain;
        let limit_s = self.bench.settings.real_time.search_limit_s;
        Command::End { period: shortest_sustained }.send(self.bench.rank)?;
        self.keep_longest_pauses();
        self.pauses.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        // The period whose responses are reported: the sustained one, else the refused one, else the one that was tried
        // last.
        let shown = shortest_sustained.or(longest_refused).unwrap_or(self.last);
        let worst = self.worst_near(shown.as_us());
        let instances = self.tried.remove(&shown).unwrap_or_default();
        // The confirmation's miss rate is preferred: the period was not chosen for it.
        let (confirmation, confirmed) = self.held.map(|held| (held.trial, held.rate)).unzip();
        let miss_rate = confirmed.unwrap_or_else(|| self.wanted.rate(&instances.missed));
        let search = PeriodSearch {
            longest_refused_us: longest_refused.map(TimeSpan::as_us),
            shortest_sustained_us: shortest_sustained.map(TimeSpan::as_us),
            required: self.bench.settings.real_time.required,
            judged: instances.distributions(self.wanted.miss_rate),
            proven: shortest_sustained.is_some() && self.wanted.is_proven(&miss_rate),
            miss_rate_max: shortest_sustained.map(|_| miss_rate.max),
            instances_needed: self.wanted.instances_needed(),
            limit_s,
            spent_s,
            confirmation,
            unconfirmed: self.failed,
            confirm_times: self.schedule.times,
            worst,
            pauses: self.pauses,
            forecast: self.forecast.as_ref().map(|all| all.record(explains)),
            no_forecast: self.no_forecast,
            trials: self.trials,
            ..PeriodSearch::new(end, self.wanted.miss_rate, self.wanted.confidence)
        };
        let us = |ps: Vec<u64>| ps.into_iter().map(|ps| TimeSpan::from_ps(ps).as_us()).collect();
        Ok(SearchOutcome {
            search: Some(search),
            miss_rate: Some(miss_rate),
            responses_us: us(instances.responses_ps),
            latencies_us: us(instances.latencies_ps),
            jitters_us: us(instances.jitters_ps),
        })
    }

    /// Returns the latest instances: first those of the reported period, then those of the nearest periods.
    fn worst_near(&mut self, shown_us: f64) -> Vec<LateInstance> {
        let mut worst = std::mem::take(&mut self.worst);
        let distance = |late: &LateInstance| (late.period_us - shown_us).abs();
        worst.sort_by(|a, b| {
            distance(a).total_cmp(&distance(b)).then(b.late_us.total_cmp(&a.late_us))
        });
        worst.truncate(2 * CONSTANTS.late_noted);
        worst
    }
}
