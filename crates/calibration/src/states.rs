//! The performance states of the machine during a run in turns, and the turns from which a twin is made.
//!
//! The host of a virtual machine moves its processors. For seconds or minutes a cache line then takes several times as
//! long from one processor to the other, and so does every message. A twin describes one state. The cache line that was
//! timed beside a turn decides in which state the turn was made; the benchmark's own times do not, because then the
//! twin would select the times that it is compared with.

use analysis::statistics::Sample;
use record::{Measurement, Run};

/// States that the cache lines beside all turns of a run show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineStates {
    /// Lines that take longer belong to the slower state; `None` if there is only one state.
    border_us: Option<f64>,
    /// True if most turns were made in the slower state, so that the twin describes that one.
    slower: bool,
    /// Number of turns in each state.
    pub count: TurnCount,
    /// Median of the line in the state that the twin describes; `None` if no line was timed.
    pub line_us: Option<f64>,
    /// Median of the line in the other state, if there is one.
    pub other_line_us: Option<f64>,
}

/// Number of used and discarded turns, with the reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnCount {
    /// All turns of the run.
    pub all: u64,
    /// Discarded: the line was of the other state, before and after.
    pub other: u64,
    /// Discarded: the state changed meanwhile.
    pub changed: u64,
}

/// Least factor between the median lines of two states. Within a state a line varies by less.
const APART: f64 = 1.8;
/// Least share of the lines that make a state. Fewer are disturbances.
const SHARE_MIN: f64 = 0.01;

impl LineStates {
    /// Returns the states that `run` shows; the default if it was not made in turns.
    pub fn of(run: &Run) -> LineStates {
        let turns = || {
            let times = run.measurements.iter().filter(|m| m.metric == "time");
            times.flat_map(|m| m.turns.iter())
        };
        let lines: Vec<[f64; 2]> = turns().filter_map(|turn| turn.line_us).collect();
        let mut sorted: Vec<f64> = lines.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let mut states = LineStates {
            border_us: border(&sorted),
            count: TurnCount { all: turns().count() as u64, ..TurnCount::default() },
            ..LineStates::default()
        };
        let is_slow = |us: f64| states.border_us.is_some_and(|border_us| us > border_us);
        let slow = lines.iter().filter(|line| line.iter().all(|&us| is_slow(us))).count() as u64;
        let changed =
            lines.iter().filter(|line| is_slow(line[0]) != is_slow(line[1])).count() as u64;
        let fast = lines.len() as u64 - slow - changed;
        let (low, high): (Vec<f64>, Vec<f64>) = sorted.iter().partition(|&&us| !is_slow(us));
        let (low_us, high_us) = (median(&low), median(&high));
        states.slower = slow > fast;
        states.count.changed = changed;
        states.count.other = slow.min(fast);
        (states.line_us, states.other_line_us) =
            if states.slower { (high_us, low_us) } else { (low_us, high_us) };
        states
    }

    /// Returns whether a turn with these lines is used. A turn without lines is used.
    fn uses(&self, line_us: Option<[f64; 2]>) -> bool {
        let (Some(lines), Some(border_us)) = (line_us, self.border_us) else { return true };
        lines.iter().all(|&us| (us > border_us) == self.slower)
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

/// Returns the border that divides these lines, in ascending order, into two states. It is placed so that the
/// logarithms on each side vary as little as possible. Returns `None` if the two sides are too near to each other, or
/// one is too small.
fn border(sorted_us: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = sorted_us.iter().map(|us| us.max(f64::MIN_POSITIVE).ln()).collect();
    let total: f64 = logs.iter().sum();
    let n = logs.len() as f64;
    let mut below = 0.0;
    // The sum of squares within the two sides is least where that between their means is greatest.
    let mut best: Option<(f64, usize)> = None;
    for (index, log) in logs.iter().enumerate().take(logs.len().saturating_sub(1)) {
        below += log;
        let (low, high) = ((index + 1) as f64, n - (index + 1) as f64);
        let between = low * high * (below / low - (total - below) / high).powi(2);
        if low.min(high) >= (SHARE_MIN * n).max(1.0) && best.is_none_or(|(most, _)| between > most)
        {
            best = Some((between, index + 1));
        }
    }
    let (low, high) = sorted_us.split_at(best?.1);
    (median(high)? > APART * median(low)?).then(|| (low[low.len() - 1] * high[0]).sqrt())
}

/// Returns the median; `None` of no values.
fn median(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

impl std::fmt::Display for LineStates {
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
        let line_ns = 1e3 * line_us;
        let Some(other_us) = self.other_line_us else {
            return write!(
                f,
                "{all} turns, all used: a cache line took {line_ns:.0} ns beside all of them"
            );
        };
        write!(
            f,
            "{all} turns, of which {} are used, while a cache line took {line_ns:.0} ns; set aside: {other} while it took {:.0} ns, {changed} in which that changed",
            all - other - changed,
            1e3 * other_us
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
        let states = LineStates::of(&run(vec![mixed.clone(), lost.clone()]));
        assert_eq!(states.count, TurnCount { all: 6, other: 2, changed: 1 });
        assert_eq!((states.line_us, states.other_line_us), (Some(NEAR), Some(FAR)));
        assert_eq!((states.time_us(&mixed), states.time_us(&lost)), (Some(1.4), None));
    }

    #[test]
    fn the_twin_is_of_the_state_that_most_turns_have_seen() {
        let found = measurement(&[(1.0, [NEAR, NEAR]), (7.0, [FAR, FAR]), (9.0, [FAR, FAR])]);
        let states = LineStates::of(&run(vec![found.clone()]));
        assert_eq!((states.line_us, states.time_us(&found)), (Some(FAR), Some(8.0)));
    }

    #[test]
    fn lines_that_vary_a_little_are_of_one_state() {
        let found = measurement(&[(1.0, [0.04, 0.05]), (2.0, [0.06, 0.045]), (3.0, [0.055, 0.06])]);
        let states = LineStates::of(&run(vec![found.clone()]));
        assert_eq!((states.count.other, states.count.changed), (0, 0));
        assert_eq!((states.other_line_us, states.time_us(&found)), (None, Some(2.0)));
    }

    #[test]
    fn a_run_at_one_go_is_used_as_it_is() {
        let found = Measurement { turns: Vec::new(), ..measurement(&[(1.0, [NEAR, NEAR])]) };
        let states = LineStates::of(&run(vec![found.clone()]));
        assert_eq!(states, LineStates::default());
        assert_eq!(states.time_us(&found), Some(0.5));
    }
}
