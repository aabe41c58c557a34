//! The performance states of a machine, as the hand-over of a cache line from one processor to another shows them.
//!
//! The host of a virtual machine moves its processors. For a second or for minutes they are then threads of one core,
//! cores of one cache, or cores far from each other, and every message takes several times as long as before. The line
//! is timed beside each measurement, so it shows the state without the number that is measured.

use record::Run;

use crate::constants::CONSTANTS;
use crate::statistics::Sample;

/// The hand-over of a line before and after a measurement, in microseconds.
pub type Lines = [f64; 2];

/// The states that some lines show, from the fastest line to the slowest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineStates {
    /// Lines between neighbouring states, in ascending order.
    borders_us: Vec<f64>,
    /// Median line of each state, in ascending order; empty without lines.
    medians_us: Vec<f64>,
}

impl LineStates {
    /// Returns the states that these lines show: one, if they are alike or there are none.
    pub fn of(lines: &[Lines]) -> LineStates {
        let mut sorted: Vec<f64> = lines.as_flattened().to_vec();
        sorted.sort_by(f64::total_cmp);
        let least = (CONSTANTS.state_share_min * sorted.len() as f64).max(1.0) as usize;
        let mut states = LineStates::default();
        states.divide(&sorted, least);
        states
    }

    /// Divides lines in ascending order into states as far as their medians are apart.
    fn divide(&mut self, sorted: &[f64], least: usize) {
        let Some(middle) = median(sorted) else { return };
        let Some(low) = division(sorted, least) else {
            self.medians_us.push(middle);
            return;
        };
        let (below, above) = sorted.split_at(low);
        self.divide(below, least);
        self.borders_us.push((below[low - 1] * above[0]).sqrt());
        self.divide(above, least);
    }

    /// Returns the median line of each state in microseconds, in ascending order; empty if none was timed.
    pub fn medians_us(&self) -> &[f64] {
        &self.medians_us
    }

    /// Returns whether there is more than one state.
    pub fn are_several(&self) -> bool {
        !self.borders_us.is_empty()
    }

    /// Returns the state of a measurement with these lines, or `None` if it changed meanwhile.
    pub fn state(&self, lines: Lines) -> Option<usize> {
        let state = |us: f64| self.borders_us.partition_point(|&border_us| border_us < us);
        let [before, after] = lines.map(state);
        (before == after).then_some(before)
    }

    /// Returns the number of these measurements in each state, and of those in which the state changed.
    pub fn count(&self, lines: &[Lines]) -> (Vec<usize>, usize) {
        let (mut in_state, mut changed) = (vec![0; self.borders_us.len() + 1], 0);
        for &one in lines {
            *self.state(one).map_or(&mut changed, |state| &mut in_state[state]) += 1;
        }
        (in_state, changed)
    }

    /// Returns the state of most of these measurements: of several, the one with the faster line.
    pub fn commonest(&self, lines: &[Lines]) -> usize {
        let (in_state, _) = self.count(lines);
        // Of equal counts the maximum is the last.
        let most = in_state.iter().enumerate().rev().max_by_key(|&(_, count)| count);
        most.map_or(0, |(state, _)| state)
    }
}

/// Returns the lines beside all measurements of a run that were timed, each launch counted.
pub fn known_lines(run: &Run) -> Vec<Lines> {
    run.measurements.iter().flat_map(|m| &m.launch_lines_us).copied().collect()
}

/// Returns the number of lines in the lower of two groups, for lines in ascending order. The logarithms within both
/// vary as little as possible. Returns `None` if the groups are too near to each other, or if one is too small.
fn division(sorted_us: &[f64], least: usize) -> Option<usize> {
    let logs: Vec<f64> = sorted_us.iter().map(|us| us.max(f64::MIN_POSITIVE).ln()).collect();
    let total: f64 = logs.iter().sum();
    let n = logs.len();
    let mut below = 0.0;
    // The sum of squares within the two groups is least where that between their means is greatest.
    let mut best: Option<(f64, usize)> = None;
    for (index, log) in logs.iter().enumerate().take(n.saturating_sub(1)) {
        below += log;
        let low = index + 1;
        let (of_low, of_high) = (low as f64, (n - low) as f64);
        let between = of_low * of_high * (below / of_low - (total - below) / of_high).powi(2);
        if low.min(n - low) >= least && best.is_none_or(|(most, _)| between > most) {
            best = Some((between, low));
        }
    }
    let (_, low) = best?;
    let (below, above) = sorted_us.split_at(low);
    (median(above)? > CONSTANTS.states_apart * median(below)?).then_some(low)
}

/// Returns the median; `None` of no values.
fn median(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: f64 = 0.03;
    const MIDDLE: f64 = 0.05;
    const FAR: f64 = 0.16;

    fn same(us: f64) -> Lines {
        [us, us]
    }

    #[test]
    fn lines_of_three_distances_are_three_states() {
        let lines = [MIDDLE, FAR, 0.051, NEAR, 0.17, 0.052, MIDDLE, 0.031].map(same);
        let states = LineStates::of(&lines);
        // The middle of 0.05, 0.05, 0.05, 0.05, 0.051, 0.051, 0.052, 0.052 is 0.0505.
        assert_eq!(states.medians_us(), [0.0305, 0.0505, 0.165]);
        assert_eq!(lines.map(|one| states.state(one)), [1, 2, 1, 0, 2, 1, 1, 0].map(Some));
        assert_eq!(states.state([NEAR, FAR]), None);
        assert_eq!(states.count(&[same(FAR), same(NEAR), [NEAR, FAR]]), (vec![1, 0, 1], 1));
        assert_eq!(states.commonest(&lines), 1);
        assert_eq!(states.commonest(&[same(FAR), same(NEAR)]), 0);
    }

    #[test]
    fn lines_that_vary_a_little_and_no_lines_are_one_state() {
        let states = LineStates::of(&[[0.04, 0.05], [0.06, 0.045], [0.055, 0.06]]);
        assert!(!states.are_several());
        // 0.04, 0.045, 0.05, 0.055, 0.06, 0.06.
        assert!((states.medians_us()[0] - 0.0525).abs() < 1e-12, "{states:?}");
        let none = LineStates::of(&[]);
        assert_eq!((none.are_several(), none.medians_us().len()), (false, 0));
        assert_eq!((none.count(&[]), none.commonest(&[])), ((vec![0], 0), 0));
    }

    #[test]
    fn one_disturbed_line_of_many_is_no_state() {
        let states = LineStates::of(&[vec![same(NEAR); 200], vec![[NEAR, 5.0]]].concat());
        assert!(!states.are_several(), "{states:?}");
    }
}
