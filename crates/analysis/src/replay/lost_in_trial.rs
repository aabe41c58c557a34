//! The times that a trial at a period lost, from its responses.

use super::recording::{Recording, Stretch, middle};
use crate::constants::REPLAY;

/// Times that a trial at a period lost.
#[derive(Clone, Debug, PartialEq)]
pub struct LostInTrial {
    /// Length of the trial, in microseconds.
    pub length_us: f64,
    /// Beginning of each lost time since the trial began, and its length, in microseconds.
    pub lost_us: Vec<(f64, f64)>,
}

impl LostInTrial {
    /// Determines what a trial lost at a period, from the times in microseconds from the start of each instance to its
    /// end, if one usually takes `each_us` after the one before.
    ///
    /// An instance usually ends as long after its start as most do, or `each_us` after the one before if it had to wait
    /// for that. What it takes beyond is lost, except for small deviations. If it did not wait, the pause probably began
    /// before its start, and half of it is visible on average, but it did not begin before half of the time since the
    /// last end, on average. Pauses that end before the next start do not appear, so nothing follows from a trial for much
    /// shorter periods.
    ///
    /// Returns `None` if so many instances took longer that the work must have taken longer.
    pub fn new(responses_us: &[f64], period_us: f64, each_us: f64) -> Option<LostInTrial> {
        let usual_us =
            if responses_us.is_empty() { 0.0 } else { middle(responses_us.to_vec(), 0.25) };
        let least_us = (0.5 * each_us).max(REPLAY.lost_min_us);
        let mut before_us = f64::NEG_INFINITY;
        let mut lost_us = Vec::new();
        for (instance, response_us) in responses_us.iter().enumerate() {
            let start_us = instance as f64 * period_us;
            let usual_end_us = (start_us + usual_us).max(before_us + each_us);
            let idle_us = if before_us > 0.0 { (start_us - before_us).max(0.0) } else { 0.0 };
            before_us = start_us + response_us;
            let delay_us = before_us - usual_end_us;
            if delay_us >= least_us {
                let earlier_us = delay_us.min(idle_us / 2.0);
                let begin_us = if idle_us > 0.0 { start_us } else { usual_end_us - each_us / 2.0 };
                lost_us.push((begin_us - earlier_us, delay_us + earlier_us));
            }
        }
        let length_us = (responses_us.len() as f64 * period_us).max(before_us);
        let is_few = REPLAY.lost_one_in * lost_us.len() <= responses_us.len();
        is_few.then_some(LostInTrial { length_us, lost_us })
    }
}

impl Recording {
    /// Returns the recording of a run that lost what these trials did, one after the other, and otherwise worked at the
    /// usual rate of this one.
    pub fn as_in<'a>(&self, trials: impl IntoIterator<Item = &'a LostInTrial>) -> Recording {
        let mut stretches = Vec::new();
        let each_us = self.each_us();
        for trial in trials {
            let mut done_us = 0.0;
            for &(begin_us, lost_us) in &trial.lost_us {
                // A stretch loses time in the middle of its work.
                let us = (begin_us + each_us / 2.0 - done_us).max(each_us);
                stretches.push(Stretch {
                    us: us - each_us,
                    instances: us / each_us - 1.0,
                    lost_us: 0.0,
                });
                stretches.push(Stretch { us: each_us, instances: 1.0, lost_us });
                done_us += us + lost_us;
            }
            let us = (trial.length_us - done_us).max(0.0);
            stretches.push(Stretch { us, instances: us / each_us, lost_us: 0.0 });
        }
        stretches.retain(|stretch| stretch.us > 0.0);
        Recording::of(stretches, each_us, self.latency_us())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Pausing, ends, job, responses, tried};
    use super::*;

    #[test]
    fn a_pause_by_hand() {
        // At 20 us an instance takes 10. The one that begins at 40 ends 105 after that instead of at 50, so it lost 95,
        // and half of the 10 since the one before. Each of the next ones ends 10 after the one before, which is usual. 2
        // more are no loss, and 6 are one.
        let mut responses_us = [10.0; 100];
        for (late, response_us) in responses_us[2..12].iter_mut().enumerate() {
            *response_us = 105.0 - 10.0 * late as f64;
        }
        (responses_us[50], responses_us[60]) = (12.0, 16.0);
        let lost = LostInTrial::new(&responses_us, 20.0, 10.0).unwrap();
        assert_eq!(lost.lost_us, [(35.0, 100.0), (1195.0, 11.0)]);
        assert_eq!(lost.length_us, 2000.0);
        // A run of 10 us an instance that lost the same: at 20 us 9 are missed, as in the trial.
        let recording = Recording::new(&ends([10.0; 1000]), 10.0).unwrap().as_in([&lost]);
        assert_eq!((recording.length_us(), recording.lost_share()), (2000.0, 0.0555));
        let missed = |responses: &[f64]| responses.iter().filter(|us| **us > 20.0).count();
        let replayed = recording.missed(job(20.0)).iter().filter(|missed| **missed).count();
        assert_eq!((replayed, missed(&responses_us)), (9, 9));
    }

    #[test]
    fn an_instance_of_work_that_takes_longer_loses_nothing() {
        // Each ends 9 later than usual after the one before.
        let behind: Vec<f64> = (0..100).map(|instance| 19.0 + 9.0 * f64::from(instance)).collect();
        assert_eq!(LostInTrial::new(&behind, 10.0, 10.0), None);
        let slightly: Vec<f64> = (0..100).map(|instance| 10.0 + f64::from(instance)).collect();
        assert_eq!(LostInTrial::new(&slightly, 10.0, 10.0).unwrap().lost_us, []);
    }

    #[test]
    fn trials_predict_the_misses_of_their_own_and_of_longer_periods() {
        let (mut inside, mut all) = (0, 0);
        for seed in 0..25 {
            let mut machine = Pausing::new(seed, 25_000.0, 500.0);
            let quiet = Recording::new(&ends([20.0; 1000]), 20.0).unwrap();
            let responses_us = responses(&mut machine, 40.0, 25_000, 20.0);
            let lost = LostInTrial::new(&responses_us, 40.0, 20.0).unwrap();
            let recording = quiet.as_in([&lost]);
            for period_us in [40.0, 100.0, 400.0, 1500.0] {
                let rate = recording.miss_rate(job(period_us), 0.975).unwrap();
                let mut other = Pausing::new(seed + 1000, 25_000.0, 500.0);
                let truth = tried(&mut other, period_us, (1e7 / period_us) as usize, 20.0);
                all += 1;
                inside += usize::from((rate.min..=rate.max).contains(&truth));
            }
        }
        // 95 of 100 are required; a correct bound of 100 trials is above 0.95 n - 3 sqrt(0.05 0.95 n) = 88.
        assert!(all == 100 && inside >= 88, "{inside} of {all}");
    }
}
