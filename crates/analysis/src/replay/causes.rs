//! Which observed pauses explain what was lost, and what would follow if some of them were gone.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::{Lost, Recording};

/// A pause that explains less than this share of a lost time is not its cause.
const LEAST_SHARE: f64 = 0.5;
/// A rank that explains less than one of so many lost times explains little.
const LITTLE: usize = 8;

/// A pause that a rank observed while the recording was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The rank.
    pub rank: usize,
    /// The stage of a chain that it was working for, if that is known.
    pub stage: Option<usize>,
    /// Its beginning, in microseconds since the first instance began.
    pub begin_us: f64,
    /// Its length, in microseconds.
    pub length_us: f64,
}

/// Lost times with the pauses that ranks observed about them.
#[derive(Clone, Debug)]
pub struct Causes {
    times: Vec<(Lost, Vec<Observed>)>,
}

impl Recording {
    /// For each of these times the pauses that may have caused it: all that came at most a latency before it, for a
    /// stage at the beginning of a chain delays the results only when the buffers after it are empty.
    pub fn causes(&self, lost: &[Lost], seen: &[Observed]) -> Causes {
        let with_pauses = |one: &Lost| {
            let at_us = one.at_us + self.begin_us();
            let is_there = |pause: &&Observed| {
                let until_us =
                    pause.begin_us + pause.length_us + self.latency_us() + self.each_us();
                pause.begin_us <= at_us + one.length_us && at_us <= until_us
            };
            let mut pauses: Vec<Observed> = seen.iter().filter(is_there).copied().collect();
            pauses.sort_by(|a, b| b.length_us.total_cmp(&a.length_us));
            (*one, pauses)
        };
        Causes { times: lost.iter().map(with_pauses).collect() }
    }

    /// The recording as it would be without the pauses of `causes` at which `is_gone`.
    ///
    /// Pauses at the same time on several ranks delay a chain once. What remains of a lost time is therefore the
    /// longest pause that remains there.
    pub fn without_pauses(
        &self,
        causes: &Causes,
        is_gone: impl Fn(&Observed) -> bool,
    ) -> Recording {
        let remaining = causes.times.iter().map(|(lost, pauses)| {
            let explains = |pause: &Observed| pause.length_us >= LEAST_SHARE * lost.length_us;
            if !pauses.iter().any(|pause| explains(pause) && is_gone(pause)) {
                return *lost;
            }
            let others = pauses.iter().filter(|pause| !is_gone(pause));
            let longest_us = others.map(|pause| pause.length_us).fold(0.0, f64::max);
            Lost { length_us: longest_us.min(lost.length_us), ..*lost }
        });
        self.with_lost(remaining)
    }
}

impl Causes {
    /// The longest pause of each time that one explains.
    fn longest(&self) -> impl Iterator<Item = &Observed> {
        self.times.iter().filter_map(|(lost, pauses)| {
            pauses.first().filter(|pause| pause.length_us >= LEAST_SHARE * lost.length_us)
        })
    }

    /// Whether pauses explain at least half of these times. Otherwise unobserved ranks may have paused, too.
    pub fn are_known(&self) -> bool {
        2 * self.longest().count() >= self.times.len()
    }

    /// The ranks whose pauses explain these times, without those that explain little of them.
    pub fn ranks(&self) -> Vec<usize> {
        let mut times_of = BTreeMap::new();
        for pause in self.longest() {
            *times_of.entry(pause.rank).or_insert(0) += 1;
        }
        let all: usize = times_of.values().sum();
        let matter = times_of.into_iter().filter(|(_, times)| LITTLE * times >= all);
        matter.map(|(rank, _)| rank).collect()
    }

    /// The stages in which a pause explains one of these times, or would if there was no longer one.
    pub fn stages(&self) -> BTreeSet<usize> {
        let explaining = self.times.iter().flat_map(|(lost, pauses)| {
            pauses.iter().take_while(|pause| pause.length_us >= LEAST_SHARE * lost.length_us)
        });
        explaining.filter_map(|pause| pause.stage).collect()
    }

