//! The stage `states`: launches are compared with those that met the same performance state of the machine.
//!
//! * It assumes that a state changes the hand-over of a cache line, which is timed beside each launch, and that a build
//!   does not. A build that is slower cannot be mistaken for another state.
//! * Source: van Elteren (Bulletin of the International Statistical Institute 37, 1960) sums the rank statistics of
//!   strata; docs/decisions/0142-a-verdict-has-three-stages.md.
//! * It costs the launches whose state the other side never met, or changed meanwhile. Runs of different machines are
//!   compared by the commonest state of each. Without lines beside each launch of a number it changes nothing.

use record::Run;
use serde::Serialize;

use super::Stage;
use crate::compare::digits::{list, number};
use crate::compare::evidence::{Case, Evidence, Launch};
use crate::line_states::{LineStates, known_lines};

pub(super) const STAGE: Stage = Stage {
    name: "states",
    summary: "compares launches that met the same performance state of the machine",
    apply,
    explain,
};

/// A performance state of the machine, and how often two runs met it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MetState {
    /// Median hand-over of a cache line between processors, in microseconds.
    pub line_us: f64,
    /// Number of measurements on each side that were made in it, each launch counted.
    pub measurements: [usize; 2],
}

/// Returns the states with the number of measurements of each run; nothing if there is one state.
pub(in crate::compare) fn met(states: &LineStates, runs: [&Run; 2]) -> Vec<MetState> {
    if !states.are_several() {
        return Vec::new();
    }
    let counts = runs.map(|run| states.count(&known_lines(run)).0);
    let state = |(index, &line_us): (usize, &f64)| MetState {
        line_us,
        measurements: [counts[0][index], counts[1][index]],
    };
    states.medians_us().iter().enumerate().map(state).collect()
}

fn apply(mut evidence: Evidence) -> Evidence {
    let Evidence { ref states, of_machines, settings, .. } = evidence;
    if !states.are_several() {
        return evidence;
    }
    for case in &mut evidence.cases {
        if case.sides.iter().flatten().any(|launch| launch.lines.is_none()) {
            continue;
        }
        let group = |side: usize, launch: &Launch| {
            let state = states.state(launch.lines?)?;
            match of_machines {
                None => Some(state),
                Some(chosen) => (chosen[side] == state).then_some(0),
            }
        };
        let groups =
            [0, 1].map(|side: usize| case.sides[side].iter().map(|one| group(side, one)).collect());
        divide(case, groups, settings.paired);
    }
    evidence
}

/// Divides the launches into their groups, without those of a group that only one side met.
fn divide(case: &mut Case, groups: [Vec<Option<usize>>; 2], paired: bool) {
    let is_paired = case.is_paired(paired);
    let is_kept = |side: usize, index: usize| {
        let own = groups[side][index];
        let other = &groups[1 - side];
        own.is_some() && if is_paired { other[index] == own } else { other.contains(&own) }
    };
    let kept = [0, 1].map(|side: usize| -> Vec<Launch> {
        let launches = case.sides[side].iter().enumerate();
        launches
            .filter(|(index, _)| is_kept(side, *index))
            .map(|(index, one)| Launch { group: groups[side][index].unwrap_or(0), ..one.clone() })
            .collect()
    });
    case.have_met = kept.iter().all(|side| !side.is_empty());
    if case.have_met {
        case.sides = kept;
    }
}

fn explain([before, _]: [&Evidence; 2], [case, after]: [&Case; 2]) -> Vec<String> {
    let medians = before.states.medians_us().iter().copied().map(number);
    let mut lines = vec![format!("states: a cache line took {} us", list(medians))];
    for (side, launches) in ["A", "B"].into_iter().zip(&case.sides) {
        let state = |launch: &Launch| match launch.lines.and_then(|us| before.states.state(us)) {
            Some(state) => state.to_string(),
            None => "-".into(),
        };
        lines.push(format!(
            "states: of each launch of {side}: {}",
            list(launches.iter().map(state))
        ));
    }
    let [a, b] = after.compared();
    lines.push(format!("states: compared with launches of the same state: {a} of A, {b} of B"));
    lines
}

#[cfg(test)]
mod tests {
    use record::{Measurement, Run};

    use crate::compare::{Settings, Verdict, compare};
    use crate::launches::pooled;
    use crate::records::{measurement, run, with_line};

    /// Hand-over of a line in each state of a machine, and the factor by which a message is slower in it.
    const STATES: [(f64, f64); 3] = [(0.03, 0.6), (0.05, 1.0), (0.16, 3.2)];
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
}
