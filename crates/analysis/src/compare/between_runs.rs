//! The ratio of the difference between two runs to the variation between launches.
//!
//! Consecutive launches meet one state of the machine. The launches of the other run, a minute later, may meet another.
//! No single number can show that, because its launches agree on both sides, but all numbers together can. If most of
//! them did not change, most should differ by as much as their launches explain. If they differ by more, the excess is
//! the difference between the minutes, and the intervals must be wider by that factor. Genome studies correct for
//! hidden kinship in the same way (Devlin and Roeder, Biometrics 55, 1999: genomic control), and others for a common
//! part of all tests (Efron, Journal of the American Statistical Association 99, 2004: the empirical null).

use super::{Comparison, Effect, Settings, freedom};
use crate::student;

/// Minimum number of numbers. The median of fewer has no meaning for the runs.
const NUMBERS_MIN: usize = 6;

/// Variation of the median of n such distances, times sqrt(n), if only launches differ: 1 / (2 f m), where m is the
/// median of a normal variable's size and f its density there.
const MEDIAN_VARIES_BY: f64 = 1.17;

/// Largest difference between minutes: the interval of the number in the middle is widened at most to half and twice.
/// If everything is slower by more, the machine's state is not the cause.
const MINUTES_DIFFER_BY: f64 = 2.0;

/// Returns the factor by which most numbers differ more than their launches explain. Returns `None` if chance explains
/// the difference, or if there are too few numbers.
pub(super) fn excess(comparisons: &[Comparison], settings: Settings) -> Option<f64> {
    let with_effect = |one: &Comparison| Some((one.effect?, freedom(one, settings)));
    let (distances, reaches): (Vec<f64>, Vec<f64>) = comparisons
        .iter()
        .filter_map(with_effect)
        .filter_map(|(effect, freedom)| Some((distance(effect, freedom)?, reach(effect))))
        .unzip();
    if distances.len() < NUMBERS_MIN {
        return None;
    }
    let by_chance = 1.0 + MEDIAN_VARIES_BY / (distances.len() as f64).sqrt();
    let excess = middle(distances).min(MINUTES_DIFFER_BY.ln() / middle(reaches));
    (excess > by_chance).then_some(excess)
}

/// Returns the distance of an effect from no change, in units of the difference that half of all unchanged numbers
/// exceed. Returns `None` if the launches of both sides do not differ at all, or if their interval has no bound.
fn distance(effect: Effect, freedom: usize) -> Option<f64> {
    let reach = reach(effect);
    let half_differ_by = student::two_sided(0.5, freedom);
    let reaches = student::two_sided(effect.confidence.clamp(0.5, 0.9999), freedom);
    let is_usable = reach > 0.0 && reach.is_finite();
    is_usable.then(|| effect.ratio.ln().abs() / reach * reaches / half_differ_by)
}

