//! The performance state of the machine that a twin describes, and the turns of a run from which it is made.
//!
//! A turn is a measurement of one launch, or one of several turns of it (`--turns`). The cache line that was timed beside
//! a turn decides in which state the turn was made ([`LineStates`]); the benchmark's own times do not, because then the
//! twin would select the times that it is compared with.

use analysis::line_states::LineStates;
use analysis::statistics::Sample;
use record::{Measurement, Run};

/// The state that a twin describes: that of most turns of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwinState {
    lines: LineStates,
    /// The state, as an index of `lines`.
    used: usize,
    /// Number of turns in each state.
    pub count: TurnCount,
    /// Median of the line in the state that the twin describes; `None` if no line was timed.
    pub line_us: Option<f64>,
    /// Medians of the line in the other states, in ascending order.
    pub other_lines_us: Vec<f64>,
}

/// Number of used and discarded turns, with the reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnCount {
    /// All turns of the run.
    pub all: u64,
    /// Discarded: the line was of another state, before and after.
    pub other: u64,
    /// Discarded: the state changed meanwhile.
    pub changed: u64,
}

impl TwinState {
    /// Returns the state that a twin of `run` describes; the default if the run was not measured in several turns. Then
    /// setting some aside would leave measurements without any.
    pub fn of(run: &Run) -> TwinState {
        if run.measurements.iter().all(|m| m.turns.len() < 2) {
            return TwinState::default();
        }
        let turns = || {
            let times = run.measurements.iter().filter(|m| m.metric == "time");
            times.flat_map(|m| m.turns.iter())
        };
        let timed: Vec<_> = turns().filter_map(|turn| turn.line_us).collect();
        let lines = LineStates::of(&timed);
        let (used, (in_state, changed)) = (lines.commonest(&timed), lines.count(&timed));
        let other = in_state.iter().sum::<usize>() - in_state[used];
        let mut other_lines_us = lines.medians_us().to_vec();
        let line_us = (!other_lines_us.is_empty()).then(|| other_lines_us.remove(used));
        let all = turns().count() as u64;
        let count = TurnCount { all, other: other as u64, changed: changed as u64 };
        TwinState { lines, used, count, line_us, other_lines_us }
    }

    /// Returns whether a turn with these lines is used. A turn without lines is used.
    fn uses(&self, line_us: Option<[f64; 2]>) -> bool {
        line_us.is_none_or(|lines| self.lines.state(lines) == Some(self.used))
    }

    /// Returns the time of a measurement in microseconds: the median of the medians of its used turns, or the median of
    /// all samples if there were no turns. Returns `None` if every turn is discarded. The clock's own share is
    /// subtracted, because reading a simulated clock takes no time.
    pub fn time_us(&self, measurement: &Measurement) -> Option<f64> {
        let without_clock = |us: f64, share: f64| us * (1.0 - share.clamp(0.0, 1.0));
        if measurement.turns.is_empty() {
            let share = measurement.timing.clock_share;
            return Some(without_clock(measurement.summary.median, share));
        }
        let mut rest = &measurement.samples[..];
        let mut medians: Vec<f64> = Vec::new();
        for turn in &measurement.turns {
            let own = (turn.samples as usize).min(rest.len());
            let (samples, later) = rest.split_at(own);
            rest = later;
            if let Some(us) = median(samples).filter(|_| self.uses(turn.line_us)) {
                medians.push(without_clock(us, turn.clock_share));
            }
        }
        median(&medians)
    }
}

