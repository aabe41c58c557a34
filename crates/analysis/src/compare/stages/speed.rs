//! The stage `speed`: launches are compared as if the processors had been equally fast during all of them.
//!
//! * It assumes that the logarithm of a number grows with the slowdown of simple operations along a line with the same
//!   slope on both sides, around 1 ([`Slope`]).
//! * Source: the analysis of covariance (Fisher, *Statistical Methods for Research Workers*, chapter 8);
//!   docs/decisions/0142-a-verdict-has-three-stages.md.
//! * It costs the uncertainty of the slope: the interval is wider where the sides met different slowdowns. If operations
//!   were not timed beside each launch of a number, it changes nothing.

use super::Stage;
use crate::compare::digits::{list, number};
use crate::compare::evidence::{Case, Evidence, Launch};
use crate::processor_speed::{Slope, mean};

pub(super) const STAGE: Stage = Stage {
    name: "speed",
    summary: "compares launches as if the processors had been equally fast",
    apply,
    explain,
};

fn apply(mut evidence: Evidence) -> Evidence {
    let paired = evidence.settings.paired;
    for case in evidence.cases.iter_mut().filter(|case| case.have_met) {
        let Some((slope, distance)) = slope(case, paired) else { continue };
        for launch in case.sides.iter_mut().flatten() {
            launch.log -= slope.value * launch.slowdown.unwrap_or(0.0);
        }
        case.error = case.error.hypot(slope.error * distance);
    }
    evidence
}

/// Returns the slope of the launches over their slowdowns, around the mean of each side and state, and by how much the
/// slowdown of the second side exceeds that of the first one. `None` if slowdowns are not known or do not differ.
fn slope(case: &Case, paired: bool) -> Option<(Slope, f64)> {
    let points_of_sides: Option<Vec<Vec<Point>>> =
        case.sides.iter().map(|side| points(side)).collect();
    let [first, second] = &points_of_sides?[..] else { return None };
    let (groups, distance) = if case.is_paired(paired) {
        let pairs: Vec<(f64, f64)> =
            first.iter().zip(second).map(|(a, b)| (b.1.0 - a.1.0, b.1.1 - a.1.1)).collect();
        let distance = mean(pairs.iter().map(|(x, _)| *x));
        (vec![pairs], distance)
    } else {
        let last = first.iter().map(|(group, _)| *group).max()?;
        let of = |side: &[Point], group: usize| -> Vec<(f64, f64)> {
            side.iter().filter(|one| one.0 == group).map(|one| one.1).collect()
        };
        let groups: Vec<_> =
            (0..=last).flat_map(|group| [of(first, group), of(second, group)]).collect();
        let distance = distance(&groups);
        (groups, distance)
    };
    let slope = Slope::of(&groups)?;
    (slope.is_known() || distance != 0.0).then_some((slope, distance))
}

/// The group of a launch, with its slowdown and its logarithm.
type Point = (usize, (f64, f64));

/// Returns the points of the launches; `None` if a slowdown is not known.
fn points(side: &[Launch]) -> Option<Vec<Point>> {
    side.iter().map(|one| Some((one.group, (one.slowdown?, one.log)))).collect()
}

/// Returns the difference of the mean slowdowns of both sides, each group with the weight that it has in the
/// comparison.
fn distance(groups: &[Vec<(f64, f64)>]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for both in groups.chunks(2).filter(|both| both.iter().all(|side| !side.is_empty())) {
        let [n, m] = [both[0].len() as f64, both[1].len() as f64];
        let [a, b] = [0, 1].map(|side: usize| mean(both[side].iter().map(|(x, _)| *x)));
        sum += n * m / (n + m) * (b - a);
        weights += n * m / (n + m);
    }
    sum / weights
}