    /// These times with the pauses of one stage alone.
    pub fn of_stage(&self, stage: usize) -> Causes {
        let of_stage = |(lost, pauses): &(Lost, Vec<Observed>)| {
            let its: Vec<Observed> =
                pauses.iter().filter(|pause| pause.stage == Some(stage)).copied().collect();
            let explains = |longest: &Observed| longest.length_us >= LEAST_SHARE * lost.length_us;
            its.first().is_some_and(explains).then_some((*lost, its))
        };
        Causes { times: self.times.iter().filter_map(of_stage).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends, job};
    use super::*;

    /// Instances of 10 us with 300 us lost in every hundredth; the sixteenth part, 1300 us with two of the losses, is
    /// left out.
    fn recording() -> Recording {
        let each = (0..1600).map(|index| if index % 100 == 50 { 310.0 } else { 10.0 });
        Recording::new(&ends(each), 10.0).unwrap()
    }

    /// The pause in the instance with this number.
    fn pause(number: usize, rank: usize, stage: usize, length_us: f64) -> Observed {
        let begin_us = (100 * number + 50) as f64 * 10.0 + 300.0 * number as f64;
        Observed { rank, stage: Some(stage), begin_us, length_us }
    }

    #[test]
    fn each_stage_is_worth_its_own_pauses() {
        let recording = recording();
        // Fifteen losses remain. Stage 1 on rank 0 paused in the even ones, 2 to 14, and stage 2 on rank 1 in the odd
        // ones, 1 to 15.
        let lost = recording.lost();
        assert_eq!(lost.len(), 15);
        let seen: Vec<Observed> =
            (0..16).map(|number| pause(number, number % 2, 1 + number % 2, 300.0)).collect();
        let causes = recording.causes(&lost, &seen);
        assert!(causes.are_known());
        assert_eq!(causes.ranks(), [0, 1]);
        assert_eq!(causes.stages().into_iter().collect::<Vec<_>>(), [1, 2]);
        let without = |stage| recording.without_pauses(&causes, |seen| seen.stage == Some(stage));
        assert_eq!((without(1).lost_us(), without(2).lost_us()), (8.0 * 300.0, 7.0 * 300.0));
        assert_eq!((causes.of_stage(1).ranks(), causes.of_stage(2).ranks()), (vec![0], vec![1]));
        // Between two losses the job catches up: 300 us at 10 us an instance take 30 periods of 20 us, 600 us, and the
        // next loss comes after 1000 us. So what each stage causes adds up to all.
        let missed = |recording: &Recording| {
            recording.missed(job(20.0)).iter().filter(|missed| **missed).count()
        };
        assert_eq!((missed(&without(1)) + missed(&without(2))).abs_diff(missed(&recording)), 0);
        assert_eq!(missed(&recording.without_pauses(&causes, |_| true)), 0);
    }

    #[test]
    fn of_pauses_at_once_the_longest_that_remains_is_lost() {
        let recording = recording();
        let lost = recording.lost();
        let both = |number| [pause(number, 0, 1, 300.0), pause(number, 1, 2, 200.0)];
        let seen: Vec<Observed> = (0..16).flat_map(both).collect();
        let causes = recording.causes(&lost, &seen);
        // Rank 0 paused longer in each, so only it is named; both stages may matter.
        assert_eq!(causes.ranks(), [0]);
        assert_eq!(causes.stages().len(), 2);
        let without = |stage| recording.without_pauses(&causes, |seen| seen.stage == Some(stage));
        assert_eq!((without(1).lost_us(), without(2).lost_us()), (15.0 * 200.0, 15.0 * 300.0));
    }

    #[test]
    fn what_no_rank_observed_stays_lost() {
        let recording = recording();
        let lost = recording.lost();
        // Seven of fifteen are less than half. A pause of 100 us explains no loss of 300 us.
        let seen: Vec<Observed> = (1..8).map(|number| pause(number, 0, 1, 300.0)).collect();
        let causes = recording.causes(&lost, &seen);
        assert!(!causes.are_known());
        assert_eq!(recording.without_pauses(&causes, |_| true).lost_us(), 8.0 * 300.0);
        let short: Vec<Observed> = (1..16).map(|number| pause(number, 0, 1, 100.0)).collect();
        let causes = recording.causes(&lost, &short);
        assert!(causes.ranks().is_empty() && causes.stages().is_empty());
        assert_eq!(recording.without_pauses(&causes, |_| true).lost_us(), 15.0 * 300.0);
    }
}
