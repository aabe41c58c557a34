//! The speed of the ranks' processors during launches, as simple operations show it.
//!
//! The host of a virtual machine lends the second threads of cores to other guests, for some milliseconds at a time. A
//! loop of operations that do not wait for each other then takes longer, and so do messages and computing. The loop is
//! timed now and then during each measurement. A clock rate that changes shows in the same way.

mod extremes;

use record::{Measurement, Run};

pub use extremes::Extremes;
pub(crate) use extremes::Number;

/// Numbers that describe a slowdown.
pub(crate) const COVARIATES: usize = 2;

/// By how much the operations of a launch were slower than on free processors: the mean of all logarithms, and the mean
/// of those of the slowest rank at each time. What all ranks wait for takes as long as at the slowest of them.
pub(crate) type Slowdown = [f64; COVARIATES];

/// Share of the operations that take the time of a free processor or less.
const FREE_SHARE: f64 = 0.01;

/// Greatest slowdown of a single operation, as a logarithm. A neighbour that computes more slows operations more, but
/// messages hardly more; and a pause is no slowdown.
const SLOWDOWN_MAX: f64 = 0.25;

/// The speed of the processors of one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speed {
    /// Time of an operation on a processor that no other guest uses, in nanoseconds.
    free_ns: f64,
}

impl Speed {
    /// Returns the speed of the machine that made these runs; `None` if operations were not timed.
    pub(crate) fn of(runs: &[&Run]) -> Option<Speed> {
        Self::in_launches(runs.iter().flat_map(|run| &run.measurements))
    }

    fn in_launches<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Option<Speed> {
        let mut times: Vec<f64> =
            measurements.flat_map(|m| m.launch_operations_ns.iter().flatten().copied()).collect();
        times.sort_by(f64::total_cmp);
        let free_ns = *times.get((FREE_SHARE * times.len() as f64) as usize)?;
        (free_ns > 0.0).then_some(Speed { free_ns })
    }

    /// Returns the slowdown at each time of a launch: the mean of all ranks, and that of the slowest.
    fn moments(self, times_ns: &[f64], ranks: usize) -> impl Iterator<Item = Slowdown> {
        let each = move |ns: &f64| (ns / self.free_ns).ln().clamp(0.0, SLOWDOWN_MAX);
        let times = times_ns.len() / ranks;
        (0..times).map(move |time| {
            let of_ranks = || times_ns[time..].iter().step_by(times).take(ranks).map(each);
            [of_ranks().sum::<f64>() / ranks as f64, of_ranks().fold(0.0, f64::max)]
        })
    }

    fn slowdown(self, times_ns: &[f64], ranks: usize) -> Slowdown {
        let (mut sum, mut times) = ([0.0; COVARIATES], 0.0);
        for moment in self.moments(times_ns, ranks) {
            sum = std::array::from_fn(|index| sum[index] + moment[index]);
            times += 1.0;
        }
        sum.map(|sum| sum / times)
    }

    /// Returns the slowdown of each launch of a measurement; empty if it is not known of each.
    pub(crate) fn slowdowns(self, measurement: &Measurement) -> Vec<Slowdown> {
        self.of_launches(&measurement.launch_operations_ns, measurement.ranks)
    }

    fn of_launches(self, launches_ns: &[Vec<f64>], ranks: usize) -> Vec<Slowdown> {
        if launches_ns.iter().any(|times| !are_of(times, ranks)) {
            return Vec::new();
        }
        launches_ns.iter().map(|times| self.slowdown(times, ranks)).collect()
    }

    /// Returns by which share the operations of a run took longer than on free processors, on average over its
    /// launches; `None` if they were not timed.
    pub(crate) fn slowdown_of(self, run: &Run) -> Option<f64> {
        let all: Vec<f64> =
            run.measurements.iter().flat_map(|m| self.slowdowns(m)).map(|[all, _]| all).collect();
        (!all.is_empty()).then(|| (all.iter().sum::<f64>() / all.len() as f64).exp_m1())
    }
}

/// Returns whether there are times of each rank.
fn are_of(times_ns: &[f64], ranks: usize) -> bool {
    ranks > 0 && times_ns.len() >= ranks
}

/// Returns by which share the simple operations of a run took longer than at its fastest moments, on average over its
/// launches. `None` if they were not timed.
pub fn slowdown(run: &Run) -> Option<f64> {
    Speed::of(&[run])?.slowdown_of(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{measurement, run};

    #[test]
    fn the_slowdown_of_a_launch_by_hand() {
        let of = |launches: &[&[f64]]| {
            let launch_operations_ns = launches.iter().map(|times| times.to_vec()).collect();
            run(vec![Measurement { launch_operations_ns, ..measurement("x", 8, &[1.0]) }])
        };
        // Two ranks, one or two times of each.
        let runs = [of(&[&[0.1, 0.11, 0.1, 0.1], &[0.1, 5.0]]), of(&[&[0.2, 0.2], &[0.1, 0.1]])];
        let speed = Speed::of(&[&runs[0], &runs[1]]).unwrap();
        assert_eq!(speed.free_ns, 0.1);
        // One of four times is 1.1 times as long, and of the slowest rank one of two. A pause counts as 0.25, and so
        // does twice the time.
        let slow = 1.1f64.ln();
        let by_hand = [[slow / 4.0, slow / 2.0], [0.125, 0.25]];
        let found = speed.slowdowns(&runs[0].measurements[0]);
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        assert!(found.as_flattened().iter().zip(by_hand.as_flattened()).all(is_near), "{found:?}");
        assert_eq!(speed.slowdowns(&runs[1].measurements[0]), [[0.25; 2], [0.0; 2]]);
        // The mean of 0.25 and 0 is 0.125.
        assert_eq!(speed.slowdown_of(&runs[1]), Some(0.125f64.exp_m1()));
        assert_eq!(Speed::of(&[&of(&[])]), None);
        assert!(speed.slowdowns(&of(&[&[0.1]]).measurements[0]).is_empty());
    }
}
