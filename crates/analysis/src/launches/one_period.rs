//! Trials of one period, made in several launches.
//!
//! A launch reports its verdict with a measurement, and further numbers if it sustains the period. All launches
//! together sustain the period if each of them does. A launch that refuses it shows that a launch of another run may
//! refuse it, too.

use std::collections::{BTreeMap, BTreeSet};

use record::{Key, Measurement, PeriodSearch, SearchEnd};

use super::case;

/// Trials of the cases that were tried at one period in several launches, by case and fabric.
pub(super) struct Trials(BTreeMap<(Key, String), PeriodSearch>);

impl Trials {
    /// Takes the trials out of these measurements, and removes the numbers of a sustained period if a launch has not
    /// sustained it.
    pub(super) fn take(measurements: &mut Vec<Measurement>) -> Trials {
        let mut cases: BTreeMap<_, BTreeMap<u32, PeriodSearch>> = BTreeMap::new();
        let mut holders: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
        for m in measurements.iter() {
            holders.entry((case(m), m.metric.clone())).or_default().insert(m.launch);
            if let Some(search) = m.search.as_ref().filter(|one| one.end == SearchEnd::OnePeriod) {
                cases.entry(case(m)).or_default().insert(m.launch, search.clone());
            }
        }
        cases.retain(|_, launches| launches.len() > 1);
        measurements.retain_mut(|m| {
            let case = case(m);
            let Some(launches) = cases.get(&case) else { return true };
            m.search = None;
            let all = &holders[&(case, m.metric.clone())];
            launches.keys().all(|launch| all.contains(launch))
        });
        let cases = cases.into_iter();
        Trials(cases.map(|(case, all)| (case, together(all.into_values().collect()))).collect())
    }

    /// Returns each case's trials to it, with its first number.
    pub(super) fn give_back(mut self, measurements: &mut [Measurement]) {
        for m in measurements {
            if let Some(trials) = self.0.remove(&case(m)) {
                m.search = Some(trials);
            }
        }
    }
}

/// Combines the trials of all launches, of which there are several. Late instances and pauses are those of the launch
/// with the latest instance, because their moments count from the beginning of their launch.
fn together(launches: Vec<PeriodSearch>) -> PeriodSearch {
    let latest_us = |search: &PeriodSearch| search.worst.first().map_or(0.0, |late| late.late_us);
    let worst = launches.iter().max_by(|a, b| latest_us(a).total_cmp(&latest_us(b)));
    let all = worst.cloned().expect("several launches");
    let in_every = |f: fn(&PeriodSearch) -> Option<f64>| -> Option<f64> {
        launches.iter().map(f).try_fold(0.0, |most: f64, one| Some(most.max(one?)))
    };
    PeriodSearch {
        shortest_sustained_us: in_every(|search| search.shortest_sustained_us),
        miss_rate_max: in_every(|search| search.miss_rate_max),
        longest_refused_us: launches.iter().find_map(|search| search.longest_refused_us),
        proven: launches.iter().all(|search| search.proven),
        launches: launches.len(),
        trials: launches.iter().flat_map(|search| search.trials.clone()).collect(),
        ..all
    }
}

#[cfg(test)]
mod tests {
    use record::{Better, LateInstance, Summary, Trial};

    use super::*;
    use crate::launches::pooled;
    use crate::records::run;

    /// Returns a trial of 5 ms that missed this number of 100 instances and may miss one.
    fn trial(missed: u64) -> Trial {
        let refused = missed > 1;
        Trial {
            period_us: 5e3,
            begin_s: 0.0,
            instances: 100,
            missed,
            miss_rate_max: missed as f64 / 100.0 + 0.01,
            miss_rate_min: 0.0,
            sustained: !refused,
            refused,
            proven: !refused,
            response_median_us: 1.0,
        }
    }

    /// Returns the measurements of a launch with such a trial: the period if the launch sustains it, and the miss rate.
    fn launch(number: u32, missed: u64, end: SearchEnd) -> Vec<Measurement> {
        let trial = trial(missed);
        let refused = trial.refused;
        let late = LateInstance {
            period_us: 5e3,
            instance: 1,
            rank: 0,
            stage: 0,
            late_us: missed as f64,
            broken: Default::default(),
            at_s: 0.5,
        };
        let search = PeriodSearch {
            longest_refused_us: refused.then_some(5e3),
            shortest_sustained_us: (!refused).then_some(5e3),
            proven: !refused,
            miss_rate_max: (!refused).then_some(trial.miss_rate_max),
            instances_needed: 299,
            trials: vec![trial],
            worst: vec![late],
            ..PeriodSearch::new(end, 0.01, 0.95)
        };
        let number = |metric: &str, value: f64| Measurement {
            benchmark: "hartstone".into(),
            fabric: "local".into(),
            launch: number,
            ..Measurement::new(
                metric,
                "",
                Better::Lower,
                Summary::of_interval((value, value, value), 100, 0.95),
            )
        };
        let mut all = vec![number("miss-rate", missed as f64)];
        if !refused {
            all.insert(0, number("period", 5e3));
        }
        all[0].search = Some(search);
        all
    }

    fn of(missed: &[u64], end: SearchEnd) -> Vec<Measurement> {
        let launches = (0..).zip(missed).flat_map(|(number, missed)| launch(number, *missed, end));
        pooled(run(launches.collect())).measurements
    }

    #[test]
    fn a_period_that_each_launch_sustains_is_sustained() {
        let all = of(&[0, 1, 0], SearchEnd::OnePeriod);
        let [period, miss_rate] = &all[..] else { panic!("{all:?}") };
        assert_eq!((period.metric.as_str(), miss_rate.metric.as_str()), ("period", "miss-rate"));
        assert_eq!(miss_rate.launch_medians, [0.0, 1.0, 0.0]);
        let trials = period.search.as_ref().unwrap();
        assert_eq!((trials.shortest_sustained_us, trials.longest_refused_us), (Some(5e3), None));
        // One of 100 missed is 1 %, and its bound is 1 % more.
        assert_eq!((trials.proven, trials.miss_rate_max), (true, Some(0.02)));
        assert_eq!((trials.trials.len(), trials.worst[0].late_us), (3, 1.0));
        assert!(miss_rate.search.is_none());
    }

    #[test]
    fn one_launch_that_refuses_a_period_leaves_no_sustained_one() {
        let all = of(&[0, 7, 1], SearchEnd::OnePeriod);
        let [miss_rate] = &all[..] else { panic!("{all:?}") };
        assert_eq!((miss_rate.metric.as_str(), miss_rate.summary.median), ("miss-rate", 1.0));
        let trials = miss_rate.search.as_ref().unwrap();
        assert_eq!((trials.shortest_sustained_us, trials.longest_refused_us), (None, Some(5e3)));
        assert!(!trials.proven && trials.miss_rate_max.is_none());
        let missed: Vec<u64> = trials.trials.iter().map(|trial| trial.missed).collect();
        assert_eq!((missed, trials.worst[0].late_us), (vec![0, 7, 1], 7.0));
    }

    #[test]
    fn one_launch_and_searches_stay_as_they_are() {
        let one = launch(0, 7, SearchEnd::OnePeriod);
        assert_eq!(pooled(run(one.clone())).measurements, one);
        // Of several searches the last counts, and each number stays.
        let searches = of(&[0, 7], SearchEnd::Settled);
        let metrics: Vec<&str> = searches.iter().map(|m| m.metric.as_str()).collect();
        assert_eq!(metrics, ["period", "miss-rate"]);
        assert_eq!(searches[1].search.as_ref().unwrap().worst[0].late_us, 7.0);
    }
}
