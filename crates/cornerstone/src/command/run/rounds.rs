//! The number of launches of the cases of a run, and the cases that need more.

use std::collections::{BTreeMap, BTreeSet};

use analysis::launches::{RunState, launches_are_precise, launches_needed, shared_dependence};
use analysis::line_states::Lines;
use benchmark::{Launch, Settings, Step};
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
const TELLING: u32 = 10;
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
                let enough = needed.max(TELLING);
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
        let next = |&launches: &u32| Some((launches * 3).div_ceil(2));
        let mut checks = std::iter::successors(Some(self.fewest), next);
        self.fewest < self.most && checks.find(|check| *check >= number) == Some(number)
    }
}

/// The median of a case in each launch, with the lines beside it if they were timed.
type MediansOfLaunches = BTreeMap<u32, (f64, Option<Lines>)>;

/// Returns the cases of the run that have enough launches.
pub(super) fn settled(run: &Run) -> BTreeSet<Key> {
    let Some(header) = run.headers.last() else { return BTreeSet::new() };
    let state = RunState::of(run);
    let mut cases: BTreeMap<(Key, &str), MediansOfLaunches> = BTreeMap::new();
    for m in run.measurements.iter().filter(|m| !m.samples.is_empty()) {
        let of_launch = cases.entry((m.key(), &m.metric)).or_default();
        of_launch.insert(m.launch, (m.summary.median, state.lines(m)));
    }
    let medians: Vec<(Key, Vec<f64>)> = cases
        .into_iter()
        .map(|((key, _), launches)| {
            let (medians, lines): (Vec<f64>, Vec<Option<Lines>>) = launches.into_values().unzip();
            let lines: Vec<Lines> = lines.into_iter().flatten().collect();
            (key, state.select(&medians, &lines))
        })
        .collect();
    let shared = shared_dependence(medians.iter().map(|(_, launches)| &launches[..]));
    let precision = SHARE_OF_PRECISION * header.precision;
    let is_settled =
        |launches: &[f64]| launches_are_precise(launches, header.confidence, precision, shared);
    let open: BTreeSet<Key> = medians
        .into_iter()
        .filter(|(_, launches)| !is_settled(launches))
        .map(|(key, _)| key)
        .collect();
    let all: BTreeSet<Key> = run.measurements.iter().map(|m| m.key()).collect();
    all.difference(&open).cloned().collect()
}

/// Returns the launch without the steps of settled cases.
pub(super) fn without(settled: &BTreeSet<Key>, launch: &Launch) -> Launch {
    let key = |step: &Step| Key {
        benchmark: step.benchmark.clone(),
        ranks: launch.ranks,
        parameters: step.parameters.clone(),
        size_bytes: step.size_bytes,
    };
    let mut left = launch.clone();
    left.job.steps.retain(|step| !settled.contains(&key(step)));
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
        assert_eq!(checked(Rounds { fewest: 10, most: 30 }), [10, 15, 23, 35]);
        assert!(checked(Rounds::exactly(6)).is_empty());
    }
}
