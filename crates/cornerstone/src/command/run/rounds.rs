//! The number of launches of the cases of a run, and the cases that need more.

use std::collections::{BTreeMap, BTreeSet};

use analysis::launches::{RunState, launches_are_precise, launches_needed};
use analysis::line_states::Lines;
use analysis::statistics::Sample;
use benchmark::{Launch, Settings};
use record::{Key, Run};

/// Numbers of launches of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    /// Least number of launches of every case.
    pub(super) fewest: u32,
    /// Maximum number of launches of a case.
    pub(super) most: u32,
}

/// Least time of a case in a launch, and in a launch of a case that has more than the fewest.
const SHORTEST_S: f64 = 0.05;
const SHORTEST_OF_MORE_S: f64 = 0.02;
/// Number of launches that make an interval informative. It leaves out the launches at both ends, and shows states of
/// the machine that last for some launches.
const INFORMATIVE: u32 = 10;
/// Maximum number of launches. On a machine whose speed changes, two runs of much fewer are seldom decided.
const MOST: u32 = 100;
/// As [`MOST`], if launches are distributed over a given time.
const MOST_SPREAD: u32 = 10;
/// Share of the requested precision at which a case has enough launches. The difference of two runs with that precision
/// is detected at about the requested precision.
const SHARE_OF_PRECISION: f64 = 0.5;

impl Rounds {
    /// Returns `launches` launches for every case.
    pub(super) fn exactly(launches: u32) -> Rounds {
        Rounds { fewest: launches, most: launches }
    }

    /// Returns as many launches as an interval needs, if each has enough time to measure. Cases with a wide interval
    /// have more, as long as their time allows.
    pub(super) fn within_the_time_of(settings: &Settings, is_spread: bool) -> Rounds {
        let of_at_least = |shortest_s: f64| ((settings.time_limit_s / shortest_s) as u32).max(1);
        let affordable = of_at_least(SHORTEST_S);
        let needed = launches_needed(settings.confidence) as u32;
        match (is_spread, settings.suite_limit_s) {
            (true, _) => Rounds::exactly(affordable.clamp(1, MOST_SPREAD)),
            (false, Some(_)) => Rounds::exactly(needed.min(affordable)),
            (false, None) => {
                let enough = needed.max(INFORMATIVE);
                let more = if affordable < enough { 0 } else { of_at_least(SHORTEST_OF_MORE_S) };
                let fewest = enough.min(affordable);
                Rounds { fewest, most: more.min(MOST).max(fewest) }
            }
        }
    }

    /// Returns whether the cases that need more launches are determined before the launches of this number: after the
    /// fewest, and after half as many again each time. A check after each launch would stop when an interval is narrow
    /// by chance.
    pub(super) fn is_checked_before(self, number: u32) -> bool {
        self.fewest < self.most && self.until(number) == number
    }

    /// Returns whether the launches before those of this number show how many the cases will need.
    pub(super) fn shows_before(self, number: u32) -> bool {
        let is_early = number >= SHOWN_BY && number.is_power_of_two();
        self.fewest < self.most
            && (number == SHOWN_BY || is_early || self.is_checked_before(number))
    }

    /// Returns the number of launches that a case has if it needs `launches`: up to the next check.
    fn until(self, launches: u32) -> u32 {
        let next = |&launches: &u32| Some((launches * 3).div_ceil(2));
        let mut checks = std::iter::successors(Some(self.fewest), next);
        let check = checks.find(|check| *check >= launches.min(self.most));
        check.unwrap_or(self.most).min(self.most)
    }

    /// Returns the expected number of launches of a case of which nothing is known: those up to the second check.
    pub(super) fn expected(self) -> u32 {
        self.until(self.fewest + 1)
    }
}

/// Number of launches from which their medians show how many a case will need.
const SHOWN_BY: u32 = 3;
/// Half of the width of the 95 % interval of a median of n normal values with deviation 1, times the root of n.
const HALF_WIDTH: f64 = 1.96 * 1.2533;
/// Standard deviation of normal values over their mean distance from the median.
const DEVIATION: f64 = 1.2533;

/// The median of a case in each launch, with the lines beside it if they were timed.
type MediansOfLaunches = BTreeMap<u32, (f64, Option<Lines>)>;

/// The launches of the cases of a run so far.
pub(super) struct Launched {
    /// Medians of the launches that determine the number of each case and metric.
    medians: Vec<(Key, Vec<f64>)>,
    measured: BTreeSet<Key>,
    precision: f64,
    confidence: f64,
}

