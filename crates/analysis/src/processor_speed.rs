//! The speed of the ranks' processors during launches, as simple operations show it.
//!
//! The host of a virtual machine lends the second threads of cores to other guests, for some milliseconds at a time. A
//! loop of operations that do not wait for each other then takes longer, and so do messages and computing. The loop is
//! timed now and then during each measurement. A clock rate that changes shows in the same way.

mod slope;

use record::{Measurement, Run};

pub(crate) use slope::Slope;

use crate::constants::CONSTANTS;

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
        let free_ns = *times.get((CONSTANTS.free_share * times.len() as f64) as usize)?;
        (free_ns > 0.0).then_some(Speed { free_ns })
    }

    /// Returns the slowdown at each time of a launch, as a logarithm: the mean of the mean of all ranks and that of the
    /// slowest. What all ranks wait for takes as long as at the slowest of them.
    fn moments(self, times_ns: &[f64], ranks: usize) -> impl ExactSizeIterator<Item = f64> {
        let each = move |ns: &f64| (ns / self.free_ns).ln().clamp(0.0, CONSTANTS.slowdown_max);
        let times = times_ns.len() / ranks;
        (0..times).map(move |time| {
            let of_ranks = || times_ns[time..].iter().step_by(times).take(ranks).map(each);
            (of_ranks().sum::<f64>() / ranks as f64 + of_ranks().fold(0.0, f64::max)) / 2.0
        })
    }

    /// Returns the slowdown of each launch of a measurement; empty if it is not known of each.
    pub(crate) fn slowdowns(self, measurement: &Measurement) -> Vec<f64> {
        self.of_launches(&measurement.launch_operations_ns, measurement.ranks)
    }

    fn of_launches(self, launches_ns: &[Vec<f64>], ranks: usize) -> Vec<f64> {
        if launches_ns.iter().any(|times| !are_of(times, ranks)) {
            return Vec::new();
        }
        launches_ns.iter().map(|times| mean(self.moments(times, ranks))).collect()
    }

    /// Returns by which share the operations of a run took longer than on free processors, on average over its
    /// launches; `None` if they were not timed.
    pub(crate) fn slowdown_of(self, run: &Run) -> Option<f64> {
        let all: Vec<f64> = run.measurements.iter().flat_map(|m| self.slowdowns(m)).collect();
        (!all.is_empty()).then(|| mean(all.into_iter()).exp_m1())
    }
}

/// Returns the mean; 0 of no values.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len().max(1) as f64;
    values.sum::<f64>() / n
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
        // At one of two times one of two ranks takes 1.1 times as long: of all ranks this is half of ln 1.1, and of the
        // slowest all. A pause counts as 0.25, and so does twice the time.
        let slow = 1.1f64.ln();
        let by_hand = [0.75 * slow / 2.0, (0.125 + 0.25) / 2.0];
        let found = speed.slowdowns(&runs[0].measurements[0]);
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        assert!(found.iter().zip(&by_hand).all(is_near), "{found:?}");
        assert_eq!(speed.slowdowns(&runs[1].measurements[0]), [0.25, 0.0]);
        // The mean of 0.25 and 0 is 0.125.
        assert_eq!(speed.slowdown_of(&runs[1]), Some(0.125f64.exp_m1()));
        assert_eq!(Speed::of(&[&of(&[])]), None);
        assert!(speed.slowdowns(&of(&[&[0.1]]).measurements[0]).is_empty());
    }
}
