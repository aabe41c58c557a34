//! The performance states that two runs have met, and the launches that are compared.

use record::{Measurement, Run};
use serde::Serialize;

use super::speed::Slowdowns;
use crate::line_states::{LineStates, Lines, known_lines};
use crate::machine::Machine;
use crate::processor_speed::Speed;

/// A performance state of the machine, and how often two runs met it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetState {
    /// Median hand-over of a cache line between processors, in microseconds.
    pub line_us: f64,
    /// Number of measurements on each side that were made in it, each launch counted.
    pub measurements: [usize; 2],
}

/// The performance states in which the launches of two runs were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Strata {
    states: LineStates,
    /// The state of each run that is compared with that of the other one, if the runs are of different machines. The
    /// states of one machine are compared each with itself.
    of_machines: Option<[usize; 2]>,
    /// The speed of the processors, if both runs are of one machine.
    speed: Option<Speed>,
}

impl Strata {
    /// Returns the states of two runs.
    pub(super) fn of(first: &Run, second: &Run) -> Strata {
        let lines = [first, second].map(known_lines);
        let states = LineStates::of(&lines.concat());
        let machine = |run: &Run| run.headers.last().map(Machine::of);
        // The distances within one machine say nothing of those within another.
        let of_machines = (machine(first) != machine(second))
            .then(|| [0, 1].map(|side: usize| states.commonest(&lines[side])));
        let speed = Speed::of(&[first, second]).filter(|_| of_machines.is_none());
        Strata { states, of_machines, speed }
    }

    /// Returns the states with the number of measurements of each run; nothing if there is one state.
    pub(super) fn met(&self, runs: [&Run; 2]) -> Vec<MetState> {
        if !self.states.are_several() {
            return Vec::new();
        }
        let counts = runs.map(|run| self.states.count(&known_lines(run)).0);
        let state = |(index, &line_us): (usize, &f64)| MetState {
            line_us,
            measurements: [counts[0][index], counts[1][index]],
        };
        self.states.medians_us().iter().enumerate().map(state).collect()
    }

    /// Returns by which share simple operations took longer in each run than on free processors; `None` if they were
    /// not timed in both, or if the runs are of different machines.
    pub(super) fn slowed(&self, runs: [&Run; 2]) -> Option<[f64; 2]> {
        let [first, second] = runs.map(|run| self.speed?.slowdown_of(run));
        Some([first?, second?])
    }

    /// Returns the launches of both sides that are compared, by state, without states that only one side met. With
    /// `paired`, these are the pairs that met the same state, as one stratum. If nothing is known of the states of a
    /// side, all launches are compared.
    pub(super) fn divide<T: Clone>(
        &self,
        values: &[Vec<T>; 2],
        lines: [&[Lines]; 2],
        paired: bool,
    ) -> Vec<[Vec<T>; 2]> {
        if (0..2).any(|side| lines[side].len() != values[side].len()) {
            return vec![values.clone()];
        }
        let mut strata = match paired {
            true => vec![self.pairs(values, lines)],
            false => self.by_state(values, lines),
        };
        strata.retain(|stratum| stratum.iter().all(|side| !side.is_empty()));
        strata
    }

    /// Returns the slowdowns of the launches that are compared, in the form of [`divide`](Self::divide). Empty if they
    /// are not known.
    pub(super) fn slowdowns(
        &self,
        sides: [&Measurement; 2],
        lines: [&[Lines]; 2],
        paired: bool,
    ) -> Vec<Slowdowns> {
        let Some(speed) = self.speed else { return Vec::new() };
        let slowdowns = sides.map(|side| speed.slowdowns(side));
        let are_known = (0..2).all(|side| slowdowns[side].len() == sides[side].launches().len());
        if are_known { self.divide(&slowdowns, lines, paired) } else { Vec::new() }
    }

    fn by_state<T: Clone>(&self, values: &[Vec<T>; 2], lines: [&[Lines]; 2]) -> Vec<[Vec<T>; 2]> {
        let mut strata = vec![[Vec::new(), Vec::new()]; self.states.medians_us().len()];
        for side in [0, 1] {
            for (value, lines) in values[side].iter().zip(lines[side]) {
                if let Some(stratum) = self.stratum(side, *lines) {
                    strata[stratum][side].push(value.clone());
                }
            }
        }
        strata
    }

