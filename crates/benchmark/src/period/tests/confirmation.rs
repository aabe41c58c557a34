//! Tests the confirmation: the period found is tested for longer; if it is not sustained, the search continues.

use super::*;

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
    assert_eq!((search.confirmation, search.unconfirmed, search.confirm_times), (None, vec![], 1));
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
