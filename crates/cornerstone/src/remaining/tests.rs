use benchmark::{Settings, plan, select};

use super::*;

const BENCHMARKS: [&str; 4] = ["barrier", "put", "get", "compare-and-swap"];

/// Returns the plan of `rounds` launches of four cases of 8 bytes, each with the same estimate.
fn planned(rounds: u32, estimate_s: f64) -> Vec<Launch> {
    let names: Vec<String> = BENCHMARKS.map(String::from).into();
    let settings = Settings { sizes: Some("8".parse().unwrap()), ..Settings::default() };
    let first = plan(&select(&names).unwrap(), Some(&[2]), 2, &settings, &Default::default());
    let mut first = first.unwrap().remove(0);
    assert_eq!(first.job.steps.len(), 4);
    first.job.steps.iter_mut().for_each(|step| step.estimate_s = estimate_s);
    (0..rounds).map(|number| Launch { number, ..first.clone() }).collect()
}

const BOUNDS: Bounds = Bounds { fewest: 10, expected: 15, budget_s: None, spread_s: 0.0 };

/// One moment of a run: its time, the time left by the estimate, and the steps that are over and expected.
type Moment = (f64, f64, (usize, usize));

/// Lets a run happen in which the cases take `step_s` and each launch takes 0.1 s to start. Case `i` ends after
/// `ends[i]` launches, as is known after the third. Returns a moment in the middle of each step, and the run's end.
fn happens(
    launches: &[Launch],
    bounds: Bounds,
    step_s: [f64; 4],
    ends: [u32; 4],
) -> (Vec<Moment>, f64) {
    let mut remaining = Remaining::new(launches, bounds);
    let (mut now_s, mut moments) = (0.0, Vec::new());
    for (position, launch) in launches.iter().enumerate() {
        let is_over = bounds.budget_s.is_some_and(|budget_s| now_s >= budget_s);
        if is_over && launch.number >= bounds.fewest {
            break;
        }
        if launch.number == 3 {
            let keys = launch.job.steps.iter().map(|step| launch.key(step));
            remaining.expect(&keys.zip(ends).collect());
        }
        let mut needed = launch.clone();
        let mut position_of_step = 0..4;
        needed.job.steps.retain(|_| launch.number < ends[position_of_step.next().unwrap()]);
        if needed.job.steps.is_empty() {
            continue;
        }
        remaining.begin_launch(position, &needed, now_s);
        now_s += 0.1;
        for step in &needed.job.steps {
            remaining.begin_step(now_s);
            let case = launch.job.steps.iter().position(|one| one == step).unwrap();
            let middle_s = now_s + step_s[case] / 2.0;
            moments.push((middle_s, remaining.left_s(middle_s), remaining.steps()));
            now_s += step_s[case];
        }
    }
    remaining.end_step(now_s);
    assert_eq!(remaining.steps().0, moments.len());
    (moments, now_s)
}

/// Checks that the time left is within a factor of two of the truth from a tenth of the run on, except in the last
/// half second.
fn holds((moments, end_s): (Vec<Moment>, f64)) {
    let judged = moments.iter().filter(|(now_s, ..)| (0.1 * end_s..end_s - 0.5).contains(now_s));
    for &(now_s, left_s, (done, all)) in judged {
        let ratio = left_s / (end_s - now_s);
        let words = format!("at {now_s:.2} of {end_s:.2} s: {left_s:.2} s left, {done} of {all}");
        assert!((0.5..=2.0).contains(&ratio), "{words}");
        assert!(done < all, "{words}");
    }
}

#[test]
fn before_anything_is_done_the_plan_is_the_estimate() {
    // 15 launches of 4 steps of 0.5 s, each after 20 ms.
    let remaining = Remaining::new(&planned(100, 0.5), BOUNDS);
    assert!((remaining.left_s(0.0) - 15.0 * 2.02).abs() < 1e-9);
    assert_eq!(remaining.steps(), (0, 60));
    let spread = Remaining::new(&planned(100, 0.5), Bounds { spread_s: 90.0, ..BOUNDS });
    assert_eq!(spread.left_s(10.0), 80.0);
}

#[test]
fn the_time_left_is_within_a_factor_of_two_from_a_tenth_of_the_run_on() {
    // As estimated; three times as long; most of it in the last case of each launch.
    for step_s in [[0.1; 4], [0.3; 4], [0.02, 0.02, 0.02, 1.0], [1.0, 0.02, 0.02, 0.02]] {
        for ends in [[10; 4], [15; 4], [23; 4], [100; 4], [10, 10, 53, 100]] {
            holds(happens(&planned(100, 0.1), BOUNDS, step_s, ends));
        }
        let fixed = Bounds { fewest: 6, expected: 6, ..BOUNDS };
        holds(happens(&planned(6, 0.1), fixed, step_s, [6; 4]));
    }
}

#[test]
fn the_budget_ends_what_would_take_longer() {
    // 100 launches of 1.3 s would take 130 s.
    let bounds = Bounds { budget_s: Some(30.0), ..BOUNDS };
    let (moments, end_s) = happens(&planned(100, 0.3), bounds, [0.3; 4], [100; 4]);
    assert!((30.0..31.5).contains(&end_s), "{end_s}");
    holds((moments, end_s));
}

#[test]
fn a_case_that_is_known_is_expected_to_take_as_long_again() {
    let launches = planned(2, 0.1);
    let mut remaining = Remaining::new(&launches, Bounds { fewest: 2, expected: 2, ..BOUNDS });
    remaining.begin_launch(0, &launches[0], 0.0);
    remaining.begin_step(0.5);
    remaining.begin_step(2.5);
    // The first case took 2 s and will take them again; a launch takes the mean of 0.5 and 0.02 s to start. The plan had
    // 0.84 s, so the steps that are not known yet take (2 + 0.084) / (0.1 + 0.084) times their estimates: six of them.
    let unknown_s = 0.1 * (2.0 + 0.084) / (0.1 + 0.084);
    assert!((remaining.left_s(2.5) - (2.0 + 0.26 + 6.0 * unknown_s)).abs() < 1e-9);
    assert_eq!(remaining.steps(), (1, 8));
}