    fn pairs<T: Clone>(&self, [first, second]: &[Vec<T>; 2], lines: [&[Lines]; 2]) -> [Vec<T>; 2] {
        let stratum = |side: usize, pair: usize| self.stratum(side, lines[side][pair]);
        let is_alike =
            |&pair: &usize| stratum(0, pair).is_some() && stratum(0, pair) == stratum(1, pair);
        let alike = (0..first.len()).filter(is_alike);
        let (a, b) = alike.map(|pair| (first[pair].clone(), second[pair].clone())).unzip();
        [a, b]
    }

    /// Returns the stratum of a launch on a side, or `None` if it is not compared.
    fn stratum(&self, side: usize, lines: Lines) -> Option<usize> {
        let state = self.states.state(lines)?;
        match self.of_machines {
            None => Some(state),
            Some(chosen) => (chosen[side] == state).then_some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use random::SplitMix64;

    use super::*;
    use crate::compare::{ComparedRuns, Settings, Verdict, compare};
    use crate::launches::pooled;
    use crate::records::{measurement, run, with_line};

    /// Hand-over of a line in each state of a machine, and the factor by which a message is slower in it.
    const STATES: [(f64, f64); 3] = [(0.03, 0.6), (0.05, 1.0), (0.16, 3.2)];
    /// Noise of a launch, and of a line.
    const NOISE: f64 = 0.015;

    /// Returns a run of launches with these medians, each in one of the states.
    fn of_launches(launches: &[(f64, usize)]) -> Run {
        let one = |(number, &(median, state)): (u32, &(f64, usize))| {
            let m = measurement("x", 8, &[median]);
            with_line(Measurement { launch: number, ..m }, [STATES[state].0; 2])
        };
        pooled(run((0..).zip(launches).map(one).collect()))
    }

    #[test]
    fn launches_are_compared_with_those_of_their_own_state_by_hand() {
        // The second build takes twice as long in both states, but it met the slow one more often.
        let first = of_launches(&[(1.0, 1), (1.1, 1), (1.2, 1), (8.0, 2), (8.1, 2)]);
        let second = of_launches(&[(2.0, 1), (2.2, 1), (16.0, 2), (16.2, 2), (16.1, 2), (0.1, 0)]);
        let compared = compare(&first, &second, Settings::default());
        let [one] = &compared.comparisons[..] else { panic!("{compared:?}") };
        // The launch in the state that the first run never met is left out.
        assert_eq!((one.launches, one.compared), ([5, 6], [5, 5]));
        // 3 with 2 launches in either state: 2 of 10 x 10 arrangements are as extreme.
        let effect = one.effect.unwrap();
        assert!((effect.confidence - 0.98).abs() < 1e-12, "{effect:?}");
        // Ratios of the one state: 2/1.2, 2/1.1, 2.2/1.2, 2, 2.2/1.1, 2.2; of the other: 16/8.1, 16.1/8.1, 16/8,
        // 16.2/8.1, 16.1/8, 16.2/8. The lowest is 1.667, the highest 2.2, and the middle two are 2.
        let is = |found: f64, by_hand: f64| (found / by_hand - 1.0).abs() < 1e-9;
        assert!(is(effect.low, 2.0 / 1.2) && is(effect.high, 2.2) && is(effect.ratio, 2.0));
        assert_eq!(one.verdict, Verdict::Slower);
        let met = compared.states.iter().map(|state| (state.line_us, state.measurements));
        assert!(met.eq([(0.03, [0, 1]), (0.05, [3, 2]), (0.16, [2, 3])]));
    }

    #[test]
    fn runs_that_met_no_common_state_are_undecided() {
        let first = of_launches(&[1.0, 1.01, 1.02, 1.03, 1.04].map(|median| (median, 1)));
        let second = of_launches(&[3.0, 3.01, 3.02, 3.03, 3.04].map(|median| (median, 2)));
        let compared = compare(&first, &second, Settings::default());
        let one = &compared.comparisons[0];
        assert_eq!((one.verdict, one.compared), (Verdict::Undecided, [0, 0]));
        assert!(one.effect.is_some_and(|effect| effect.confidence == 0.0 && effect.ratio > 2.9));
    }

    #[test]
    fn machines_are_compared_by_their_commonest_states() {
        let first = of_launches(&[(1.0, 1), (1.01, 1), (1.02, 1), (1.03, 1), (9.0, 2)]);
        let mut second = of_launches(&[(2.0, 2), (2.01, 2), (2.02, 2), (2.03, 2), (0.5, 0)]);
        second.headers[0].environment.processor = "another".into();
        let one = &compare(&first, &second, Settings::default()).comparisons[0];
        assert_eq!((one.verdict, one.compared), (Verdict::Slower, [4, 4]));
    }

    #[test]
    fn of_pairs_only_those_in_one_state_are_compared() {
        let first = of_launches(&[1, 1, 2, 1, 1, 1, 1, 1, 1].map(|state| (STATES[state].1, state)));
        let second =
            of_launches(&[1, 2, 1, 1, 1, 1, 1, 1, 1].map(|state| (1.2 * STATES[state].1, state)));
        let settings = Settings { paired: true, ..Settings::default() };
        let one = &compare(&first, &second, settings).comparisons[0];
        assert_eq!((one.verdict, one.compared), (Verdict::Slower, [7, 7]));
    }

    #[test]
    fn launches_without_lines_are_compared_as_they_are() {
        let mut first = of_launches(&[1.0, 1.0, 3.2, 3.2].map(|median| (median, 1)));
        first.measurements[0].launch_lines_us.clear();
        let second = of_launches(&[(1.0, 1), (3.2, 2), (3.2, 2), (1.0, 1)]);
        let compared = compare(&first, &second, Settings::default());
        assert_eq!(compared.comparisons[0].compared, [4, 4]);
    }

    /// A machine whose state lasts for some launches, and changes within one of them now and then.
    struct Machine {
        random: SplitMix64,
        state: usize,
    }

    impl Machine {
        /// Makes one run of a build that takes `times` as long, with or without lines.
        fn run(&mut self, launches: u32, times: f64, has_lines: bool) -> Run {
            const NUMBERS: u64 = 10;
            let mut all = Vec::new();
            for launch in 0..launches {
                for number in 0..NUMBERS {
                    let before = self.state;
                    if self.random.uniform() < 1.0 / (5 * NUMBERS) as f64 {
                        self.state = [1, 1, 2, 0][(self.random.uniform() * 4.0) as usize];
                    }
                    let mut near = |value: f64| value * (1.0 + NOISE * self.random.normal());
                    let lines = [before, self.state].map(|state| near(STATES[state].0));
                    let median = near(times * STATES[before].1);
                    let m = Measurement { launch, ..measurement("x", number, &[median]) };
                    all.push(if has_lines { with_line(m, lines) } else { m });
                }
            }
            pooled(run(all))
        }
    }

    #[test]
    fn two_runs_on_a_machine_with_three_states_are_decided_by_its_lines() {
        const PAIRS: usize = 60;
        let share = |times: f64, has_lines: bool, verdicts: &[Verdict]| {
            let mut machine = Machine { random: SplitMix64::new(2301), state: 1 };
            let mut counted = [0, 0];
            for _ in 0..PAIRS {
                let [a, b] = [1.0, times].map(|times| machine.run(10, times, has_lines));
                let settings = Settings { mostly_alike: times == 1.0, ..Settings::default() };
                let compared: ComparedRuns = compare(&a, &b, settings);
                let is_one = verdicts.iter().map(|verdict| compared.count(*verdict)).sum::<usize>();
                counted = [counted[0] + is_one, counted[1] + compared.comparisons.len()];
            }
            counted[0] as f64 / counted[1] as f64
        };
        let differ = [Verdict::Faster, Verdict::Slower];
        let false_alarms = share(1.0, true, &differ);
        let same = [true, false].map(|has_lines| share(1.0, has_lines, &[Verdict::Same]));
        let found = [true, false].map(|has_lines| share(1.15, has_lines, &[Verdict::Slower]));
        let all = format!("seed 2301: {false_alarms} {same:?} {found:?}");
        assert!(false_alarms <= 0.01, "{all}");
        assert!(same[0] >= 0.9 && same[1] <= 0.4, "{all}");
        assert!(found[0] >= 0.9 && found[1] <= 0.75, "{all}");
    }
}