/// Returns the median; `None` of no values.
fn median(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

impl std::fmt::Display for TwinState {
    /// Writes a sentence on the turns that were used and those that were discarded.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TurnCount { all, other, changed } = self.count;
        if all == 0 {
            return f.write_str(
                "the run was not measured in turns (--turns 5), so nobody knows whether the machine changed meanwhile",
            );
        }
        let Some(line_us) = self.line_us else {
            return write!(
                f,
                "{all} turns, all used: nobody timed a cache line beside them, so nobody knows whether the machine changed meanwhile"
            );
        };
        let nanoseconds = |us: f64| format!("{:.0}", 1e3 * us);
        let line = nanoseconds(line_us);
        if self.other_lines_us.is_empty() {
            return write!(
                f,
                "{all} turns, all used: a cache line took {line} ns beside all of them"
            );
        }
        let others: Vec<String> = self.other_lines_us.iter().copied().map(nanoseconds).collect();
        write!(
            f,
            "{all} turns, of which {} are used, while a cache line took {line} ns; set aside: {other} while it took {} ns, {changed} in which that changed",
            all - other - changed,
            others.join(" or ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Repetition;

    const NEAR: f64 = 0.04;
    const FAR: f64 = 0.2;

    /// Returns a measurement with three samples around `us` in each turn, and these lines beside it.
    fn measurement(turns: &[(f64, [f64; 2])]) -> Measurement {
        let samples: Vec<f64> =
            turns.iter().flat_map(|(us, _)| [us - 0.5, *us, us + 9.0]).collect();
        let turns: Vec<Repetition> = turns
            .iter()
            .map(|&(_, line_us)| Repetition {
                samples: 3,
                clock_share: 0.0,
                line_us: Some(line_us),
                operations_ns: Vec::new(),
            })
            .collect();
        let median = samples[0];
        let record = serde_json::json!({
            "benchmark": "ping-pong", "group": "sharc", "fabric": "local", "ranks": 2, "size_bytes": 8,
            "parameters": {}, "metric": "time", "unit": "us", "better": "lower", "median": median,
            "ci_low": median, "ci_high": median, "ci_confidence": 0.95, "mean": median, "min": median,
            "p99": median, "p999": median, "max": median, "n": samples.len(),
            "outliers": {"low_severe": 0, "low_mild": 0, "high_mild": 0, "high_severe": 0},
            "stop_reason": "precision",
            "timing": {"events_per_sample": 1, "clock_share": 0.0, "start": "none", "late_starts": 0, "spent_s": 0.1},
            "samples": samples, "warm_up_samples": [], "turns": turns,
        });
        serde_json::from_value(record).unwrap()
    }

    fn run(measurements: Vec<Measurement>) -> Run {
        Run::of("run", Vec::new(), measurements)
    }

    #[test]
    fn turns_of_the_rarer_state_are_set_aside_by_the_line_alone() {
        let mixed = measurement(&[
            (1.0, [NEAR, 0.05]),
            (7.0, [FAR, FAR]),
            (1.4, [0.03, NEAR]),
            (5.0, [NEAR, FAR]),
            // As slow as the other state, but its lines are of this state: it is used.
            (8.0, [NEAR, NEAR]),
        ]);
        let lost = measurement(&[(7.0, [FAR, 0.3])]);
        let states = TwinState::of(&run(vec![mixed.clone(), lost.clone()]));
        assert_eq!(states.count, TurnCount { all: 6, other: 2, changed: 1 });
        assert_eq!((states.line_us, &states.other_lines_us[..]), (Some(NEAR), &[FAR][..]));
        assert_eq!((states.time_us(&mixed), states.time_us(&lost)), (Some(1.4), None));
    }

    #[test]
    fn the_twin_is_of_the_state_that_most_turns_have_seen() {
        let found = measurement(&[(1.0, [NEAR, NEAR]), (7.0, [FAR, FAR]), (9.0, [FAR, FAR])]);
        let states = TwinState::of(&run(vec![found.clone()]));
        assert_eq!((states.line_us, states.time_us(&found)), (Some(FAR), Some(8.0)));
    }

    #[test]
    fn lines_that_vary_a_little_are_of_one_state() {
        let found = measurement(&[(1.0, [0.04, 0.05]), (2.0, [0.06, 0.045]), (3.0, [0.055, 0.06])]);
        let states = TwinState::of(&run(vec![found.clone()]));
        assert_eq!((states.count.other, states.count.changed), (0, 0));
        assert_eq!((states.other_lines_us.len(), states.time_us(&found)), (0, Some(2.0)));
    }

    #[test]
    fn a_run_at_one_go_is_used_as_it_is() {
        let found = Measurement { turns: Vec::new(), ..measurement(&[(1.0, [NEAR, NEAR])]) };
        let states = TwinState::of(&run(vec![found.clone()]));
        assert_eq!(states, TwinState::default());
        assert_eq!(states.time_us(&found), Some(0.5));
        // One launch times a line beside each measurement, and may meet a state with each.
        let [near, far] =
            [(1.0, [NEAR, NEAR]), (7.0, [FAR, NEAR])].map(|turn| measurement(&[turn]));
        let states = TwinState::of(&run(vec![near.clone(), near.clone(), far.clone()]));
        assert_eq!((states.time_us(&near), states.time_us(&far)), (Some(1.0), Some(7.0)));
    }
}
