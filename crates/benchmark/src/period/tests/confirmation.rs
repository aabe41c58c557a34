//! Tests the confirmation: the period found is tested for longer; if it is not sustained, the search continues.

use record::PeriodSearch;

use super::*;
use random::SplitMix64;

/// A processor that pauses for one to five milliseconds at random moments, in one
/// of its performance states more often than in the other.
pub(super) struct Unsteady {
    random: SplitMix64,
    pauses_per_s: [f64; 2],
    state: usize,
    state_ends_ps: f64,
    pause_at_ps: f64,
}

const S_PS: f64 = 1e12;
/// The number of changes of the performance state per second.
const CHANGES_PER_S: f64 = 1.0;

impl Unsteady {
    pub(super) fn new(seed: u64, pauses_per_s: [f64; 2]) -> Self {
        let mut random = SplitMix64::new(seed);
        let state = usize::from(random.uniform() < 0.5);
        let mut machine =
            Unsteady { random, pauses_per_s, state, state_ends_ps: 0.0, pause_at_ps: 0.0 };
        machine.state_ends_ps = machine.wait_ps(CHANGES_PER_S);
        machine.pause_at_ps = machine.wait_ps(pauses_per_s[machine.state]);
        machine
    }

    /// Returns the time until the next event of a kind that occurs `per_s` times a second.
    fn wait_ps(&mut self, per_s: f64) -> f64 {
        -self.random.uniform().ln() / per_s * S_PS
    }

    /// Returns the time of an instance that begins now and takes this long without pauses. They come whether it works or not.
    pub(super) fn cost_ps(&mut self, now_ps: u64, work_us: u64) -> u64 {
        let now = now_ps as f64;
        let (mut at, mut left) = (now, (work_us * US) as f64);
        loop {
            self.change_state(at);
            if self.pause_at_ps >= at + left {
                return (at + left - now) as u64;
            }
            left -= (self.pause_at_ps - at).max(0.0);
            let length_ps = (1000.0 + 4000.0 * self.random.uniform()) * US as f64;
            let end = self.pause_at_ps + length_ps;
            at = at.max(end);
            self.pause_at_ps = end + self.wait_ps(self.pauses_per_s[self.state]);
        }
    }

    /// Changes the performance state as often as it does until a moment.
    fn change_state(&mut self, until_ps: f64) {
        while self.state_ends_ps < until_ps {
            self.state = 1 - self.state;
            let begin = self.state_ends_ps;
            self.state_ends_ps += self.wait_ps(CHANGES_PER_S);
            // Waiting has no memory, so the wait for the next pause may begin anew with the state.
            self.pause_at_ps = begin + self.wait_ps(self.pauses_per_s[self.state]);
        }
    }
}

fn on(seed: u64, pauses_per_s: [f64; 2], real_time: RealTime) -> PeriodSearch {
    let make = || {
        let mut machine = Unsteady::new(seed, pauses_per_s);
        move |_, now| machine.cost_ps(now, 20)
    };
    search_on(real_time, make).0.unwrap().search.unwrap()
}

/// Returns the number of periods that searches confirmed, and the number of those that were missed more often than
/// stated when they were tested for ten times as long as a trial, on the same machine at another time. There are this
/// number of searches.
fn kept_up_again(pauses_per_s: [f64; 2], searches: u64) -> (usize, usize) {
    let searched =
        RealTime { search_limit_s: Some(30.0), confirm: Some(10), ..RealTime::default() };
    let of_a_trial = |seed: u64| {
        let search = on(seed, pauses_per_s, searched.clone());
        assert!(search.confirmation.is_none() || search.proven, "seed {seed}");
        let period_us = search.shortest_sustained_us.filter(|_| search.confirmation.is_some())?;
        let period_s = Some(period_us / 1e6);
        let again = RealTime { period_s, duration_s: Some(10.0), ..RealTime::default() };
        let trial = on(seed + 1000, pauses_per_s, again).trials[0].clone();
        Some(trial.missed as f64 > 0.01 * trial.instances as f64)
    };
    let missed: Vec<bool> = (0..searches).filter_map(of_a_trial).collect();
    (missed.len(), missed.iter().filter(|missed| **missed).count())
}

/// Returns the same on a machine whose good performance state pauses for 0.15 or 0.6 % of the time, and its bad one for
/// 2.4 or 1 %: about as much as the permitted 1 %.
fn kept_up_again_at_the_limit(searches: u64) -> (usize, usize) {
    let a = kept_up_again([0.5, 8.0], searches);
    let b = kept_up_again([2.0, 3.5], searches);
    (a.0 + b.0, a.1 + b.1)
}

#[test]
fn confirmed_periods_keep_their_bound_when_they_are_kept_up_again() {
    let (found, missed) = kept_up_again_at_the_limit(5);
    // 5 % may be wrong: 4 or more of 10 once in a thousand times.
    assert!(found >= 6 && missed < 4, "{missed} of {found} that were confirmed did not hold");
}