impl Launched {
    pub(super) fn of(run: &Run) -> Launched {
        let header = run.headers.last();
        let state = RunState::of(run);
        let mut cases: BTreeMap<(Key, &str), MediansOfLaunches> = BTreeMap::new();
        for m in run.measurements.iter().filter(|m| !m.samples.is_empty()) {
            let of_launch = cases.entry((m.key(), &m.metric)).or_default();
            of_launch.insert(m.launch, (m.summary.median, state.lines(m)));
        }
        let medians = cases.into_iter().map(|((key, _), launches)| {
            let (medians, lines): (Vec<f64>, Vec<Option<Lines>>) = launches.into_values().unzip();
            let lines: Vec<Lines> = lines.into_iter().flatten().collect();
            (key, state.select(&medians, &lines))
        });
        Launched {
            medians: medians.collect(),
            measured: run.measurements.iter().map(|m| m.key()).collect(),
            precision: SHARE_OF_PRECISION * header.map_or(0.0, |header| header.precision),
            confidence: header.map_or(0.0, |header| header.confidence),
        }
    }

    /// Returns the cases that have enough launches.
    pub(super) fn settled(&self) -> BTreeSet<Key> {
        let is_settled =
            |launches: &[f64]| launches_are_precise(launches, self.confidence, self.precision);
        let open: BTreeSet<&Key> = self
            .medians
            .iter()
            .filter(|(_, launches)| !is_settled(launches))
            .map(|(key, _)| key)
            .collect();
        self.measured.iter().filter(|key| !open.contains(key)).cloned().collect()
    }

    /// Returns the number of launches that each case will have when it is settled, as far as the launches so far show
    /// it. Those of `settled` are over.
    pub(super) fn expected(&self, rounds: Rounds, settled: &BTreeSet<Key>) -> BTreeMap<Key, u32> {
        let mut expected = BTreeMap::new();
        for (key, medians) in &self.medians {
            let needed = match settled.contains(key) {
                true => 0,
                false => rounds.until(self.needed(medians).max(medians.len() as u32 + 1)),
            };
            let of_case = expected.entry(key.clone()).or_insert(0);
            *of_case = needed.max(*of_case);
        }
        expected
    }

    /// Returns the number of launches whose median is as precise as wanted, if further ones vary like these.
    fn needed(&self, medians: &[f64]) -> u32 {
        let Ok(sample) = Sample::new(medians) else { return 0 };
        let middle = sample.median();
        let distance = medians.iter().map(|median| (median - middle).abs()).sum::<f64>();
        let deviation = DEVIATION * distance / medians.len() as f64;
        // A median of 0 has no relative precision; the number is then as large as possible.
        (HALF_WIDTH * deviation / (self.precision * middle)).powi(2).ceil() as u32
    }
}

/// Returns the launch without the steps of settled cases.
pub(super) fn without(settled: &BTreeSet<Key>, launch: &Launch) -> Launch {
    let mut left = launch.clone();
    left.job.steps.retain(|step| !settled.contains(&launch.key(step)));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(time_limit_s: f64, is_spread: bool) -> (u32, u32) {
        let settings = Settings { time_limit_s, ..Settings::default() };
        let found = Rounds::within_the_time_of(&settings, is_spread);
        (found.fewest, found.most)
    }

    #[test]
    fn launches_are_as_many_as_the_time_of_a_case_allows() {
        // 2.4 s are 48 times 50 ms, and 120 times 20 ms.
        assert_eq!((rounds(2.4, false), rounds(2.4, true)), ((10, 100), (10, 10)));
        assert_eq!((rounds(0.55, false), rounds(0.5, true)), ((10, 27), (10, 10)));
        assert_eq!((rounds(0.45, false), rounds(0.21, false)), ((9, 9), (4, 4)));
        assert_eq!(rounds(0.01, false), (1, 1));
        let quick = Rounds::within_the_time_of(&Settings::quick(), false);
        assert_eq!(quick, Rounds::exactly(6));
    }

    #[test]
    fn it_is_looked_more_rarely_the_more_launches_there_are() {
        let checked = |rounds: Rounds| -> Vec<u32> {
            (0..=40).filter(|number| rounds.is_checked_before(*number)).collect()
        };
        assert_eq!(checked(Rounds { fewest: 10, most: 30 }), [10, 15, 23, 30]);
        assert!(checked(Rounds::exactly(6)).is_empty());
    }

    #[test]
    fn the_launches_so_far_show_how_many_will_be_needed() {
        let launched = Launched {
            medians: Vec::new(),
            measured: BTreeSet::new(),
            precision: 0.025,
            confidence: 0.95,
        };
        // The distances from the median are 0, 5 and 5 %, on average 3.33 %, which are a deviation of 4.18 %. The half
        // width of n launches is 1.96 * 1.2533 * 4.18 % / sqrt(n) = 10.26 % / sqrt(n), which is 2.5 % for n = 16.8.
        assert_eq!(launched.needed(&[95.0, 100.0, 105.0]), 17);
        assert_eq!(launched.needed(&[100.0, 100.0, 100.0]), 0);
        let rounds = Rounds { fewest: 10, most: 60 };
        assert_eq!(
            [0, 10, 11, 17, 53, 54, 90].map(|n| rounds.until(n)),
            [10, 10, 15, 23, 53, 60, 60]
        );
        assert_eq!((rounds.expected(), Rounds::exactly(6).expected()), (15, 6));
    }
}