fn explain([before, _]: [&Evidence; 2], [case, after]: [&Case; 2]) -> Vec<String> {
    let Some((slope, distance)) = slope(case, before.settings.paired) else { return Vec::new() };
    let mut lines = Vec::new();
    for (side, launches) in ["A", "B"].into_iter().zip(&case.sides) {
        let slowdowns = launches.iter().map(|launch| number(launch.slowdown.unwrap_or(0.0)));
        lines.push(format!("speed: ln(slowdown) of each launch of {side}: {}", list(slowdowns)));
    }
    lines.push(format!(
        "speed: slope of ln(median) over it: {} +- {}; B was slowed by {} more than A",
        number(slope.value),
        number(slope.error),
        number(distance)
    ));
    for (side, launches) in ["A", "B"].into_iter().zip(&after.sides) {
        let logs = launches.iter().map(|launch| number(launch.log));
        lines.push(format!("speed: ln(median) - slope x ln(slowdown) of {side}: {}", list(logs)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use random::SplitMix64;
    use record::{Measurement, Run};

    use crate::compare::{ComparedRuns, Settings, Verdict, compare};
    use crate::records::{measurement, run};

    /// Returns a run of a number on one rank, whose launches have these slowdowns and medians.
    fn of_launches(launches: &[(f64, f64)]) -> Run {
        let launch_medians: Vec<f64> = launches.iter().map(|one| one.1).collect();
        // The freest operation of all is the first one of each launch; the others are as slow.
        let operations = |(slowdown, _): &(f64, f64)| vec![0.1 * slowdown.exp(); 40];
        let launch_operations_ns = launches.iter().map(operations).collect();
        let m = measurement("x", 8, &launch_medians);
        run(vec![Measurement { ranks: 1, launch_medians, launch_operations_ns, ..m }])
    }

    fn compared(first: &[(f64, f64)], second: &[(f64, f64)], paired: bool) -> ComparedRuns {
        let settings = Settings { paired, ..Settings::default() };
        compare(&of_launches(first), &of_launches(second), settings)
    }

    /// Returns launches that take `level` on a free processor, and as much longer as operations on others.
    fn on(level: f64, slowdowns: &[f64]) -> Vec<(f64, f64)> {
        slowdowns.iter().map(|&x| (x, level * x.exp())).collect()
    }

    #[test]
    fn numbers_that_follow_the_slowdowns_are_compared_at_one_speed_by_hand() {
        let slowdowns = [[0.0, 0.02, 0.04, 0.01, 0.03], [0.21, 0.22, 0.23, 0.24, 0.2]];
        let sides = [on(2.0, &slowdowns[0]), on(2.2, &slowdowns[1])];
        for paired in [false, true] {
            let compared = compared(&sides[0], &sides[1], paired);
            let one = &compared.comparisons[0];
            // 1.1 at one speed, and exp(0.2) times as much as it was measured.
            let ratios: Vec<f64> = one.steps.iter().map(|s| s.effect.unwrap().ratio).collect();
            assert!((ratios[0] / (1.1 * 0.2f64.exp()) - 1.0).abs() < 1e-9, "{ratios:?}");
            assert!((ratios[1] - 1.1).abs() < 1e-9, "{ratios:?}");
            assert_eq!(compared.stages, ["speed"]);
        }
        assert_eq!(compared(&sides[0], &sides[1], false).comparisons[0].verdict, Verdict::Slower);
    }

    #[test]
    fn launches_without_slowdowns_and_those_of_free_processors_stay_as_they_are() {
        let free = on(1.0, &[0.0; 5]);
        assert!(compared(&free, &free, false).stages.is_empty());
        let mut unknown = of_launches(&on(1.0, &[0.0, 0.1, 0.2, 0.0, 0.1]));
        unknown.measurements[0].launch_operations_ns.pop();
        let settings = Settings::default();
        assert!(compare(&unknown, &unknown, settings).stages.is_empty());
    }

    /// Two sides whose processors differ in speed, with noise and a slope of 0.9. The true difference is 0.02.
    #[test]
    fn intervals_at_one_speed_cover_the_difference_as_often_as_they_claim() {
        const TRIALS: usize = 600;
        for (seed, launches, distance) in [(2401, 5, 0.0), (2402, 10, 0.05), (2403, 10, 0.1)] {
            let mut random = SplitMix64::new(seed);
            let mut covered = 0;
            let mut widths = [0.0, 0.0];
            for _ in 0..TRIALS {
                let mut side = |middle: f64, level: f64| -> Vec<(f64, f64)> {
                    let mut launch = || {
                        let x = middle + 0.1 * (random.uniform() - 0.5);
                        (x, (level + 0.9 * x + 0.01 * random.normal()).exp())
                    };
                    (0..launches).map(|_| launch()).collect()
                };
                let (a, b) = (side(0.05, 0.0), side(0.05 + distance, 0.02));
                let compared = compared(&a, &b, false);
                let one = &compared.comparisons[0];
                let [raw, found] = [0, 1].map(|step: usize| one.steps[step].effect.unwrap());
                covered += usize::from((found.low..=found.high).contains(&0.02f64.exp()));
                widths[0] += raw.high - raw.low;
                widths[1] += found.high - found.low;
            }
            let share = covered as f64 / TRIALS as f64;
            assert!(share >= 0.93, "seed {seed}: {share}");
            assert!(1.5 * widths[1] < widths[0], "seed {seed}: {widths:?}");
        }
    }
}