#[test]
#[ignore = "long"]
fn of_many_confirmed_periods_hardly_more_than_promised_do_not_hold() {
    let (found, missed) = kept_up_again_at_the_limit(30);
    // 3 of 60, and 8 or more of 60 once in a hundred times.
    assert!(found >= 40 && missed < 8, "{missed} of {found} that were confirmed did not hold");
}

fn in_fifths() -> RealTime {
    RealTime { duration_s: Some(0.2), ..RealTime::default() }
}

/// Returns the time, in picoseconds and a little later, at which a search without a confirmation of 20 µs an instance
/// is over.
fn when_over_ps() -> u64 {
    let trials = search_alone(in_fifths(), |_| 20 * US).0.unwrap().search.unwrap().trials;
    let last = trials.last().unwrap();
    // The work before the search, a first guess of 256 instances and less, takes less than 10 ms.
    (1e12 * (last.begin_s + last.instances as f64 * last.period_us / 1e6)) as u64 + 10_000 * US
}

#[test]
fn a_period_that_does_not_hold_goes_back_into_the_search() {
    let over_ps = when_over_ps();
    // When the period is found the machine begins to pause, 1 ms after each 10 ms. A tenth of all instances is
    // therefore missed with a period of 20 µs, and none with one of a millisecond and 20 µs.
    let make = || {
        let mut next_ps = over_ps;
        move |_, now_ps| {
            let pauses = now_ps >= next_ps;
            next_ps = if pauses { now_ps + 11_000 * US } else { next_ps };
            if pauses { 1020 * US } else { 20 * US }
        }
    };
    let requested = RealTime { confirm: Some(10), ..in_fifths() };
    let search = search_on(requested, make).0.unwrap().search.unwrap();
    let first = &search.unconfirmed[0];
    assert!((20.0..20.5).contains(&first.period_us) && first.missed > 0, "{first:?}");
    // More than 1 % of its 100 000 instances were missed soon, so the rest was not run.
    assert!(first.instances < 20_000 && !first.sustained, "{first:?}");
    let held = search.confirmation.unwrap();
    assert!(held.period_us >= 1020.0 && held.proven && held.missed == 0, "{held:?}");
    assert_eq!(search.shortest_sustained_us, Some(held.period_us));
    assert!(search.longest_refused_us.unwrap() < held.period_us);
    assert_eq!(
        (search.end, search.miss_rate_max),
        (SearchEnd::Unsettled, Some(held.miss_rate_max))
    );
    // The failed periods are among the trials, and every period below the confirmed one was tried and given up.
    assert!(search.unconfirmed.iter().all(|failed| search.trials.contains(failed)));
}

#[test]
fn where_nothing_holds_no_period_is_called_sustained() {
    let over_ps = when_over_ps();
    // Every instance takes longer than the longest period that is tried, a tenth of a second.
    let make = || move |_, now_ps| if now_ps >= over_ps { 200_000 * US } else { 20 * US };
    let requested = RealTime { confirm: Some(2), ..in_fifths() };
    let search = search_on(requested, make).0.unwrap().search.unwrap();
    assert_eq!((search.shortest_sustained_us, search.confirmation), (None, None));
    assert!(!search.unconfirmed.is_empty() && !search.proven);
    assert_eq!((search.miss_rate_max, search.confirm_times), (None, 2));
}

#[test]
fn a_search_whose_time_is_over_says_that_its_period_was_not_confirmed() {
    // 20 ms is a trial; a confirmation within the rest of 50 ms would have too few instances to show anything.
    let limited = RealTime { search_limit_s: Some(0.05), miss_rate: 0.0001, ..quickly() };
    let search = search_alone(limited, |_| 20 * US).0.unwrap().search.unwrap();
    assert!(search.shortest_sustained_us.is_some(), "{search:?}");
    assert_eq!((search.confirmation, search.unconfirmed, search.confirm_times), (None, vec![], 10));
}

/// Tests a short remaining time. The sixteen instances of the first period take the time for finding one. The rest
/// contains too few of that period to prove the rate. Divided by half as many again as prove it without a miss, it is
/// the period to confirm.
#[test]
fn where_time_is_left_for_a_shorter_period_alone_that_is_confirmed() {
    let limited =
        RealTime { search_limit_s: Some(0.04), guess_s: Some(0.0016), ..RealTime::default() };
    let search = search_alone(limited.clone(), |_| 20 * US).0.unwrap().search.unwrap();
    assert_eq!((search.trials.len(), search.trials[0].period_us), (1, 1600.0), "{search:?}");
    let held = search.confirmation.unwrap();
    assert!((28.8..29.0).contains(&held.period_us) && held.missed == 0 && held.proven, "{held:?}");
    assert!((550..=553).contains(&held.instances), "{held:?}");
    assert_eq!(search.shortest_sustained_us, Some(held.period_us));
    // If an instance takes longer than that, it is not confirmed, and the result of the trial remains.
    let search = search_alone(limited, |_| 100 * US).0.unwrap().search.unwrap();
    assert_eq!((search.confirmation, search.shortest_sustained_us), (None, Some(1600.0)));
    assert_eq!(search.unconfirmed.len(), 1);
}