/// Returns the distance from the ratio to the end of the interval towards no change, on the logarithmic scale.
fn reach(effect: Effect) -> f64 {
    let end = if effect.ratio < 1.0 { effect.high } else { effect.low };
    (end / effect.ratio).ln().abs()
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use record::{Measurement, Run};

    use super::*;
    use crate::compare::{ComparedRuns, Verdict, compare};
    use crate::launches::pooled;
    use crate::records::{measurement, run};
    use random::SplitMix64;

    /// Number of numbers of a run.
    const NUMBERS: u64 = 10;
    /// Noise of a launch.
    const NOISE: f64 = 0.03;

    /// A machine with two states. A launch of all numbers meets the state of the launch before, except for one launch
    /// in `stays`. The slow state makes each number slower by a factor of its own, up to 1.5.
    struct Machine {
        random: SplitMix64,
        stays: f64,
        slow: bool,
    }

    impl Machine {
        fn new(seed: u64, stays: f64) -> Machine {
            Machine { random: SplitMix64::new(seed), stays, slow: false }
        }

        /// Makes one launch and returns the medians of all numbers.
        fn launch(&mut self) -> Vec<f64> {
            if self.random.uniform() < 1.0 / self.stays {
                self.slow = !self.slow;
            }
            let state = |number: u64| 1.0 + 0.5 * number as f64 / NUMBERS as f64;
            (0..NUMBERS)
                .map(|number| {
                    let slower = if self.slow { state(number) } else { 1.0 };
                    100.0 * slower * (1.0 + NOISE * self.random.normal())
                })
                .collect()
        }

        /// Returns a run of consecutive launches, or with `apart` launches of others between them, of a build in which
        /// the first number takes `change` times as long.
        fn run(&mut self, launches: u32, apart: u32, change: f64) -> Run {
            let one = |number: u32, size: usize, median: f64| {
                let median = if size == 0 { change * median } else { median };
                Measurement { launch: number, ..measurement("x", size as u64, &[median]) }
            };
            let mut all = Vec::new();
            for number in 0..launches {
                let medians = self.launch();
                all.extend(medians.iter().enumerate().map(|(size, m)| one(number, size, *m)));
                (0..apart).for_each(|_| drop(self.launch()));
            }
            pooled(run(all))
        }
    }

    fn compared(a: &Run, b: &Run, mostly_alike: bool) -> ComparedRuns {
        compare(a, b, Settings { mostly_alike, ..Settings::default() })
    }

    fn differ(compared: &ComparedRuns) -> usize {
        compared.count(Verdict::Faster) + compared.count(Verdict::Slower)
    }

    #[test]
    fn runs_of_one_build_on_a_machine_that_stays_in_its_states_hardly_ever_differ() {
        const PAIRS: usize = 150;
        const BETWEEN_RUNS: usize = 40;
        for (seed, launches) in [(2101, 6), (2102, 10), (2103, 16)] {
            let mut machine = Machine::new(seed, 40.0);
            let (mut as_alike, mut as_others) = (0, 0);
            for _ in 0..PAIRS {
                let a = machine.run(launches, 0, 1.0);
                (0..BETWEEN_RUNS).for_each(|_| drop(machine.launch()));
                let b = machine.run(launches, 0, 1.0);
                as_alike += differ(&compared(&a, &b, true));
                as_others += differ(&compared(&a, &b, false));
            }
            // 1 % of all; without the correction more than 5 %.
            let all = PAIRS * NUMBERS as usize;
            assert!(as_alike * 100 <= all, "seed {seed}: {as_alike} of {all} with {launches}");
            assert!(as_others * 20 >= all, "seed {seed}: {as_others} of {all} with {launches}");
        }
    }

    #[test]
    fn a_change_of_one_number_among_many_is_found_where_the_machine_keeps_its_state() {
        const PAIRS: usize = 60;
        let seed = 2104;
        let mut machine = Machine::new(seed, f64::INFINITY);
        let found = (0..PAIRS)
            .filter(|_| {
                let (a, b) = (machine.run(10, 0, 1.0), machine.run(10, 0, 1.2));
                compared(&a, &b, true).comparisons[0].verdict == Verdict::Slower
            })
            .count();
        assert!(found >= PAIRS * 95 / 100, "seed {seed}: {found} of {PAIRS}");
    }

    #[test]
    fn intervals_cover_the_long_run_if_launches_lie_as_far_apart_as_states_last() {
        const RUNS: u32 = 200;
        const LAUNCHES: u32 = 10;
        let covered = |seed: u64, apart: u32| {
            let mut machine = Machine::new(seed, 10.0);
            let runs: Vec<Run> = (0..RUNS).map(|_| machine.run(LAUNCHES, apart, 1.0)).collect();
            let of = |run: &Run, number: usize| run.measurements[number].clone();
            let share = |number: usize| {
                let mut all: Vec<f64> =
                    runs.iter().flat_map(|run| of(run, number).launch_medians).collect();
                all.sort_by(f64::total_cmp);
                let middle = all[all.len() / 2];
                let holds = |run: &&Run| {
                    let summary = of(run, number).summary;
                    (summary.ci_low..=summary.ci_high).contains(&middle)
                };
                runs.iter().filter(holds).count() as f64 / f64::from(RUNS)
            };
            (0..NUMBERS as usize).map(share).sum::<f64>() / NUMBERS as f64
        };
        let (near, far) = (covered(2105, 0), covered(2106, 20));
        // The second and the ninth of ten reach 97.9 %. Consecutive launches show only their own state.
        assert!(far >= 0.92 && near < 0.9, "{near} near and {far} far");
    }

    /// Returns the run with every median multiplied by `times`.
    fn slowed(run: &Run, times: f64) -> Run {
        let mut slowed = run.clone();
        let launches = slowed.measurements.iter_mut().flat_map(|m| m.launch_medians.iter_mut());
        launches.for_each(|median| *median *= times);
        slowed
    }

    #[test]
    fn what_is_slower_everywhere_is_the_machines_unless_it_is_by_more_than_minutes_differ() {
        let mut machine = Machine::new(2107, f64::INFINITY);
        let (a, b) = (machine.run(6, 0, 1.0), machine.run(6, 0, 1.0));
        assert_eq!(compared(&a, &b, true).excess, None);
        let third = compared(&a, &slowed(&b, 1.3), true);
        assert!(third.excess.is_some_and(|excess| excess > 5.0) && differ(&third) == 0);
        assert_eq!(differ(&compared(&a, &slowed(&b, 6.0), true)), NUMBERS as usize);
    }

    #[test]
    fn few_numbers_say_nothing_of_the_runs_and_launches_that_agree_are_left_out() {
        let mut machine = Machine::new(2108, f64::INFINITY);
        let (mut a, b) = (machine.run(6, 0, 1.0), slowed(&machine.run(6, 0, 1.0), 1.3));
        a.measurements.truncate(NUMBERS_MIN - 1);
        let few = compared(&a, &b, true);
        assert_eq!((few.excess, differ(&few)), (None, NUMBERS_MIN - 1));
        let exact = Effect { ratio: 2.0, low: 2.0, high: 2.0, confidence: 0.95 };
        assert_eq!(distance(exact, 10), None);
    }

    #[test]
    fn the_distance_of_an_effect_by_hand() {
        // The interval reaches from 1 to 4 around 2, so its end and no change are equally far from 2. With 2 degrees of
        // freedom t is 4.30265 at 95 %, and half of the values are within sqrt(2/3) = 0.8165.
        let effect = Effect { ratio: 2.0, low: 1.0, high: 4.0, confidence: 0.95 };
        let found = distance(effect, 2).unwrap();
        assert!((found - 4.30265 / (2f64 / 3.0).sqrt()).abs() < 1e-3, "{found}");
    }
}
